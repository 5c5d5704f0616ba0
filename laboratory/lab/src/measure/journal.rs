//! The journal: a file with the measurements so far, one in each line. An interrupted study continues from them.
//!
//! The file's name holds a hash of the request, so each set of settings has its own journal. The first line names the
//! build and the host that began the journal. Another build or host cannot continue it. The journal is removed when
//! the results are in their own files.
//!
//! Each line begins with a fingerprint (hash) of itself and of the line before. So a changed digit, or a missing,
//! doubled or moved line, makes a journal invalid.

use crate::failure::bad_input;
use crate::report::host::{Origin, Versions, host_name};
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The build and the host that measured. This is a journal's first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Measurer {
    build: String,
    /// `None` for simulations, whose results are the same on every host.
    host: Option<String>,
}

impl Measurer {
    /// The measurer of native runs: this build on this host.
    pub(crate) fn native() -> Self {
        Self {
            host: Some(format!(
                "{}, {}",
                host_name(),
                crate::report::processor::cpu_model()
            )),
            ..Self::simulated()
        }
    }

    /// The measurer of simulations: this build on any host.
    pub(crate) fn simulated() -> Self {
        Self {
            build: Versions::of_this_build().build.into(),
            host: None,
        }
    }
}

impl Measurer {
    /// Whether [`origin`](Self::origin) is true in this process. It is false for native measurements of another host.
    pub(crate) fn is_here(&self) -> bool {
        self.host.is_none() || self.host == Self::native().host
    }

    /// The origin that this process notes in results from measurements of this measurer.
    pub(crate) fn origin(&self) -> Origin {
        match self.host {
            Some(_) => Origin::native(),
            None => Origin::simulated(),
        }
    }
}

impl fmt::Display for Measurer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "build {}", self.build)?;
        match &self.host {
            Some(host) => write!(f, " on {host}"),
            None => Ok(()),
        }
    }
}

/// An append-only file of records.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    /// The fingerprint of the last line, or an empty text if there is no line.
    last: String,
}

impl Journal {
    /// Opens the journal of `measurer` and reads its records. With `fresh`, discards them.
    ///
    /// A killed process may leave a last line without an end. That line is cut off.
    pub(crate) fn open<R: DeserializeOwned>(
        path: PathBuf,
        measurer: &Measurer,
        fresh: bool,
    ) -> anyhow::Result<(Self, Vec<R>)> {
        let known = || {
            let text = match whole_lines(&path) {
                _ if fresh => String::new(),
                Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
                read => read.with_context(|| format!("cannot read {}", path.display()))?,
            };
            let (records, last) = parse(&path, measurer, &text)?;
            Ok((text.len(), records, last))
        };
        let (whole, records, last) =
            known().map_err(|error| with_remedy(error, "--fresh discards the file"))?;
        let open = || -> std::io::Result<File> {
            let file = OpenOptions::new().create(true).append(true).open(&path)?;
            file.set_len(whole as u64)?;
            Ok(file)
        };
        let file = open().with_context(|| format!("cannot write {}", path.display()))?;
        let mut journal = Self { path, file, last };
        if whole == 0 {
            journal.append(measurer)?;
        }
        Ok((journal, records))
    }

    /// Adds a record. When this returns, the record is on the disk.
    pub(crate) fn append<R: Serialize>(&mut self, record: &R) -> anyhow::Result<()> {
        let text = serde_json::to_string(record)?;
        let seal = seal(&self.last, &text);
        self.file
            .write_all(format!("{seal} {text}\n").as_bytes())
            .and_then(|()| self.file.sync_data())
            .with_context(|| format!("cannot write {}", self.path.display()))?;
        self.last = seal;
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the journal, once the results are in other files. Two findings may have one journal.
    pub(crate) fn remove(&self) -> anyhow::Result<()> {
        let removed = match fs::remove_file(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed,
        };
        removed.with_context(|| format!("cannot remove {}", self.path.display()))
    }
}

/// Reads the measurer that began a journal, and all records except an incomplete last record. Does not change the file.
pub(crate) fn read<R: DeserializeOwned>(path: &Path) -> anyhow::Result<(Measurer, Vec<R>)> {
    let remedy = "expected a journal that nothing else has changed";
    let text = whole_lines(path)
        .map_err(|error| bad_input(format!("cannot read {}: {error}; {remedy}", path.display())))?;
    let read = || {
        let first = unsealed(path, &text).next().transpose()?;
        let measurer = first.map(|(number, text, _)| record(path, number, text));
        let measurer = measurer.transpose()?.unwrap_or_else(Measurer::simulated);
        let (records, _) = parse(path, &measurer, &text)?;
        Ok((measurer, records))
    };
    read().map_err(|error| with_remedy(error, remedy))
}

/// Returns the contents of a file up to the end of its last complete line. A killed process may have left a part of a
/// line, or even a part of a character.
fn whole_lines(path: &Path) -> std::io::Result<String> {
    // A device file may have no end.
    if !fs::metadata(path)?.is_file() {
        return Err(std::io::Error::new(
            ErrorKind::InvalidInput,
            "this is not a file",
        ));
    }
    let mut bytes = fs::read(path)?;
    let whole = bytes.iter().rposition(|&byte| byte == b'\n');
    bytes.truncate(whole.map_or(0, |end| end + 1));
    String::from_utf8(bytes).map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error))
}

