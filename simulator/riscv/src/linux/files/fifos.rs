//! Opening a FIFO.
//!
//! A FIFO is there from its first `openat` to the end of its last open file. An `openat` that waits for the other side
//! counts as a reader or a writer already, so a reader and a writer that both wait meet.

use super::fifo::{self, Fifo, Opened, READS};
use super::open::Open;
use super::paths::{ACCESS, READ_ONLY, WRITE_ONLY};
use super::streams::{End, NON_BLOCKING};
use super::table::Files;
use crate::linux::errno::{EINVAL, ENXIO, Value};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::rc::{Rc, Weak};

impl Files {
    /// `openat` of a FIFO. If the other side has no open file, the number belongs to a file that has not met anybody.
    pub(super) fn open_fifo(&mut self, host: &Path, flags: u64) -> Value {
        let sides = match flags & ACCESS {
            READ_ONLY => [true, false],
            WRITE_ONLY => [false, true],
            ACCESS => return Err(EINVAL),
            _ => [true, true],
        };
        let file = fifo::place(host, false)?;
        let data = file.metadata()?;
        let key = (data.dev(), data.ino());
        let mut network = self.network.borrow_mut();
        let fifos = &mut network.fifos;
        let fifo = fifos.get(&key).and_then(Weak::upgrade);
        let fifo = fifo.unwrap_or_else(|| Fifo::new(file));
        if sides == [false, true] && flags & NON_BLOCKING != 0 && !fifo.is_open(READS) {
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

    /// If an `openat` that returns this number has to wait for the other side, keeps its file and its number for the
    /// thread.
    pub(crate) fn keep_opening(&mut self, thread: u32, number: u64) -> bool {
        let awaits = |end: &End| end.is_blocking() && !end.has_met();
        match self.open.get(&number) {
            Some(Open::Stream(end)) if awaits(end) => {
                self.opening.insert(thread, (number, end.clone()));
                self.open.remove(&number);
                true
            }
            _ => false,
        }
    }

    /// Whether a waiting `openat` gets this number.
    pub(super) fn is_kept(&self, number: u64) -> bool {
        self.opening.values().any(|(kept, _)| *kept == number)
    }

    /// Gives the file of the thread's `openat` its number if the other side is there.
    pub(crate) fn end_opening(&mut self, thread: u32) -> Option<u64> {
        self.opening.get(&thread).filter(|(_, end)| end.has_met())?;
        let (number, end) = self.opening.remove(&thread)?;
        self.open.insert(number, Open::Stream(end));
        Some(number)
    }

    /// Ends the thread's waiting `openat`. Returns whether the thread waited in one.
    pub(crate) fn drop_opening(&mut self, thread: u32) -> bool {
        let Some((number, _)) = self.opening.remove(&thread) else {
            return false;
        };
        self.closing.remove(&number);
        true
    }

    /// Whether the thread waits in an `openat`.
    pub(crate) fn is_opening(&self, thread: u32) -> bool {
        self.opening.contains_key(&thread)
    }
}
