//! Files that are open, and how they are read and written.

use super::errno::{EAGAIN, EBADF, EINVAL, EMFILE, ENODEV, ENOTDIR, EPIPE, ESPIPE, Errno, Value};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::rc::{Rc, Weak};

/// What a number stands for.
#[derive(Clone)]
pub(super) enum Open {
    Input,
    Output,
    Error,
    File {
        file: Rc<File>,
        path: Rc<str>,
    },
    /// A file that the simulated system makes up, and where it is read next.
    Text {
        bytes: Rc<[u8]>,
        at: Rc<RefCell<u64>>,
    },
    /// A folder: its entries that have not been told yet.
    Folder {
        path: PathBuf,
        rest: Rc<RefCell<Option<VecDeque<Entry>>>>,
    },
    Pipe(PipeEnd),
}

/// An end of a pipe between threads. A pipe is never full.
#[derive(Clone)]
pub(super) struct PipeEnd {
    bytes: Rc<RefCell<VecDeque<u8>>>,
    reads: bool,
    /// This end, with its flags, as long as a number stands for it; and the other one.
    flags: Rc<Cell<u64>>,
    other: Weak<Cell<u64>>,
}

const NON_BLOCKING: u64 = 0o4000;

impl PipeEnd {
    /// What is read from, and what is written to.
    pub(super) fn pair(flags: u64) -> [Self; 2] {
        let bytes = Rc::default();
        let [reader, writer] = [flags; 2].map(|flags| Rc::new(Cell::new(flags)));
        let end = |reads, flags: &Rc<_>, other| Self {
            bytes: Rc::clone(&bytes),
            reads,
            flags: Rc::clone(flags),
            other: Rc::downgrade(other),
        };
        [end(true, &reader, &writer), end(false, &writer, &reader)]
    }

    fn is_alone(&self) -> bool {
        self.other.strong_count() == 0
    }

    fn is_blocking(&self) -> bool {
        self.flags.get() & NON_BLOCKING == 0
    }

    /// Nothing is there to be read, but may come.
    fn awaits(&self) -> bool {
        self.reads && !self.is_alone() && self.bytes.borrow().is_empty()
    }
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
    pub(super) root: Option<PathBuf>,
    pub(super) folder: PathBuf,
    output: Sink,
    error: Sink,
}

const MOST: u64 = 1_024;

impl Files {
    pub(super) fn new(root: Option<PathBuf>, folder: PathBuf, output: Sink, error: Sink) -> Self {
        let open = [(0, Open::Input), (1, Open::Output), (2, Open::Error)];
        Self {
            open: open.into(),
            root,
            folder,
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
        matches!(self.get(number), Ok(Open::Pipe(end)) if end.awaits() && end.is_blocking())
    }

    /// Whether there may be pipes that somebody waits for.
    pub(super) fn has_pipes(&self) -> bool {
        self.open.values().any(|open| matches!(open, Open::Pipe(_)))
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
        self.open.remove(&number).map(|_| 0).ok_or(EBADF)
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
        Ok(to)
    }

    pub(super) fn control(&mut self, number: u64, command: u64, value: u64) -> Value {
        match command {
            // F_DUPFD, F_DUPFD_CLOEXEC
            0 | 1_030 => self.duplicate(number, value.min(MOST)),
            // F_SETFL
            4 => {
                if let Open::Pipe(end) = self.get(number)? {
                    end.flags.set(value & NON_BLOCKING);
                }
                self.exists(number).map(|()| 0)
            }
            // F_GETFL: for reading and writing.
            3 => self.exists(number).map(|()| 2),
            // F_GETFD, F_SETFD, locks: one process has them all.
            1 | 2 | 5..=7 => self.exists(number).map(|()| 0),
            _ => Err(EINVAL),
        }
    }

    /// Bytes of a file to be mapped, and its path.
    pub(super) fn content(
        &self,
        number: u64,
        offset: u64,
        length: u64,
    ) -> Result<(Rc<[u8]>, Rc<str>), Errno> {
        let Open::File { file, path } = self.get(number)? else {
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
            (Open::Pipe(end), None) if end.awaits() => return Err(EAGAIN),
            (Open::Pipe(end), None) if end.reads => end.bytes.borrow_mut().read(to)?,
            (Open::Folder { .. }, _) => return Err(Errno(21)),
            (Open::Input | Open::Pipe(_), Some(_)) => return Err(ESPIPE),
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
            (Open::File { file, .. }, None) => (&**file).write_all(from)?,
            (Open::Pipe(end), None) if !end.reads => {
                if end.is_alone() {
                    return Err(EPIPE);
                }
                end.bytes.borrow_mut().extend(from);
            }
            (Open::Output | Open::Error | Open::Pipe(_), Some(_)) => return Err(ESPIPE),
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
            Open::Folder { rest, .. } if offset == 0 && whence == 0 => {
                *rest.borrow_mut() = None;
                Ok(0)
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

    /// The entries of a folder that have not been told yet, by name.
    pub(super) fn folder_entries(
        &self,
        number: u64,
    ) -> Result<Rc<RefCell<Option<VecDeque<Entry>>>>, Errno> {
        use std::os::unix::ffi::OsStringExt;
        use std::os::unix::fs::DirEntryExt;
        let Open::Folder { path, rest } = self.get(number)? else {
            return Err(ENOTDIR);
        };
        if rest.borrow().is_none() {
            let special = [".", ".."].map(|name| Entry {
                name: name.into(),
                inode: 1,
                kind: 4,
            });
            let mut entries = Vec::from(special);
            for entry in fs::read_dir(path)? {
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
            *rest.borrow_mut() = Some(entries.into());
        }
        Ok(Rc::clone(rest))
    }
}
