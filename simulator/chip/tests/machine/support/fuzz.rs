//! Fuzzing. Cases have numbers, which are their seeds. They run in a separate process with a limit on memory, and with
//! a watch on the time of each case.
//!
//! `MANYCORE_FUZZ=1000000` runs that many cases; `MANYCORE_FUZZ=12345..12346` repeats a case and
//! shows its input.

use fastrand::Rng;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

const CASES: &str = "MANYCORE_FUZZ";
/// The file in which the process of the cases notes the current case.
const INSIDE: &str = "MANYCORE_FUZZ_NOTE";

/// Address space of that process, in kilobytes.
const MEMORY: u64 = 3 << 20;
/// A case that takes more seconds counts as endless. The slowest cases take a hundredth of this time.
const PATIENCE: u64 = 120;

thread_local! {
    static INPUT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Notes the input of the case, to be printed if the case fails.
pub(crate) fn input(text: impl Into<String>) {
    INPUT.set(text.into());
}

/// Runs `quick` cases, or as many as `MANYCORE_FUZZ` says. `case` returns the outcome of a case. `test` is the name of
/// the calling test.
///
/// # Panics
///
/// If a case panics, runs for ever or needs too much memory.
pub(crate) fn run(test: &str, quick: u64, case: impl Fn(&mut Rng) -> &'static str) {
    let asked = std::env::var(CASES).unwrap_or_else(|_| quick.to_string());
    let cases = match asked.split_once("..") {
        Some((from, to)) => from.parse().unwrap()..to.parse().unwrap(),
        None => 0..asked.parse().unwrap(),
    };
    match std::env::var_os(INSIDE) {
        Some(note) => print!("{}", inside(&File::create(note).unwrap(), cases, case)),
        None => outside(test, cases),
    }
}

fn outside(test: &str, cases: Range<u64>) {
    let note = std::env::temp_dir().join(format!("manycore-fuzz-{}", std::process::id()));
    let output = Command::new("sh")
        .args(["-c", "ulimit -v \"$0\" && exec \"$@\""])
        .arg(MEMORY.to_string())
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(CASES, format!("{}..{}", cases.start, cases.end))
        .env(INSIDE, &note)
        .output()
        .unwrap();
    let last = std::fs::read_to_string(&note).unwrap_or_default();
    let _ = std::fs::remove_file(&note);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{}: case {last}:\n{errors}",
        output.status
    );
    let text = String::from_utf8_lossy(&output.stdout);
    let results = text.lines().filter(|line| line.starts_with(RESULT));
    println!(
        "{test}: {} cases\n{}",
        cases.end - cases.start,
        results.collect::<Vec<_>>().join("\n")
    );
}

const RESULT: &str = "  fuzz: ";

/// Prints the input of a case that panics.
struct Shown(u64);

impl Drop for Shown {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("case {}:\n{}", self.0, INPUT.take());
        }
    }
}

fn inside(note: &File, cases: Range<u64>, case: impl Fn(&mut Rng) -> &'static str) -> String {
    /// The number of the running case plus 1. 0 if no case runs.
    static RUNNING: AtomicU64 = AtomicU64::new(0);
    std::thread::spawn(|| {
        let (mut last, mut seconds) = (0, 0);
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let now = RUNNING.load(Relaxed);
            seconds = if now == last { seconds + 1 } else { 0 };
            last = now;
            if seconds > PATIENCE && now > 0 {
                eprintln!("case {} has run for {seconds} s", now - 1);
                std::process::abort();
            }
        }
    });
    let mut counts = BTreeMap::new();
    let one = cases.end - cases.start == 1;
    for number in cases {
        RUNNING.store(number + 1, Relaxed);
        write_at_start(note, &number.to_string());
        let _shown = Shown(number);
        let outcome = case(&mut Rng::with_seed(number));
        if one {
            println!("{}", INPUT.take());
        }
        *counts.entry(outcome).or_insert(0_u64) += 1;
    }
    RUNNING.store(0, Relaxed);
    let lines = counts
        .iter()
        .map(|(outcome, count)| format!("{RESULT}{count:>8} {outcome}\n"));
    lines.collect()
}

