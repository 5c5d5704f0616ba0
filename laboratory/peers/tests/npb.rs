//! The command as its user runs it: all programs verify in both languages, and bad input is
//! reported.

mod support;

use support::{folder, refuses, rows, text};

#[test]
fn both_languages_verify() {
    let (output, rows) = rows("npb", &folder("npb"), &["--rounds", "1", "--classes", "S"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for program in ["bt", "cg", "ft"] {
        for language in ["rust", "c"] {
            let row = rows
                .iter()
                .find(|row| (&row[0], &row[1], &row[2]) == (program, "S", language));
            let row = row.unwrap_or_else(|| panic!("{program} in {language}: {rows:?}"));
            assert!(row[3].parse::<f64>().expect("a time") > 0.0, "{row:?}");
        }
    }
}

#[test]
fn bad_input_is_reported() {
    let bad = [
        (["--classes", "X"], "there are S, W, A, B, C"),
        (["--programs", "ep"], "there are bt, cg, ft"),
        (["--classes", "B"], "there is no `B` in C"),
        (["--rounds", "0"], "--rounds"),
    ];
    refuses("npb", &bad);
}
