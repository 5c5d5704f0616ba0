//! The command as its user runs it: every barrier that is here holds everybody back,
//! figures come out whole, and bad input is one line.

mod support;

use std::path::PathBuf;
use support::{refuses, run, text};

const BARRIERS: &str = env!("CARGO_BIN_EXE_barriers");

#[test]
fn every_barrier_is_measured_or_said_to_be_missing() {
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("barriers");
    let path = out.to_str().expect("plain text");
    let output = run(
        BARRIERS,
        &["--rounds", "1", "--threads", "1,3", "--out", path],
    );
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    // One that lets somebody go too early would be.
    assert!(!said.contains("left out"), "{said}");

    let mut reader = csv::Reader::from_path(out.join("barriers.csv")).expect("written");
    let rows: Vec<_> = reader.records().map(|row| row.expect("whole")).collect();
    for row in &rows {
        assert!(row[2].parse::<f64>().expect("a number") > 0.0);
        assert!(row[6].parse::<f64>().expect("a number") > 0.0);
        assert!(row[9].parse::<usize>().expect("a count") > 0);
    }
    for threads in ["1", "3"] {
        let measured = |peer| rows.iter().any(|row| (&row[0], &row[1]) == (threads, peer));
        for peer in ["manycore", "hand-spun-yields", "std"] {
            assert!(measured(peer), "{peer}, {threads} threads:\n{said}");
        }
        // These need packages, or a CPU a thread.
        for peer in ["gomp", "libomp", "c++20", "pthread", "hand-spun"] {
            let skipped = format!("skipped: {peer}: ");
            let named = said.lines().any(|line| line.trim().starts_with(&skipped));
            assert!(
                named || measured(peer),
                "{peer}, {threads} threads:\n{said}"
            );
        }
    }
}

#[test]
fn bad_input_is_named_and_status_2() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("barriers-file");
    std::fs::write(&file, "").expect("a place to write");
    let file = file.to_str().expect("plain text");
    let bad = [
        (["--peers", "tbb"], "`tbb`"),
        (["--rounds", "0"], "--rounds"),
        (["--threads", "2,0"], "--threads"),
        (["--out", file], file),
    ];
    refuses(BARRIERS, &bad);
}
