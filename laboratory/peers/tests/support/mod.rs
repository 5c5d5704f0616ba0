//! The command as its user runs it.
#![allow(dead_code, reason = "no test uses all of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs `peers` to its end.
pub fn peers(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_peers"))
        .args(arguments)
        .output()
        .expect("it was just built")
}

/// Runs a contest to its end.
pub fn run(contest: &str, arguments: &[&str]) -> Output {
    peers(&[&["run", contest], arguments].concat())
}

/// Runs a contest that writes to `out`; what it says, and the rows with the header first.
pub fn rows(contest: &str, out: &Path, arguments: &[&str]) -> (Output, Vec<csv::StringRecord>) {
    let path = out.to_str().expect("plain text");
    let output = run(contest, &[arguments, &["--out", path]].concat());
    let csv = match contest {
        "loops" => "peers",
        _ => contest,
    };
    let reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_path(out.join(csv).with_extension("csv"));
    let rows = reader.map_or_else(
        |_| Vec::new(),
        |mut reader| reader.records().map(|row| row.expect("whole")).collect(),
    );
    (output, rows)
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("plain text")
}

/// A folder of its own for one test.
pub fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    // An earlier run may have left it.
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// The contest refuses each flag's value with status 2, and names what is wrong.
pub fn refuses(contest: &str, bad: &[([&str; 2], &str)]) {
    for (arguments, named) in bad {
        let output = run(contest, arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(named), "{arguments:?}: {said}");
    }
}
