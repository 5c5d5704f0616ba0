//! `manycore run`: a RISC-V program's output, exit status and statistics.

use crate::Bench;

/// A program that writes "hello" and exits with 7.
fn hello() -> Vec<u8> {
    include!("../../../../simulator/riscv/examples/hello/program.rs")
}

#[test]
fn a_program_prints_exits_and_is_timed() {
    let bench = Bench::new();
    std::fs::write(bench.path("hello"), hello()).unwrap();
    let runs = [(); 2].map(|()| bench.command("run --on dahu --stats hello").output());
    let [once, again] = runs.map(Result::unwrap);
    assert_eq!(
        (once.status.code(), &*once.stdout),
        (Some(7), &b"hello\n"[..])
    );
    let told = String::from_utf8(once.stderr.clone()).unwrap();
    assert!(told.starts_with("instructions 9\n"), "{told}");
    for words in ["cycles ", " on dahu", "hash ", "cycle stack of 32 cores"] {
        assert!(told.contains(words), "{told}");
    }
    assert_eq!(once.stderr, again.stderr);
    let quiet = bench
        .command("run --functional --quiet hello")
        .output()
        .unwrap();
    assert_eq!(
        (quiet.status.code(), &*quiet.stdout),
        (Some(7), &b"hello\n"[..])
    );
    assert!(quiet.stderr.is_empty());
}

#[test]
fn a_program_is_forwarded_by_a_number_of_instructions() {
    let bench = Bench::new();
    std::fs::write(bench.path("hello"), hello()).unwrap();
    let told = |forward: &str| {
        let line = format!("run --on dahu {forward} hello");
        let output = bench.command(&line).output().unwrap();
        assert_eq!(
            (output.status.code(), &*output.stdout),
            (Some(7), &b"hello\n"[..])
        );
        String::from_utf8(output.stderr).unwrap()
    };
    let some = told("--fast-forward=4");
    assert!(some.contains("before it    6 instructions"), "{some}");
    assert!(some.contains("cycles "), "{some}");
    let all = told("--fast-forward");
    let expected = "instructions 9\nnothing was timed: the program began no region of interest\n";
    assert_eq!(all, expected);
}

#[test]
fn what_cannot_be_run_is_refused_in_one_line() {
    let bench = Bench::new();
    std::fs::write(bench.path("hello"), hello()).unwrap();
    std::fs::write(bench.path("text"), "#!/bin/sh\n").unwrap();
    bench.refuses(
        "run",
        &[
            ("", "PROGRAM"),
            ("nowhere", "nowhere: cannot be read"),
            (
                "text",
                "text: no ELF file; expected a RISC-V Linux program of 64 bits",
            ),
            (
                "--on native hello",
                "--on native: the program is for RISC-V",
            ),
            ("--root nowhere hello", "--root nowhere: no such folder"),
            (
                "--fast-forward=0 hello",
                "invalid value '0' for '--fast-forward",
            ),
            ("--env NAME hello", "--env NAME: expected NAME=VALUE"),
            (
                "--on dahu --cpus 33 hello",
                "--cpus 33: expected 1 to 32, the cores of the machine",
            ),
        ],
    );
}
