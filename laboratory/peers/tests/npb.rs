//! The command as its user runs it: all programs verify in both languages, and bad input
//! is told of.

mod support;

use support::{refuses, run, text};

const NPB: &str = env!("CARGO_BIN_EXE_npb");

#[test]
fn both_languages_verify() {
    let output = run(NPB, &["--rounds", "1", "--classes", "S"]);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for row in ["cg S", "ft S"] {
        let row = said.lines().find(|line| line.starts_with(row));
        let figures = row.expect(&said).split_whitespace().skip(2).take(4);
        for seconds in figures {
            assert!(seconds.parse::<f64>().expect("a time") > 0.0, "{said}");
        }
    }
}

#[test]
fn bad_input_is_told_of() {
    let bad = [
        (["--classes", "X"], "there are S, W, A, B, C"),
        (["--programs", "ep"], "there are bt, cg, ft"),
        (["--classes", "B"], "there is no `B` in C"),
        (["--rounds", "0"], "--rounds"),
    ];
    refuses(NPB, &bad);
}
