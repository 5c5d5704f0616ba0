//! The command as its user runs it: all programs verify in both languages, and bad input
//! is told of.

use std::process::{Command, Output};

fn npb(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_npb"))
        .args(arguments)
        .output()
        .expect("it was just built")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("plain text")
}

#[test]
fn both_languages_verify() {
    let output = npb(&["--rounds", "1", "--classes", "S"]);
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
    for (arguments, message) in bad {
        let output = npb(&arguments);
        let said = text(&output.stderr);
        assert!(!output.status.success());
        assert!(said.contains(message), "{arguments:?}: {said}");
    }
}
