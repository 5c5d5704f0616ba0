//! `manycore study peers` on binaries that fail, and on bad input.

use crate::Bench;
use crate::barrier::records;

/// A program that writes "hello" and exits with 7.
fn hello() -> Vec<u8> {
    include!("../../../../simulator/riscv/examples/hello/program.rs")
}

#[test]
fn a_binary_that_fails_is_a_row_with_its_reason() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("guests")).unwrap();
    for (name, bytes) in [("serial", hello()), ("rayon", b"no program".to_vec())] {
        std::fs::write(bench.path(&format!("guests/{name}")), bytes).unwrap();
    }
    let args = "study peers --on dahu --threads 2 --set folder=guests --set programs=mid";
    let csv = bench.run(&format!("{args} --format csv")).ok().out();
    let rows = records(&csv);
    let reason = |peer: &str| -> String {
        let row = rows.iter().find(|row| &row[4] == peer);
        let row = row.unwrap_or_else(|| panic!("{csv}"));
        // No order ended well, and there is no time.
        assert_eq!((&row[6], &row[8]), ("0", ""), "{csv}");
        row[13].to_owned()
    };
    assert!(reason("serial").starts_with("status 7"), "{csv}");
    assert!(reason("rayon").contains("guests/rayon"), "{csv}");
    let text = bench.run(args).ok().out();
    assert!(text.contains("Runs without a result"), "{text}");
    assert!(text.contains("left out: manycore, "), "{text}");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("empty")).unwrap();
    let refused = |args: &str, words: &str| {
        bench.run(&format!("study peers {args}")).refused(words);
    };
    refused("", "--set folder=target/guests | ci/guests.sh");
    refused("--set folder=empty", "--set folder=empty | ci/guests.sh");
    refused("--on native", "--on | simulated machine");
    std::fs::write(bench.path("empty/rayon"), hello()).unwrap();
    let folder = "--set folder=empty";
    refused(&format!("{folder} --set peers=nobody"), "nobody | chili");
    refused(
        &format!("{folder} --set programs=unit-0"),
        "unit-0 | mergesort",
    );
    refused(&format!("{folder} --set on=nowhere"), "--set on");
    refused(
        &format!("{folder} --threads 97 --on graviton2-64"),
        "--threads | 1 to 96",
    );
    refused(&format!("{folder} --cores 2"), "--cores | --threads");
}
