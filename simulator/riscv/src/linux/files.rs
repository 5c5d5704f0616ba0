//! Files that are open, and how they are read and written.

use super::descriptors::APPENDS;
use super::errno::{EBADF, EINVAL, EMFILE, ENODEV, ENOTDIR, EOPNOTSUPP, ESPIPE, Errno, Value};
use super::groups::Group;
use super::streams::{End, Events, ready};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{DirEntryExt, FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What a number stands for.
#[derive(Clone)]
pub(super) enum Open {
    Input,
    Output,
    Error,
    File {
        file: Rc<File>,
        path: Rc<str>,
        /// How it was opened, and what `fcntl` changed since.
        flags: Rc<Cell<u64>>,
    },
    /// A file that the simulated system makes up, and where it is read next.
    Text {
        bytes: Rc<[u8]>,
        at: Rc<RefCell<u64>>,
    },
    Folder {
        path: PathBuf,
        listing: Rc<RefCell<Listing>>,
    },
    Stream(End),
    Events(Events),
    Group(Group),
    /// Random bytes, which the process makes.
    Random,
}

/// What a folder had when its entries were first asked for, and which is told next.
#[derive(Default)]
pub(super) struct Listing {
    pub(super) entries: Option<Vec<Entry>>,
    pub(super) at: usize,
}

/// A folder's entry.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) name: Vec<u8>,
    pub(super) inode: u64,
    pub(super) kind: u8,
}

/// Where the program's standard output goes.
pub(crate) type Sink = Box<dyn Write>;

/// The files of a process.
pub(super) struct Files {
    open: BTreeMap<u64, Open>,
    /// Numbers that `execve` closes.
    pub(super) closing: BTreeSet<u64>,
    pub(super) root: Option<PathBuf>,
    pub(super) folder: PathBuf,
    /// Rights that new files do not get.
    pub(super) mask: u32,
    output: Sink,
    error: Sink,
}

pub(super) const MOST: u64 = 1_024;

impl Files {
    pub(super) fn new(root: Option<PathBuf>, folder: PathBuf, output: Sink, error: Sink) -> Self {
        let open = [(0, Open::Input), (1, Open::Output), (2, Open::Error)];
        Self {
            open: open.into(),
            closing: BTreeSet::new(),
            root,
            folder,
            mask: 0o22,
            output,
            error,
        }
    }

    pub(super) fn get(&self, number: u64) -> Result<&Open, Errno> {
        self.open.get(&number).ok_or(EBADF)
    }

    pub(super) fn exists(&self, number: u64) -> Result<(), Errno> {
        self.get(number).map(|_| ())
    }

    /// Whether a reader of this number has to wait for a writer.
    pub(super) fn awaits_writer(&self, number: u64) -> bool {
        match self.get(number) {
            Ok(Open::Stream(end)) => end.awaits() && end.is_blocking(),
            Ok(Open::Events(events)) => events.awaits() && events.is_blocking(),
            _ => false,
        }
    }

    /// Whether there may be streams that somebody waits for.
    pub(super) fn has_streams(&self) -> bool {
        let is_stream = |open: &Open| matches!(open, Open::Stream(_) | Open::Events(_));
        self.open.values().any(is_stream)
    }

    /// What a file is ready for, and a number that changes when something comes. A file of the
    /// host is always ready.
    pub(super) fn ready(&self, number: u64) -> Result<(u32, u64), Errno> {
        Ok(match self.get(number)? {
            Open::Stream(end) => end.ready(),
            Open::Events(events) => events.ready(),
            Open::Group(group) => (group.ready(self), 0),
            Open::Output | Open::Error => (ready::OUT, 0),
            _ => (ready::IN | ready::OUT, 0),
        })
    }

    /// A number stands for no file any more, or for another one.
    fn forget(&mut self, number: u64) {
        self.closing.remove(&number);
        for open in self.open.values() {
            if let Open::Group(group) = open {
                group.forget(number);
            }
        }
    }

    pub(super) fn add(&mut self, open: Open) -> Value {
        self.add_from(open, 0)
    }

    fn add_from(&mut self, open: Open, least: u64) -> Value {
        let number = (least..MOST)
            .find(|number| !self.open.contains_key(number))
            .ok_or(EMFILE)?;
        self.open.insert(number, open);
        Ok(number)
    }

    pub(super) fn close(&mut self, number: u64) -> Value {
        let closed = self.open.remove(&number).map(|_| 0).ok_or(EBADF);
        self.forget(number);
        closed
    }

    pub(super) fn duplicate(&mut self, number: u64, least: u64) -> Value {
        let open = self.get(number)?.clone();
        self.add_from(open, least)
    }

    pub(super) fn duplicate_to(&mut self, number: u64, to: u64) -> Value {
        let open = self.get(number)?.clone();
        if to >= MOST || to == number {
            return Err(EINVAL);
        }
        self.open.insert(to, open);
        self.forget(to);
        Ok(to)
    }

    /// Bytes of a file to be mapped, and its path.
    pub(super) fn content(
        &self,
        number: u64,
        offset: u64,
        length: u64,
    ) -> Result<(Rc<[u8]>, Rc<str>), Errno> {
        let Open::File { file, path, .. } = self.get(number)? else {
            return Err(ENODEV);
        };
        let size = file.metadata()?.len();
        let length = length.min(size.saturating_sub(offset));
        let mut bytes = vec![0; length as usize];
        file.read_exact_at(&mut bytes, offset)?;
        Ok((bytes.into(), Rc::clone(path)))
    }

