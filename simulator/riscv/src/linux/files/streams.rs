//! Streams between threads: pipes, FIFOs and connected sockets.

use super::bytes::{Bytes, PIECE, PIPE, SOCKET};
use super::fifo::Opened;
use crate::linux::errno::{EAGAIN, EBADF, EBUSY, ECONNRESET, EINVAL, EPERM, EPIPE, Errno, Value};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

pub(crate) const NON_BLOCKING: u64 = 0o4000;
/// `O_APPEND`.
pub(in crate::linux) const APPENDS: u64 = 0o2000;
/// The first word of the name of a socket of TCP (`AF_INET`).
pub(super) const INTERNET: u16 = 2;

/// The ready states of a file, as in `poll`.
pub(crate) mod ready {
    pub(crate) const IN: u32 = 1;
    pub(crate) const OUT: u32 = 4;
    pub(crate) const ERROR: u32 = 8;
    pub(crate) const HUNG_UP: u32 = 0x10;
    pub(crate) const PEER_ENDED: u32 = 0x2000;

    /// The ready states of a file, and two counts that only grow. The first counts the arrivals of data to read, and
    /// the second counts how often a full file got room.
    pub(crate) type State = (u32, [u64; 2]);
}

/// The largest capacity of a pipe that a program may ask for, and the largest capacity that Linux can represent.
const LARGEST: usize = 1 << 20;
const COUNTABLE: u32 = 1 << 31;

/// The settings of a stream's end, which all of its file descriptors share.
#[derive(Default)]
pub(super) struct Settings {
    pub(super) flags: Cell<u64>,
    /// How long a read and a write wait, in nanoseconds (`SO_RCVTIMEO`, `SO_SNDTIMEO`). 0 means for ever.
    pub(super) limits: [Cell<u64>; 2],
    /// Whether the close of an end that is not connected yet will break its connection (`SO_LINGER` with no time).
    pub(super) breaks: Cell<bool>,
}

impl Settings {
    pub(super) fn new(flags: u64) -> Rc<Self> {
        Rc::new(Self {
            flags: Cell::new(flags),
            ..Self::default()
        })
    }
}

/// An end of a pipe, which reads or writes, of a pair of sockets, which does both, or an open file of a FIFO.
#[derive(Clone)]
pub(crate) struct End {
    from: Option<Rc<RefCell<Bytes>>>,
    to: Option<Rc<RefCell<Bytes>>>,
    /// The settings of this end and of the other end. An end's settings are dropped when its last file descriptor is
    /// closed.
    settings: Rc<Settings>,
    other: Weak<Settings>,
    /// The names of the socket and of its peer.
    names: Rc<[Vec<u8>; 2]>,
    /// The number of the process that made the other end; `None` for a pipe.
    peer: Option<u32>,
    /// The open file of a FIFO.
    fifo: Option<Rc<Opened>>,
}

impl End {
    /// The ends of a pipe, for reading and for writing.
    pub(crate) fn pipe(flags: u64) -> [Self; 2] {
        let bytes = Bytes::new(PIPE);
        let settings = [flags; 2].map(Settings::new);
        Self::joined(
            settings,
            [None, Some(Rc::clone(&bytes))],
            [Some(bytes), None],
        )
    }

    /// Two connected sockets, both of the process with the number `process`.
    pub(crate) fn sockets(flags: u64, process: u32) -> [Self; 2] {
        let settings = [flags; 2].map(Settings::new);
        Self::ways(settings, [process; 2])
    }

    /// Both ends of a connection between named sockets of two processes. The first end has `settings`.
    pub(super) fn connected(
        settings: &Rc<Settings>,
        names: [Vec<u8>; 2],
        processes: [u32; 2],
    ) -> [Self; 2] {
        let mut ends = Self::ways([Rc::clone(settings), Rc::default()], processes);
        let back = [names[1].clone(), names[0].clone()];
        ends[0].names = Rc::new(names);
        ends[1].names = Rc::new(back);
        ends
    }

    /// An open file of a FIFO.
    pub(super) fn of_fifo(opened: Opened, flags: u64) -> Self {
        let [from, to] = opened.ways();
        Self {
            from,
            to,
            settings: Settings::new(flags & (NON_BLOCKING | APPENDS)),
            other: Weak::new(),
            names: Rc::default(),
            peer: None,
            fifo: Some(Rc::new(opened)),
        }
    }

    /// The open file of a FIFO; `None` for other ends.
    pub(super) fn fifo(&self) -> Option<&Opened> {
        self.fifo.as_deref()
    }

    /// Whether the other side of a FIFO has had an open file since this end was opened. `true` for other ends.
    pub(super) fn has_met(&self) -> bool {
        self.fifo().is_none_or(Opened::has_met)
    }

    fn ways(settings: [Rc<Settings>; 2], [one, other]: [u32; 2]) -> [Self; 2] {
        let ways = [Some(Bytes::new(SOCKET)), Some(Bytes::new(SOCKET))];
        let back = [ways[1].clone(), ways[0].clone()];
        let mut ends = Self::joined(settings, ways, back);
        (ends[0].peer, ends[1].peer) = (Some(other), Some(one));
        ends
    }

