//! The programs as their user runs them.

use std::process::{Command, Output};

/// Runs a program to its end.
pub fn run(program: &str, arguments: &[&str]) -> Output {
    Command::new(program)
        .args(arguments)
        .output()
        .expect("it was just built")
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("plain text")
}

/// The program refuses each flag's value with status 2, and names what is wrong.
pub fn refuses(program: &str, bad: &[([&str; 2], &str)]) {
    for (arguments, named) in bad {
        let output = run(program, arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(named), "{arguments:?}: {said}");
    }
}