    /// Reads into `to`; the bytes read.
    pub(super) fn read(
        &mut self,
        number: u64,
        to: &mut [u8],
        offset: Option<u64>,
    ) -> Result<usize, Errno> {
        Ok(match (self.get(number)?, offset) {
            (Open::Input, None) => io::stdin().read(to)?,
            (Open::File { file, .. }, Some(offset)) => file.read_at(to, offset)?,
            (Open::File { file, .. }, None) => (&**file).read(to)?,
            (Open::Text { bytes, at }, offset) => {
                let from = offset.unwrap_or(*at.borrow()).min(bytes.len() as u64) as usize;
                let length = to.len().min(bytes.len() - from);
                to[..length].copy_from_slice(&bytes[from..from + length]);
                if offset.is_none() {
                    *at.borrow_mut() = (from + length) as u64;
                }
                length
            }
            (Open::Stream(end), None) => end.read(to, false)?,
            (Open::Events(events), None) => events.read(to)?,
            (Open::Folder { .. }, _) => return Err(Errno(21)),
            (Open::Input | Open::Stream(_) | Open::Events(_), Some(_)) => return Err(ESPIPE),
            _ => return Err(EBADF),
        })
    }

    /// Writes `from`; the bytes written.
    pub(super) fn write(
        &mut self,
        number: u64,
        from: &[u8],
        offset: Option<u64>,
    ) -> Result<usize, Errno> {
        match (self.get(number)?, offset) {
            (Open::Output, None) => {
                self.output.write_all(from)?;
                self.output.flush()?;
            }
            (Open::Error, None) => self.error.write_all(from)?,
            (Open::File { file, .. }, Some(offset)) => file.write_all_at(from, offset)?,
            (Open::File { file, flags, .. }, None) => {
                let mut file = &**file;
                if flags.get() & APPENDS != 0 {
                    file.seek(SeekFrom::End(0))?;
                }
                file.write_all(from)?;
            }
            (Open::Stream(end), None) => return end.write(from),
            (Open::Events(events), None) => return events.write(from),
            (Open::Random, _) => {}
            (Open::Output | Open::Error | Open::Stream(_) | Open::Events(_), Some(_)) => {
                return Err(ESPIPE);
            }
            _ => return Err(EBADF),
        }
        Ok(from.len())
    }

    pub(super) fn seek(&mut self, number: u64, offset: i64, whence: u64) -> Value {
        match self.get(number)? {
            Open::File { file, .. } => {
                let to = match whence {
                    0 => SeekFrom::Start(u64::try_from(offset).map_err(|_| EINVAL)?),
                    1 => SeekFrom::Current(offset),
                    2 => SeekFrom::End(offset),
                    _ => return Err(EINVAL),
                };
                Ok((&**file).seek(to)?)
            }
            Open::Text { bytes, at } => {
                let base = match whence {
                    0 => 0,
                    1 => *at.borrow(),
                    2 => bytes.len() as u64,
                    _ => return Err(EINVAL),
                };
                let to = base.checked_add_signed(offset).ok_or(EINVAL)?;
                *at.borrow_mut() = to;
                Ok(to)
            }
            Open::Folder { listing, .. } => {
                let mut listing = listing.borrow_mut();
                let to = match (whence, offset) {
                    (0, 0) => {
                        listing.entries = None;
                        0
                    }
                    (0, 1..) => offset as usize,
                    (1, 0) => listing.at,
                    _ => return Err(EINVAL),
                };
                listing.at = to;
                Ok(to as u64)
            }
            _ => Err(ESPIPE),
        }
    }

    pub(super) fn truncate(&mut self, number: u64, length: u64) -> Value {
        match self.get(number)? {
            Open::File { file, .. } => file.set_len(length).map(|()| 0).map_err(Errno::from),
            _ => Err(EINVAL),
        }
    }

    /// `fallocate`: a file is at least so long, unless its length is to stay (1).
    pub(super) fn allocate(&mut self, number: u64, mode: u64, length: u64) -> Value {
        let Open::File { file, .. } = self.get(number)? else {
            return Err(ENODEV);
        };
        match mode {
            0 if file.metadata()?.len() < length => file.set_len(length)?,
            0 | 1 => {}
            _ => return Err(EOPNOTSUPP),
        }
        Ok(0)
    }

    pub(super) fn set_mode(&mut self, number: u64, mode: u64) -> Value {
        let mode = fs::Permissions::from_mode(mode as u32 & 0o7777);
        match self.get(number)? {
            Open::File { file, .. } => file.set_permissions(mode)?,
            Open::Folder { path, .. } => fs::set_permissions(path, mode)?,
            _ => {}
        }
        Ok(0)
    }

    /// What a folder has, by name.
    pub(super) fn listing(&self, number: u64) -> Result<Rc<RefCell<Listing>>, Errno> {
        let Open::Folder { path, listing } = self.get(number)? else {
            return Err(ENOTDIR);
        };
        if listing.borrow().entries.is_none() {
            listing.borrow_mut().entries = Some(entries_of(path)?);
        }
        Ok(Rc::clone(listing))
    }
}

fn entries_of(folder: &Path) -> Result<Vec<Entry>, Errno> {
    let special = [".", ".."].map(|name| Entry {
        name: name.into(),
        inode: 1,
        kind: 4,
    });
    let mut entries = Vec::from(special);
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let kind = if kind.is_dir() {
            4
        } else if kind.is_symlink() {
            10
        } else {
            8
        };
        let inode = entry.ino();
        entries.push(Entry {
            name: entry.file_name().into_vec(),
            inode,
            kind,
        });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}