/// Turns an error into bad input with a remedy: the user must repair an unusable journal.
fn with_remedy(error: anyhow::Error, remedy: &str) -> anyhow::Error {
    bad_input(format!("{error:#}; {remedy}"))
}

/// The records below the first line, which must name `measurer`, and the fingerprint of the last line.
fn parse<R: DeserializeOwned>(
    path: &Path,
    measurer: &Measurer,
    text: &str,
) -> anyhow::Result<(Vec<R>, String)> {
    let (mut records, mut last) = (Vec::new(), String::new());
    for line in unsealed(path, text) {
        let (number, text, seal) = line?;
        last = seal;
        if number > 1 {
            records.push(record(path, number, text)?);
            continue;
        }
        let other: Measurer = record(path, number, text)?;
        if other != *measurer {
            bail!(
                "{}: begun by {other}, but this is {measurer}: their measurements must not be mixed",
                path.display()
            );
        }
    }
    Ok((records, last))
}

/// The lines of a journal up to the first damaged one: the number, JSON and fingerprint of each.
fn unsealed<'a>(
    path: &Path,
    text: &'a str,
) -> impl Iterator<Item = anyhow::Result<(usize, &'a str, String)>> {
    let mut last = String::new();
    text.lines().zip(1..).map(move |(line, number)| {
        let (seal, text) = line.split_once(' ').unwrap_or(("", line));
        let expected = self::seal(&last, text);
        if seal != expected {
            bail!(
                "{}, line {number}: damaged, or written by an older build",
                path.display()
            );
        }
        last.clone_from(&expected);
        Ok((number, text, expected))
    })
}

/// Returns the fingerprint of a line that follows a line with the fingerprint `before`.
fn seal(before: &str, text: &str) -> String {
    fingerprint(&format!("{before} {text}"))
}

fn record<T: DeserializeOwned>(path: &Path, number: usize, text: &str) -> anyhow::Result<T> {
    serde_json::from_str(text).or_else(|error| {
        bail!(
            "{}, line {number}: no record of this study ({error})",
            path.display()
        )
    })
}

/// A short name for `config`: the hash of its JSON.
pub(crate) fn hash<C: Serialize>(config: &C) -> anyhow::Result<String> {
    Ok(fingerprint(&serde_json::to_string(config)?))
}

/// A short name for a text. It is the same on every host and with every version of the compiler (64-bit FNV-1a).
pub(crate) fn fingerprint(text: &str) -> String {
    fingerprint_of(text.as_bytes())
}