    /// A pointer that all file descriptors of this end share and that no other file has.
    pub(super) fn identity(&self) -> Rc<dyn Any> {
        Rc::clone(&self.settings) as Rc<dyn Any>
    }

    /// The number of the process that made the other end of a socket.
    pub(super) fn peer(&self) -> Option<u32> {
        self.peer
    }

    /// The socket's own name (0), or the name of its peer (1).
    pub(super) fn name(&self, of: usize) -> Vec<u8> {
        self.names[of].clone()
    }

    /// Makes two ends from their settings and from the bytes that each end reads from and writes to.
    fn joined(
        [one, other]: [Rc<Settings>; 2],
        [to, from]: [Option<Rc<RefCell<Bytes>>>; 2],
        [other_to, other_from]: [Option<Rc<RefCell<Bytes>>>; 2],
    ) -> [Self; 2] {
        let names: Rc<[Vec<u8>; 2]> = Rc::default();
        let end = |from, to, settings: &Rc<_>, other| Self {
            from,
            to,
            settings: Rc::clone(settings),
            other: Rc::downgrade(other),
            names: Rc::clone(&names),
            peer: None,
            fifo: None,
        };
        [
            end(from, to, &one, &other),
            end(other_from, other_to, &other, &one),
        ]
    }

    pub(crate) fn is_socket(&self) -> bool {
        self.from.is_some() && self.to.is_some() && self.fifo.is_none()
    }

    pub(crate) fn reads(&self) -> bool {
        self.from.is_some()
    }

    pub(crate) fn writes(&self) -> bool {
        self.to.is_some()
    }

    /// Whether the other end is closed, or no file of a FIFO's other side is open.
    fn is_alone(&self) -> bool {
        match self.fifo() {
            Some(opened) => opened.is_alone(),
            None => self.other.strong_count() == 0,
        }
    }

    /// Whether the peer is closed and did not read all bytes of this socket, or has broken the connection.
    pub(super) fn is_reset(&self) -> bool {
        let unread = self
            .to
            .as_ref()
            .is_some_and(|to| !to.borrow().waiting.is_empty());
        let from = self.from.as_ref();
        let is_broken = from.is_some_and(|from| from.borrow().breaks);
        self.is_socket() && self.is_alone() && (unread || is_broken)
    }

    pub(crate) fn is_blocking(&self) -> bool {
        self.flags().get() & NON_BLOCKING == 0
    }

    pub(super) fn flags(&self) -> &Cell<u64> {
        &self.settings.flags
    }

    pub(super) fn settings(&self) -> &Rc<Settings> {
        &self.settings
    }

    /// Whether nothing can be read now, but bytes may still arrive.
    pub(crate) fn awaits(&self) -> bool {
        self.waiting() == 0 && self.may_get_more()
    }

    /// Whether bytes may still arrive.
    pub(super) fn may_get_more(&self) -> bool {
        let from = self.from.as_ref().map(|from| from.borrow());
        from.is_some_and(|from| !from.ended) && !self.is_alone()
    }

    /// The unread bytes of a pipe, at either end.
    pub(crate) fn unread(&self) -> usize {
        let bytes = self.from.as_ref().or(self.to.as_ref());
        bytes.map_or(0, |bytes| bytes.borrow().waiting.len())
    }

    /// The pipe of an end; `None` for a socket.
    fn pipe_bytes(&self) -> Option<&Rc<RefCell<Bytes>>> {
        let bytes = self.from.as_ref().or(self.to.as_ref());
        bytes.filter(|_| !self.is_socket())
    }

    /// `F_GETPIPE_SZ`.
    pub(super) fn capacity(&self) -> Value {
        let bytes = self.pipe_bytes().ok_or(EBADF)?;
        Ok(bytes.borrow().most as u64)
    }

    /// `F_SETPIPE_SZ`: gives a pipe room for `wanted` bytes, rounded up to a number of pages that is a power of two.
    /// Returns the new capacity.
    pub(super) fn set_capacity(&self, wanted: u64) -> Value {
        let mut bytes = self.pipe_bytes().ok_or(EBADF)?.borrow_mut();
        let wanted = wanted as u32;
        if wanted > COUNTABLE {
            return Err(EINVAL);
        }
        let most = (wanted as usize).max(PIECE).next_power_of_two();
        if most > bytes.most.max(LARGEST) {
            return Err(EPERM);
        }
        if bytes.waiting.len() > most {
            return Err(EBUSY);
        }
        bytes.change(|bytes| bytes.most = most);
        Ok(most as u64)
    }

    /// Whether both are ends of the same pipe.
    pub(crate) fn is_of_pipe(&self, other: &Self) -> bool {
        let [one, other] = [self, other].map(|end| end.from.as_ref().or(end.to.as_ref()));
        one.zip(other)
            .is_some_and(|(one, other)| Rc::ptr_eq(one, other))
    }

    /// The room in the pipe that this end writes.
    pub(crate) fn room(&self) -> usize {
        let to = self.to.as_ref();
        to.map_or(0, |to| to.borrow().room())
    }