/// Numbers only grow, so the new text covers the old text.
fn write_at_start(mut file: &File, text: &str) {
    use std::io::{Seek, Write};
    file.rewind().unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// Returns a number that programs often get wrong, as text.
pub(crate) fn number(rng: &mut Rng) -> String {
    const ODD: [&str; 24] = [
        "0",
        "1",
        "-1",
        "2",
        "7",
        "64",
        "4095",
        "4096",
        "4097",
        "65536",
        "1e-308",
        "1e308",
        "nan",
        "inf",
        "-inf",
        "-0.0",
        "0.5",
        "2147483648",
        "4294967296",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "1_000",
    ];
    match rng.u8(..4) {
        0 => ODD[rng.usize(..ODD.len())].to_owned(),
        1 => rng.u64(..300).to_string(),
        2 => (1_u64 << rng.u32(..64)).to_string(),
        _ => (rng.u64(..) >> rng.u32(..64)).to_string(),
    }
}

/// Changes a text of lines, now and then with a piece of `other`.
pub(crate) fn change(rng: &mut Rng, text: &mut String, other: &str) {
    match rng.u8(..16) {
        0..6 => replace_number(rng, text),
        6..9 => change_lines(rng, text, other),
        9 => nest(rng, text),
        10 => replace_word(rng, text, other),
        _ => change_characters(rng, text),
    }
}

/// The beginning of a random character, up to `end`.
fn place(rng: &mut Rng, text: &str, end: usize) -> usize {
    let mut at = rng.usize(..=end.min(text.len()));
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn change_characters(rng: &mut Rng, text: &mut String) {
    const ODD: [&str; 28] = [
        "", "\n", "\r\n", "\0", "\"", "'", "\"\"\"", "'''", "=", ",", ".", "[", "]", "[[", "]]",
        "{", "}", "#", "\\", "\u{feff}", "é", "🦀", "-", "+", "_", " ", "0", "\t",
    ];
    let from = place(rng, text, text.len());
    let to = place(rng, text, from + 12).max(from);
    text.replace_range(from..to, ODD[rng.usize(..ODD.len())]);
}

fn change_lines(rng: &mut Rng, text: &mut String, other: &str) {
    let mut lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return;
    }
    let (a, b) = (rng.usize(..lines.len()), rng.usize(..lines.len()));
    match rng.u8(..5) {
        0 => {
            lines.remove(a);
        }
        1 => lines.insert(a, lines[b]),
        2 => lines.swap(a, b),
        3 => lines.truncate(a),
        _ => {
            let others: Vec<&str> = other.lines().collect();
            if !others.is_empty() {
                lines.insert(a, others[rng.usize(..others.len())]);
            }
        }
    }
    *text = lines.join("\n") + "\n";
}

/// The places of all tokens of characters that `belongs` takes.
fn tokens(text: &str, belongs: impl Fn(char) -> bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, character) in text.char_indices().chain([(text.len(), '\n')]) {
        match (belongs(character), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    found
}

fn replace_number(rng: &mut Rng, text: &mut String) {
    let mut found = tokens(text, |c| c.is_ascii_digit() || "._".contains(c));
    found.retain(|token| text[token.clone()].starts_with(|c: char| c.is_ascii_digit()));
    if !found.is_empty() {
        let token = found.swap_remove(rng.usize(..found.len()));
        text.replace_range(token, &number(rng));
    }
}

fn replace_word(rng: &mut Rng, text: &mut String, other: &str) {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let (mut found, others) = (tokens(text, word), tokens(other, word));
    if !found.is_empty() && !others.is_empty() {
        let token = found.swap_remove(rng.usize(..found.len()));
        let by = others[rng.usize(..others.len())].clone();
        text.replace_range(token, &other[by]);
    }
}

/// Inserts deeply nested or long text.
fn nest(rng: &mut Rng, text: &mut String) {
    let depth = 1 << rng.u32(..13);
    let deep = match rng.u8(..5) {
        0 => format!("x = {}{}\n", "[".repeat(depth), "]".repeat(depth)),
        1 => format!("x = {}1{}\n", "{a=".repeat(depth), "}".repeat(depth)),
        2 => format!("{}x = 1\n", "a.".repeat(depth)),
        3 => format!("[{}x]\n", "a.".repeat(depth)),
        _ => "9".repeat(depth),
    };
    let at = place(rng, text, text.len());
    text.insert_str(at, &deep);
}
