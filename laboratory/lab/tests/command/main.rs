//! Tests of the command as a user runs it. A test checks the exit status, the output and the files. No test asserts a
//! duration.

mod bad_input;
mod barrier;
mod graph;
mod instruments;
#[cfg(target_os = "linux")]
mod limits;
mod machine;
mod manual;
mod model;
mod models;
mod new_program;
mod packing;
mod peers;
#[cfg(unix)]
mod provenance;
mod robustness;
mod run;
mod simulated_study;
mod sleep;
mod stealing;
mod study;
mod sweep;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder for one test, and the command run in it.
struct Bench(TempDir);

impl Bench {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs a command. The words of `line` are its arguments.
    fn run(&self, line: &str) -> Run {
        Run {
            args: line.to_owned(),
            output: self.command(line).output().unwrap(),
        }
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_manycore"));
        let words = line.split_whitespace();
        command.args(words).current_dir(self.0.path());
        command
    }

    /// Checks that each of these lines, after `begin`, is refused with its parts.
    #[track_caller]
    fn refuses(&self, begin: &str, lines: &[(&str, &str)]) {
        for (line, parts) in lines {
            self.run(&format!("{begin} {line}")).refused(parts);
        }
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn names(&self, folder: &str) -> Vec<String> {
        names(&self.path(folder))
    }

    /// Returns the names of the latest results in a folder. Checks that each result also has a file with the machine's
    /// name.
    fn latest(&self, folder: &str, study: &str) -> Vec<String> {
        let names = self.names(folder);
        let machine = names.iter().find_map(|name| {
            let rest = name.strip_prefix(&format!("{study}."))?;
            rest.strip_suffix(".meta.json")
        });
        let machine = format!("{study}.{}.", machine.expect("a file for the machine"));
        let (kept, latest): (Vec<String>, Vec<String>) = names
            .into_iter()
            .partition(|name| name.starts_with(&machine));
        let kept = kept
            .iter()
            .map(|name| name.replace(&machine, &format!("{study}.")));
        assert_eq!(kept.collect::<Vec<_>>(), latest);
        latest
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    // The lock of an output folder.
    names.retain(|name| name != ".lock");
    names.sort();
    names
}

/// The records of a journal: its complete lines, without the fingerprint at the beginning of each line.
fn unsealed(journal: &str) -> String {
    let whole = journal.rfind('\n').map_or(0, |end| end + 1);
    let records = journal[..whole].split_inclusive('\n');
    records
        .map(|line| line.split_once(' ').unwrap().1)
        .collect()
}

/// A journal of these records, as if a command had written them.
fn sealed(records: &str) -> String {
    let (mut journal, mut last) = (String::new(), String::new());
    for record in records.lines() {
        // FNV-1a of the previous fingerprint and the record.
        let bytes = last.bytes().chain(*b" ").chain(record.bytes());
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        last = format!("{hash:016x}");
        writeln!(journal, "{last} {record}").unwrap();
    }
    journal
}

/// The outcome of a command.
struct Run {
    args: String,
    output: Output,
}

impl Run {
    fn out(&self) -> String {
        String::from_utf8(self.output.stdout.clone()).unwrap()
    }

    fn err(&self) -> String {
        String::from_utf8(self.output.stderr.clone()).unwrap()
    }

    #[track_caller]
    fn ok(self) -> Self {
        assert!(
            self.output.status.success(),
            "{}: {}",
            self.args,
            self.err()
        );
        self
    }

    /// Checks that the exit status is 2, standard output is empty, and standard error is one line with all of `parts`.
    /// Bars separate the parts.
    #[track_caller]
    fn refused(self, parts: &str) {
        let (args, err) = (&self.args, self.err());
        assert_eq!(self.output.status.code(), Some(2), "{args}: {err}");
        assert_eq!(self.out(), "", "{args}");
        assert!(err.starts_with("manycore: "), "{args}: {err}");
        assert_eq!(err.matches('\n').count(), 1, "{args}: {err}");
        assert!(err.ends_with('\n'), "{args}: {err}");
        for part in parts.split(" | ") {
            assert!(err.contains(part), "{args}: {err} lacks {part}");
        }
    }
}