    /// Bytes that can be read.
    pub(crate) fn waiting(&self) -> usize {
        let from = self.from.as_ref();
        from.map_or(0, |from| from.borrow().waiting.len())
    }

    /// The end of the write with the unread byte at `from`, counted from the first unread byte. TCP joins all bytes.
    pub(super) fn end_of_write(&self, from: usize) -> usize {
        let Some(bytes) = self.from.as_ref().map(|from| from.borrow()) else {
            return 0;
        };
        let mut ends = bytes.ends.iter().map(|end| (end - bytes.read) as usize);
        let end = ends.find(|end| *end > from);
        end.unwrap_or(bytes.waiting.len())
    }

    /// Whether this is a Unix socket.
    fn is_unix(&self) -> bool {
        let of_tcp = INTERNET.to_le_bytes();
        self.is_socket() && !self.names[0].starts_with(&of_tcp)
    }

    /// Whether a writer may wait for this end to read.
    pub(crate) fn is_full(&self) -> bool {
        let from = self.from.as_ref();
        from.is_some_and(|from| from.borrow().is_full())
    }

    /// Reads into `to`. With `keep`, the bytes can be read again.
    pub(crate) fn read(&self, to: &mut [u8], keep: bool) -> Result<usize, Errno> {
        let from = self.from.as_ref().ok_or(EBADF)?;
        if self.awaits() && !to.is_empty() {
            return Err(EAGAIN);
        }
        let is_reset = self.is_reset();
        let mut from = from.borrow_mut();
        if from.waiting.is_empty() && !to.is_empty() && is_reset {
            // The error is reported once.
            if let Some(to) = &self.to {
                to.borrow_mut().waiting.clear();
            }
            from.breaks = false;
            return Err(ECONNRESET);
        }
        let count = to.len().min(from.waiting.len());
        for (to, byte) in to.iter_mut().zip(&from.waiting) {
            *to = *byte;
        }
        if !keep {
            from.change(|from| from.remove(count));
        }
        Ok(count)
    }

    /// Whether writes fail, since no reader is left.
    pub(crate) fn is_refused(&self) -> bool {
        let to = self.to.as_ref();
        to.is_some_and(|to| self.is_alone() || to.borrow().ended)
    }

    /// Whether this is a pipe with a reader, without room for these bytes, which are written in one piece.
    pub(super) fn lacks_room(&self, length: u64) -> bool {
        let to = self.to.as_ref().filter(|_| !self.is_socket());
        let is_piece = length <= PIECE as u64 && !self.is_refused();
        is_piece && to.is_some_and(|to| (to.borrow().room() as u64) < length)
    }

    pub(crate) fn write(&self, from: &[u8]) -> Result<usize, Errno> {
        let mut to = self.to.as_ref().ok_or(EBADF)?.borrow_mut();
        if from.is_empty() && !self.is_socket() {
            return Ok(0);
        }
        if self.is_alone() || to.ended {
            return Err(EPIPE);
        }
        let room = to.room();
        let is_piece = !self.is_socket() && from.len() <= PIECE;
        if (room == 0 || is_piece && room < from.len()) && !from.is_empty() {
            return Err(EAGAIN);
        }
        let count = from.len().min(room);
        to.waiting.extend(&from[..count]);
        if self.is_unix() && count > 0 {
            let end = to.read + to.waiting.len() as u64;
            to.ends.push_back(end);
        }
        to.writes += 1;
        Ok(count)
    }

    /// Sets whether the close of this end breaks the connection. Unread bytes stay readable, unlike under Linux.
    pub(super) fn set_breaks(&self, breaks: bool) {
        if let Some(to) = &self.to {
            to.borrow_mut().breaks = breaks;
        }
    }

    /// `shutdown`: ends reads or writes of this end, or both.
    pub(crate) fn shut(&self, reads: bool, writes: bool) {
        for (way, shut) in [(&self.from, reads), (&self.to, writes)] {
            if let (Some(way), true) = (way, shut) {
                way.borrow_mut().ended = true;
            }
        }
    }

    pub(crate) fn ready(&self) -> ready::State {
        let mut found = 0;
        let mut counts = [0; 2];
        if let Some(from) = self.from.as_ref().map(|from| from.borrow()) {
            counts[0] = from.writes;
            let over = from.ended || self.is_alone() && self.has_met();
            if !from.waiting.is_empty() || over && self.is_socket() {
                found |= ready::IN;
            }
            if over {
                found |= if self.is_socket() {
                    ready::PEER_ENDED
                } else {
                    ready::HUNG_UP
                };
            }
        }
        if self.is_reset() {
            found |= ready::ERROR;
        }
        if let Some(to) = &self.to {
            counts[1] = to.borrow().freed;
            if !to.borrow().is_full() || self.is_alone() {
                found |= ready::OUT;
            }
            if self.is_alone() {
                found |= if self.is_socket() {
                    ready::HUNG_UP
                } else {
                    ready::ERROR
                };
            }
        }
        (found, counts)
    }
}
