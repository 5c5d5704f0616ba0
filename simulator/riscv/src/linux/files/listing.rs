//! The entries of a folder.

use super::table::Files;
use crate::linux::errno::{EINVAL, Errno, Value};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::DirEntryExt;
use std::path::Path;

/// The origins of `lseek`.
pub(in crate::linux) mod whence {
    pub(in crate::linux::files) const START: u64 = 0;
    pub(in crate::linux) const HERE: u64 = 1;
    pub(in crate::linux::files) const END: u64 = 2;
    /// `SEEK_DATA`.
    pub(in crate::linux::files) const DATA: u64 = 3;
    /// `SEEK_HOLE`.
    pub(in crate::linux::files) const LAST: u64 = 4;
}

/// The entries that a folder had when they were first requested, and the next entry to return.
#[derive(Default)]
pub(crate) struct Listing {
    entries: Option<Vec<Entry>>,
    at: usize,
    /// Whether the simulated system makes the folder up, so that it has no entries of the host.
    is_made: bool,
}

pub(crate) struct Entry {
    pub(crate) name: Vec<u8>,
    pub(crate) inode: u64,
    pub(crate) kind: u8,
}

/// The kind of an entry.
pub(crate) const IS_FOLDER: u8 = 4;
pub(crate) const IS_FILE: u8 = 8;
pub(crate) const IS_LINK: u8 = 10;

impl Listing {
    /// The listing of a made-up folder: `.`, `..` and its own entries.
    pub(super) fn made(own: Vec<Entry>) -> Self {
        let mut entries = special();
        entries.extend(own);
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Self {
            entries: Some(entries),
            at: 0,
            is_made: true,
        }
    }

    /// Takes the next entries as `getdents64` writes them, in at most `length` bytes.
    pub(super) fn take(
        &mut self,
        files: &Files,
        folder: &Path,
        length: u64,
    ) -> Result<Vec<u8>, Errno> {
        let entries = match &mut self.entries {
            Some(entries) => entries,
            none => none.insert(entries_of(files, folder)?),
        };
        let mut bytes = Vec::new();
        while let Some(entry) = entries.get(self.at) {
            let size = (19 + entry.name.len() + 1).next_multiple_of(8);
            if bytes.len() + size > length as usize {
                break;
            }
            self.at += 1;
            let start = bytes.len();
            bytes.extend(entry.inode.to_le_bytes());
            bytes.extend((self.at as u64).to_le_bytes());
            bytes.extend((size as u16).to_le_bytes());
            bytes.push(entry.kind);
            bytes.extend(&entry.name);
            bytes.resize(start + size, 0);
        }
        if bytes.is_empty() && self.at < entries.len() {
            return Err(EINVAL);
        }
        Ok(bytes)
    }

    /// `lseek`.
    pub(super) fn seek(&mut self, offset: i64, from: u64) -> Value {
        self.at = match (from, offset) {
            (whence::START, 0) => {
                if !self.is_made {
                    self.entries = None;
                }
                0
            }
            (whence::START, 1..) => offset as usize,
            (whence::HERE, 0) => self.at,
            _ => return Err(EINVAL),
        };
        Ok(self.at as u64)
    }
}

/// The entries that every folder has.
fn special() -> Vec<Entry> {
    let special = [".", ".."].map(|name| Entry {
        name: name.into(),
        inode: 1,
        kind: IS_FOLDER,
    });
    special.into()
}

/// The entries of a folder, by name.
fn entries_of(files: &Files, folder: &Path) -> Result<Vec<Entry>, Errno> {
    let mut entries = special();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        entries.push(Entry {
            inode: entry.ino(),
            name: entry.file_name().into_vec(),
            kind: match (kind.is_dir(), kind.is_symlink()) {
                (true, _) => IS_FOLDER,
                (false, true) => IS_LINK,
                (false, false) => IS_FILE,
            },
        });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    // Files also get their numbers in this order.
    let data = folder.metadata()?;
    let own = entries.iter_mut().filter(|entry| !is_special(&entry.name));
    for entry in own {
        entry.inode = files.number_in(&data, entry.inode);
    }
    Ok(entries)
}

fn is_special(name: &[u8]) -> bool {
    matches!(name, b"." | b"..")
}
