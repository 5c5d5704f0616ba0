//! FIFOs: pipes with names. The host has their names, and their bytes stay within the simulated system.
//!
//! A FIFO is there from its first `openat` to the end of its last open file. An `openat` that waits for the other side
//! counts as a reader or a writer already, so a reader and a writer that both wait meet.

use super::bytes::{Bytes, PIPE};
use super::paths::{ACCESS, READ_ONLY, WRITE_ONLY};
use super::streams::{End, NON_BLOCKING};
use super::table::{Files, Open};
use crate::linux::errno::{EINVAL, ENXIO, Errno, Value};
use rustix::fs::{CWD, Mode, OFlags, mkfifoat};
use std::cell::{Cell, RefCell};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::rc::{Rc, Weak};

/// The two sides, as indices.
const READS: usize = 0;
const WRITES: usize = 1;

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

impl Opened {
    fn new(fifo: Rc<Fifo>, sides: [bool; 2]) -> Self {
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

/// Makes a FIFO at a path of the host.
pub(super) fn make(host: &Path, mode: u32) -> Result<(), Errno> {
    let made = mkfifoat(CWD, host, Mode::from_raw_mode(mode));
    made.map_err(|error| std::io::Error::from(error).into())
}

impl Files {
    /// `openat` of a FIFO. If the other side has no open file, the number belongs to a file that has not met anybody.
    pub(super) fn open_fifo(&mut self, host: &Path, flags: u64) -> Value {
        let sides = match flags & ACCESS {
            READ_ONLY => [true, false],
            WRITE_ONLY => [false, true],
            ACCESS => return Err(EINVAL),
            _ => [true, true],
        };
        // This opens no side of the host's FIFO.
        let place = OFlags::PATH.bits() as i32;
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(place)
            .open(host)?;
        let data = file.metadata()?;
        let key = (data.dev(), data.ino());
        let mut network = self.network.borrow_mut();
        let fifos = &mut network.fifos;
        let fifo = fifos.get(&key).and_then(Weak::upgrade);
        let fifo = fifo.unwrap_or_else(|| {
            Rc::new(Fifo {
                file,
                bytes: Bytes::new(PIPE),
                open: Default::default(),
                ever: Default::default(),
            })
        });
        if sides == [false, true] && flags & NON_BLOCKING != 0 && fifo.open[READS].get() == 0 {
            return Err(ENXIO);
        }
        fifos.retain(|_, fifo| fifo.strong_count() > 0);
        fifos.insert(key, Rc::downgrade(&fifo));
        drop(network);
        let end = End::of_fifo(Opened::new(fifo, sides), flags);
        self.add(Open::Stream(end), flags)
    }

    pub(crate) fn is_fifo(&self, number: u64) -> bool {
        matches!(self.get(number), Ok(Open::Stream(end)) if end.fifo().is_some())
    }

    /// If an `openat` that returns this number has to wait for the other side, keeps its file for the thread, and takes
    /// the number back.
    pub(crate) fn keep_opening(&mut self, thread: u32, number: u64) -> bool {
        let awaits = |end: &End| end.is_blocking() && !end.has_met();
        match self.open.get(&number) {
            Some(Open::Stream(end)) if awaits(end) => {
                self.opening.insert(thread, end.clone());
                self.open.remove(&number);
                self.closing.remove(&number);
                true
            }
            _ => false,
        }
    }

    /// Gives the file of the thread's `openat` a number if the other side is there.
    pub(crate) fn end_opening(&mut self, thread: u32, flags: u64) -> Option<Value> {
        self.opening.get(&thread).filter(|end| end.has_met())?;
        let end = self.opening.remove(&thread)?;
        Some(self.add(Open::Stream(end), flags))
    }

    /// Gives up the `openat` in which the thread waits. Returns whether there was one.
    pub(crate) fn drop_opening(&mut self, thread: u32) -> bool {
        self.opening.remove(&thread).is_some()
    }

    /// Whether the thread waits in an `openat`.
    pub(crate) fn is_opening(&self, thread: u32) -> bool {
        self.opening.contains_key(&thread)
    }
}
