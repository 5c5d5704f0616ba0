//! The command as its user runs it: every peer that is here runs every task once, figures come
//! out whole, and bad input is one line.

mod support;

use support::{folder, refuses, rows, text};

#[test]
fn every_peer_is_measured_or_said_to_be_missing() {
    let asked = ["--rounds", "1", "--threads", "2", "--lengths", "1200"];
    let (output, rows) = rows("stealing", &folder("stealing"), &asked);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(said.contains("half is total-skew on 2 threads"), "{said}");

    let tbb_is_missing = said.contains("skipped: tbb: ");
    for distribution in ["total-skew", "even", "random"] {
        for peer in ["manycore", "rayon", "tbb", "random", "ours"] {
            let found = (rows.iter()).find(|row| (&row[2], &row[3]) == (distribution, peer));
            let Some(row) = found else {
                assert!(
                    peer == "tbb" && tbb_is_missing,
                    "{peer}, {distribution}:\n{said}"
                );
                continue;
            };
            // A quarter of the ideal's time would mean that some tasks were not run.
            let ratio: f64 = row[4].parse().expect("a number");
            assert!(ratio > 0.25, "{peer}, {distribution}: {ratio}");
        }
    }
}

#[test]
fn bad_input_is_named_and_status_2() {
    let bad = [
        (["--peers", "cilk"], "`cilk`"),
        (["--rounds", "0"], "--rounds"),
        (["--threads", "2,0"], "--threads"),
        (["--lengths", "0"], "--lengths"),
        (["--tasks", "0"], "--tasks"),
    ];
    refuses("stealing", &bad);
}
