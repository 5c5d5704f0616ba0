//! What was measured so far, one record a line, so that an interrupted study
//! goes on where it was.
//!
//! The file's name holds a hash of what was asked: other settings, another
//! journal. It is removed once the results stand in their own files.

use anyhow::{Context, bail};
use serde::{Serialize, de::DeserializeOwned};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// An append-only file of records.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Opens the journal and reads what is in it; `fresh` forgets that.
    ///
    /// A last line without an end is what a killed process leaves: it is cut
    /// off.
    pub(crate) fn open<R: DeserializeOwned>(
        path: PathBuf,
        fresh: bool,
    ) -> anyhow::Result<(Self, Vec<R>)> {
        let text = match fs::read_to_string(&path) {
            _ if fresh => String::new(),
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            read => read.with_context(|| format!("cannot read {}", path.display()))?,
        };
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let records = parse(&path, &text[..whole])?;
        let open = || -> std::io::Result<File> {
            let file = OpenOptions::new().create(true).append(true).open(&path)?;
            file.set_len(whole as u64)?;
            Ok(file)
        };
        let file = open().with_context(|| format!("cannot write {}", path.display()))?;
        Ok((Self { path, file }, records))
    }

    /// Adds a record; on the disk once this returns.
    pub(crate) fn append<R: Serialize>(&mut self, record: &R) -> anyhow::Result<()> {
        let mut line = serde_json::to_string(record)?;
        line.push('\n');
        self.file
            .write_all(line.as_bytes())
            .and_then(|()| self.file.sync_data())
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The results stand elsewhere.
    pub(crate) fn remove(&self) -> anyhow::Result<()> {
        fs::remove_file(&self.path)
            .with_context(|| format!("cannot remove {}", self.path.display()))
    }
}

fn parse<R: DeserializeOwned>(path: &Path, text: &str) -> anyhow::Result<Vec<R>> {
    let mut records = Vec::new();
    for (number, line) in text.lines().enumerate() {
        match serde_json::from_str(line) {
            Ok(record) => records.push(record),
            Err(error) => bail!(
                "{}, line {}: no record of this study ({error}); --fresh discards the file",
                path.display(),
                number + 1
            ),
        }
    }
    Ok(records)
}

/// A short name for `config`: the same on every host and in every version of
/// the compiler (64-bit FNV-1a of its JSON).
pub(crate) fn hash<C: Serialize>(config: &C) -> anyhow::Result<String> {
    let json = serde_json::to_string(config)?;
    let hash = json.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Ok(format!("{hash:016x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_and_a_torn_line_does_not() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("j");
        let (mut journal, found) = Journal::open::<(u32, String)>(path.clone(), false).unwrap();
        assert!(found.is_empty());
        journal.append(&(1, "one")).unwrap();
        journal.append(&(2, "two")).unwrap();
        journal.file.write_all(b"[3, \"thr").unwrap();
        drop(journal);

        let (mut journal, found) = Journal::open::<(u32, String)>(path.clone(), false).unwrap();
        assert_eq!(found, [(1, "one".into()), (2, "two".into())]);
        journal.append(&(3, "three")).unwrap();
        let (journal, found) = Journal::open::<(u32, String)>(path.clone(), false).unwrap();
        assert_eq!(found.len(), 3);
        journal.remove().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn a_foreign_line_is_named() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("j");
        fs::write(&path, "1\nx\n").unwrap();
        let error = Journal::open::<u32>(path.clone(), false)
            .unwrap_err()
            .to_string();
        assert!(error.contains("line 2"), "{error}");
        let (_, found) = Journal::open::<u32>(path, true).unwrap();
        assert!(found.is_empty());
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        // "a" as JSON is three bytes: quote, a, quote.
        assert_eq!(hash(&"a").unwrap(), "d4272417d7c77eea".to_owned());
        assert_ne!(hash(&1).unwrap(), hash(&2).unwrap());
    }
}
