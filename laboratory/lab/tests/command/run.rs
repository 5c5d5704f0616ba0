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
fn a_file_that_cannot_be_written_is_refused_before_the_program_runs() {
    let bench = Bench::new();
    std::fs::write(bench.path("hello"), hello()).unwrap();
    for flag in [
        "--timeline no/x.json",
        "--stats=no/x.csv",
        "--orders 3 --stats=no/x.csv",
    ] {
        let output = bench
            .command(&format!("run --on dahu {flag} hello"))
            .output();
        let output = output.unwrap();
        assert_eq!(
            (output.status.code(), &*output.stdout),
            (Some(2), &b""[..]),
            "{flag}"
        );
    }
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
fn orders_of_events_are_run_side_by_side_and_the_output_is_shown_once() {
    let bench = Bench::new();
    std::fs::write(bench.path("hello"), hello()).unwrap();
    let run = |line: &str| {
        let output = bench.command(&format!("run --on dahu {line} hello"));
        let output = { output }.output().unwrap();
        assert_eq!(
            (output.status.code(), &*output.stdout),
            (Some(7), &b"hello\n"[..])
        );
        String::from_utf8(output.stderr).unwrap()
    };
    let told = run("--orders 5 --stats=five.csv");
    assert!(told.starts_with("5 orders on dahu, 32 cores"), "{told}");
    assert!(
        told.lines().next().unwrap().contains("GHz, delays of 0 to"),
        "{told}"
    );
    assert!(
        told.contains("cycles       median ") && told.contains("95% interval"),
        "{told}"
    );
    assert!(!told.contains("differ"), "{told}");
    let five = bench.read("five.csv");
    let rows: Vec<&str> = five.lines().collect();
    assert_eq!(
        (rows.len(), rows[0]),
        (
            6,
            "order,status,same_output,instructions,threads,hash,cycles"
        )
    );
    assert!(
        (1..6).all(|order| rows[order].starts_with(&format!("{order},7,true,9,1,"))),
        "{five}"
    );
    // Order 4 is the run with `perturb-seed=4`. Which other orders run does not change its result.
    run("--orders 4-5 --quiet --stats=two.csv");
    let two = bench.read("two.csv");
    assert_eq!(two.lines().skip(1).collect::<Vec<_>>(), rows[4..]);
    let one = run("--set perturb=4 --set perturb-seed=4");
    let hash = rows[4].split(',').nth(5).unwrap();
    assert!(one.contains(hash), "{one} lacks {hash}");

    run("--orders until:40 --set perturb=64 --quiet --stats=until.json");
    let until: serde_json::Value = serde_json::from_str(&bench.read("until.json")).unwrap();
    let orders = until["orders"].as_array().unwrap();
    assert!((3..=40).contains(&orders.len()), "{until}");
    assert_eq!(
        (&until["spread"][0]["of"], &orders[2]["order"]),
        (&"cycles".into(), &3.into())
    );
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
            ("--orders 1 hello", "--orders | expected N, from 2"),
            ("--orders 2 --functional hello", "--orders | --functional"),
            ("--orders 2 --stats hello", "--stats | FILE.csv"),
            (
                "--orders 2 --set perturb=0 hello",
                "--orders | perturb is 0",
            ),
            ("--orders 2 nowhere", "nowhere: cannot be read"),
            (
                "--on dahu --cpus 33 hello",
                "--cpus 33: expected 1 to 32, the cores of the machine",
            ),
        ],
    );
}
