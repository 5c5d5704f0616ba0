//! The command as its user runs it: every barrier that is here holds everybody back,
//! figures come out whole, and bad input is one line.

mod support;

use support::{folder, refuses, rows, text};

#[test]
fn every_barrier_is_measured_or_said_to_be_missing() {
    let asked = ["--rounds", "1", "--threads", "1,3"];
    let (output, rows) = rows("barriers", &folder("barriers"), &asked);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    // A barrier that lets a member go too early is left out.
    assert_eq!(text(&output.stderr), "");
    let rows = &rows[1..];
    for row in rows {
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
    let file = folder("barriers-file");
    std::fs::write(&file, "").expect("a place to write");
    let file = file.to_str().expect("plain text");
    let bad = [
        (["--peers", "tbb"], "`tbb`"),
        (["--rounds", "0"], "--rounds"),
        (["--threads", "2,0"], "--threads"),
        (["--out", file], file),
    ];
    refuses("barriers", &bad);
}