/// The fingerprint of bytes.
pub(crate) fn fingerprint_of(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::BadInput;

    fn open<R: DeserializeOwned>(path: &Path) -> anyhow::Result<(Journal, Vec<R>)> {
        Journal::open(path.to_owned(), &Measurer::native(), false)
    }

    #[test]
    fn records_are_read_and_an_incomplete_line_is_not() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("j");
        let (mut journal, found) = open::<(u32, String)>(&path).unwrap();
        assert!(found.is_empty());
        journal.append(&(1, "one")).unwrap();
        journal.append(&(2, "two")).unwrap();
        journal.file.write_all(b"[3, \"thr").unwrap();
        drop(journal);

        let (mut journal, found) = open::<(u32, String)>(&path).unwrap();
        assert_eq!(found, [(1, "one".into()), (2, "two".into())]);
        journal.append(&(3, "three")).unwrap();
        let (journal, found) = open::<(u32, String)>(&path).unwrap();
        assert_eq!(found.len(), 3);
        journal.remove().unwrap();
        assert!(!path.exists());
        journal.remove().unwrap();
    }

    /// The results of a continued study are exactly those of an uninterrupted one.
    #[test]
    fn numbers_are_read_as_they_were_written() {
        let mut rng = fastrand::Rng::with_seed(1);
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("j");
        let mut any = || match rng.bool() {
            true => f64::from_bits(rng.u64(..)),
            // Times are quotients of counts.
            false => f64::from(rng.u32(..)) / f64::from(rng.u32(1..)),
        };
        let numbers: Vec<f64> = std::iter::repeat_with(&mut any)
            .filter(|number| number.is_finite())
            .take(10_000)
            .collect();
        open::<Vec<f64>>(&path).unwrap().0.append(&numbers).unwrap();
        let found = open::<Vec<f64>>(&path).unwrap().1;
        let bits = |numbers: &[f64]| numbers.iter().map(|one| one.to_bits()).collect::<Vec<_>>();
        assert!(bits(&found[0]) == bits(&numbers));
    }

    #[test]
    fn an_incomplete_first_line_is_written_again() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("j");
        fs::write(&path, "{\"build\":\"12").unwrap();
        open::<u32>(&path).unwrap().0.append(&7).unwrap();
        assert_eq!(open::<u32>(&path).unwrap().1, [7]);
    }

    /// A killed process or a full disk may cut the journal in the middle of a letter.
    #[test]
    fn a_journal_that_is_cut_anywhere_is_continued() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("j");
        let words = ["gr\u{f6}\u{df}e", "\u{1f4a5}"].map(str::to_owned);
        let mut journal = open::<String>(&path).unwrap().0;
        for word in &words {
            journal.append(word).unwrap();
        }
        let bytes = fs::read(&path).unwrap();
        for cut in 0..=bytes.len() {
            fs::write(&path, &bytes[..cut]).unwrap();
            let (_, known) = read::<String>(&path).unwrap();
            let (mut journal, found) = open::<String>(&path).unwrap();
            assert_eq!(found, words[..found.len()], "cut at {cut}");
            assert_eq!(known, found, "cut at {cut}");
            for word in &words[found.len()..] {
                journal.append(word).unwrap();
            }
            assert_eq!(fs::read(&path).unwrap(), bytes, "cut at {cut}");
        }
    }

    #[test]
    fn another_file_than_a_journal_is_bad_input() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("j");
        for bytes in [&b"a = 1\n"[..], b"\xff\n", b"{}\n", b"\0\n\n"] {
            fs::write(&path, bytes).unwrap();
            let error = read::<u32>(&path).unwrap_err();
            assert!(error.is::<BadInput>(), "{error}");
            assert!(error.to_string().contains("expected a journal"), "{error}");
        }
    }

    /// A disk, an editor or a copy may damage a journal.
    #[test]
    fn all_damage_is_noticed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("j");
        let mut journal = open::<u32>(&path).unwrap().0;
        for number in [11, 22, 33] {
            journal.append(&number).unwrap();
        }
        let whole = fs::read_to_string(&path).unwrap();
        let refused = |text: &[u8], how: &str| {
            fs::write(&path, text).unwrap();
            let errors = [
                open::<u32>(&path).err().map(|error| (error, "--fresh")),
                read::<u32>(&path)
                    .err()
                    .map(|error| (error, "expected a journal")),
            ];
            for error in errors {
                let (error, remedy) = error.unwrap_or_else(|| panic!("{how} is accepted"));
                assert!(error.is::<BadInput>(), "{how}: {error}");
                assert!(error.to_string().contains(remedy), "{how}: {error}");
            }
            assert_eq!(fs::read(&path).unwrap(), text, "{how}");
        };
        for at in 0..whole.len() - 1 {
            for bit in 0..8 {
                let mut bytes = whole.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                refused(&bytes, &format!("bit {bit} of byte {at}"));
            }
        }
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        for gone in 0..lines.len() - 1 {
            let others = [&lines[..gone], &lines[gone + 1..]].concat();
            refused(others.concat().as_bytes(), &format!("no line {gone}"));
            let twice = [&lines[..=gone], &lines[gone..]].concat();
            refused(twice.concat().as_bytes(), &format!("line {gone} twice"));
            let mut moved = lines.clone();
            moved.swap(gone, gone + 1);
            refused(moved.concat().as_bytes(), &format!("line {gone} later"));
        }
    }

    #[test]
    fn a_foreign_line_is_named() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("j");
        let mut journal = open::<u32>(&path).unwrap().0;
        journal.append(&1).unwrap();
        journal.append(&"x").unwrap();
        let error = open::<u32>(&path).unwrap_err().to_string();
        assert!(error.contains("line 3"), "{error}");
        let fresh = Journal::open::<u32>(path.clone(), &Measurer::native(), true);
        assert!(fresh.unwrap().1.is_empty());
        // A journal without the first line that names the measurer.
        fs::write(&path, "1\n").unwrap();
        let error = open::<u32>(&path).unwrap_err().to_string();
        assert!(error.contains("line 1"), "{error}");
    }

    #[test]
    fn another_builds_journal_and_another_hosts_are_refused() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("j");
        let here = Measurer::native();
        let elsewhere = Measurer {
            host: Some("elsewhere".into()),
            ..here.clone()
        };
        let before = Measurer {
            build: "before".into(),
            ..here.clone()
        };
        for other in [elsewhere, before] {
            let fresh = Journal::open::<u32>(path.clone(), &other, true);
            fresh.unwrap().0.append(&1).unwrap();
            let error = open::<u32>(&path).unwrap_err();
            assert!(error.is::<BadInput>(), "{error}");
            let text = error.to_string();
            for part in [&other.to_string(), &here.to_string(), "--fresh"] {
                assert!(text.contains(part), "{text} lacks {part}");
            }
        }
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        // "a" as JSON is three bytes: quote, a, quote.
        assert_eq!(hash(&"a").unwrap(), "d4272417d7c77eea".to_owned());
        assert_ne!(hash(&1).unwrap(), hash(&2).unwrap());
    }
}
