//! The command as its user runs it: programs from seeds come out right on both runtimes,
//! a seed can be run alone, figures come out whole, and bad input is named.

mod support;

use support::{folder, refuses, rows, text};

#[test]
fn programs_of_all_kinds_are_right_on_both() {
    let asked = [
        "--quick",
        "--only",
        "random",
        "--seeds",
        "10",
        "--threads",
        "2,3",
    ];
    let (output, rows) = rows("mixtures", &folder("random"), &asked);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    // Two figures a seed and number of threads.
    let rows = &rows[1..];
    assert_eq!(rows.len(), 2 * 10 * 2);
    for row in rows {
        assert!(row[5].parse::<f64>().expect("a number") > 0.0);
        assert!(row[6].parse::<f64>().expect("a number") > 0.0);
    }
    for kind in ["all seeds", "loops", "forks", "calls", "rhythm", "all"] {
        assert!(
            said.lines().any(|line| line.trim().starts_with(kind)),
            "{said}"
        );
    }
    assert!(said.contains("--seed "), "{said}");
}

#[test]
fn a_seed_alone_says_what_its_program_is() {
    let asked = ["--quick", "--seed", "3", "--threads", "2"];
    let (output, rows) = rows("mixtures", &folder("seed"), &asked);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(said.contains("seed 3: rhythm, 1 callers"), "{said}");
    assert!(
        said.contains("caller 0:") && said.contains("Loop("),
        "{said}"
    );
    let rows = &rows[1..];
    assert!(
        rows.iter()
            .all(|row| &row[1] == "seed 3: rhythm, 1 callers")
    );
    assert_eq!(rows.len(), 2);
}

#[test]
fn a_named_mixture_has_its_figures() {
    let asked = ["--quick", "--only", "spawn", "--format", "json"];
    let (output, rows) = rows("mixtures", &folder("spawn"), &asked);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let rows = &rows[1..];
    assert!(!rows.is_empty() && rows.iter().all(|row| &row[0] == "spawn"));
    let listed: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(listed.as_array().expect("a list").len(), rows.len());
}

#[test]
fn bad_input_is_named_and_status_2() {
    let bad = [
        (["--only", "chan"], "`chan`"),
        (["--seeds", "0"], "--seeds"),
        (["--threads", "0"], "--threads"),
    ];
    refuses("mixtures", &bad);
}
