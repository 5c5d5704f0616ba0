//! `manycore run`: a RISC-V program's output, exit status and statistics.

use crate::Bench;

/// A program that writes "hello" and exits with 7, as an ELF file: one segment, at 0x10000.
fn hello() -> Vec<u8> {
    const CODE: [u32; 9] = [
        0x0010_0513, // addi a0, zero, 1
        0x0000_0597, // auipc a1, 0
        0x0205_8593, // addi a1, a1, 32: behind the code
        0x0060_0613, // addi a2, zero, 6
        0x0400_0893, // addi a7, zero, 64: write
        0x0000_0073, // ecall
        0x0070_0513, // addi a0, zero, 7
        0x05E0_0893, // addi a7, zero, 94: exit_group
        0x0000_0073, // ecall
    ];
    const START: u64 = 64 + 56;
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xf3\0\x01\0\0\0".to_vec();
    let text: Vec<u8> = CODE.iter().flat_map(|word| word.to_le_bytes()).collect();
    let length = START + text.len() as u64 + 6;
    for word in [0x1_0000 + START, 64, 0] {
        file.extend(word.to_le_bytes());
    }
    file.extend(0u32.to_le_bytes());
    for half in [64u16, 56, 1, 64, 0, 0] {
        file.extend(half.to_le_bytes());
    }
    file.extend([1u32, 5].iter().flat_map(|word| word.to_le_bytes()));
    for word in [0, 0x1_0000, 0x1_0000, length, length, 4096] {
        file.extend(word.to_le_bytes());
    }
    file.extend(text);
    file.extend(b"hello\n");
    file
}

#[test]
fn a_program_prints_exits_and_is_timed() {
    let bench = Bench::new();
    std::fs::write(bench.path("hello"), hello()).unwrap();
    let runs = [(); 2].map(|()| {
        bench
            .command(&["run", "--on", "dahu", "--stats", "hello"])
            .output()
    });
    let [once, again] = runs.map(Result::unwrap);
    assert_eq!(
        (once.status.code(), &*once.stdout),
        (Some(7), &b"hello\n"[..])
    );
    let told = String::from_utf8(once.stderr.clone()).unwrap();
    assert!(told.starts_with("instructions 9\n"), "{told}");
    for words in [
        "cycles ",
        " on dahu",
        "hash ",
        "where the cycles of all cores went",
    ] {
        assert!(told.contains(words), "{told}");
    }
    assert_eq!(once.stderr, again.stderr);
    let quiet = bench
        .command(&["run", "--functional", "--quiet", "hello"])
        .output()
        .unwrap();
    assert_eq!(
        (quiet.status.code(), &*quiet.stdout),
        (Some(7), &b"hello\n"[..])
    );
    assert!(quiet.stderr.is_empty());
}

#[test]
fn what_cannot_be_run_is_refused_in_one_line() {
    let bench = Bench::new();
    std::fs::write(bench.path("hello"), hello()).unwrap();
    std::fs::write(bench.path("text"), "#!/bin/sh\n").unwrap();
    let cases: [(&[&str], &str); 7] = [
        (&["run"], "PROGRAM"),
        (&["run", "nowhere"], "nowhere: cannot be read"),
        (
            &["run", "text"],
            "text: no ELF file; expected a RISC-V Linux program of 64 bits",
        ),
        (
            &["run", "--on", "native", "hello"],
            "--on native: the program is for RISC-V",
        ),
        (
            &["run", "--root", "nowhere", "hello"],
            "--root nowhere: no such folder",
        ),
        (
            &["run", "--env", "NAME", "hello"],
            "--env NAME: expected NAME=VALUE",
        ),
        (
            &["run", "--on", "dahu", "--cpus", "33", "hello"],
            "--cpus 33: expected 1 to 32, the cores of the machine",
        ),
    ];
    for (args, words) in cases {
        let output = bench.command(args).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(words) && told.lines().count() == 1, "{told}");
    }
}
