//! A FIFO that is open: a pipe with a name. The host has the name, and the bytes stay within the simulated system.

use super::bytes::{Bytes, PIPE};
use crate::linux::errno::Errno;
use rustix::fs::{CWD, Mode, OFlags, mkfifoat};
use std::cell::{Cell, RefCell};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::rc::{Rc, Weak};

/// The two sides, as indices.
pub(super) const READS: usize = 0;
pub(super) const WRITES: usize = 1;

/// A FIFO that is open.
pub(super) struct Fifo {
    /// The host's file. Its number belongs to no other file while it is open here.
    file: File,
    bytes: Rc<RefCell<Bytes>>,
    /// The number of open files of each side, and how many there have been.
    open: [Cell<u64>; 2],
    ever: [Cell<u64>; 2],
}

/// An open file of a FIFO.
pub(super) struct Opened {
    fifo: Rc<Fifo>,
    sides: [bool; 2],
    /// If the other side had no open file at first, how many it had had.
    alone_since: Option<u64>,
}

impl Fifo {
    pub(super) fn new(file: File) -> Rc<Self> {
        Rc::new(Self {
            file,
            bytes: Bytes::new(PIPE),
            open: Default::default(),
            ever: Default::default(),
        })
    }

    /// Whether this side has an open file.
    pub(super) fn is_open(&self, side: usize) -> bool {
        self.open[side].get() > 0
    }
}

impl Opened {
    pub(super) fn new(fifo: Rc<Fifo>, sides: [bool; 2]) -> Self {
        for side in [READS, WRITES].into_iter().filter(|&side| sides[side]) {
            for count in [&fifo.open[side], &fifo.ever[side]] {
                count.set(count.get() + 1);
            }
        }
        let other = if sides[READS] { WRITES } else { READS };
        let is_alone = fifo.open[other].get() == 0;
        Self {
            alone_since: is_alone.then(|| fifo.ever[other].get()),
            fifo,
            sides,
        }
    }

    /// The other side. `None` if the file reads and writes.
    fn other(&self) -> Option<usize> {
        match self.sides {
            [true, false] => Some(WRITES),
            [false, true] => Some(READS),
            _ => None,
        }
    }

    /// Whether the other side has no open file.
    pub(super) fn is_alone(&self) -> bool {
        let other = self.other();
        other.is_some_and(|other| self.fifo.open[other].get() == 0)
    }

    /// Whether the other side has had an open file since this file was opened.
    pub(super) fn has_met(&self) -> bool {
        match (self.other(), self.alone_since) {
            (Some(other), Some(count)) => self.fifo.ever[other].get() != count,
            _ => true,
        }
    }

    /// The host's file.
    pub(super) fn file(&self) -> &File {
        &self.fifo.file
    }

    /// The bytes that the file reads, and those that it writes.
    pub(super) fn ways(&self) -> [Option<Rc<RefCell<Bytes>>>; 2] {
        self.sides
            .map(|is_open| is_open.then(|| Rc::clone(&self.fifo.bytes)))
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        for side in [READS, WRITES].into_iter().filter(|&side| self.sides[side]) {
            let count = &self.fifo.open[side];
            count.set(count.get() - 1);
        }
    }
}

/// The open FIFOs of all processes, by the device and the number of the host's file.
pub(super) type Fifos = std::collections::BTreeMap<(u64, u64), Weak<Fifo>>;

/// Whether a path of the host names a FIFO.
pub(super) fn is_fifo(host: &Path) -> bool {
    host.metadata().is_ok_and(|data| data.file_type().is_fifo())
}

/// Opens the place of a file of the host (`O_PATH`), and no side of a FIFO. With `is_link`, opens the link itself.
pub(super) fn place(host: &Path, is_link: bool) -> std::io::Result<File> {
    let stays = match is_link {
        true => OFlags::NOFOLLOW,
        false => OFlags::empty(),
    };
    let flags = (OFlags::PATH | stays).bits() as i32;
    OpenOptions::new().read(true).custom_flags(flags).open(host)
}

/// Makes a FIFO at a path of the host.
pub(super) fn make(host: &Path, mode: u32) -> Result<(), Errno> {
    let made = mkfifoat(CWD, host, Mode::from_raw_mode(mode));
    made.map_err(|error| std::io::Error::from(error).into())
}
