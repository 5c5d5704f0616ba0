//! The bytes on their way through a pipe, or through one direction of a pair of sockets.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Linux's capacity in bytes of a pipe, and of each direction of a pair of sockets.
pub(super) const PIPE: usize = 1 << 16;
pub(super) const SOCKET: usize = 212_992;
/// Up to this many bytes are written to a pipe in one piece. A pipe with less room is full.
pub(super) const PIECE: usize = 4_096;

/// The bytes on their way in one direction of a stream.
pub(super) struct Bytes {
    pub(super) waiting: VecDeque<u8>,
    /// For a socket, the end of each write that is not read whole, counted from the first byte ever written.
    pub(super) ends: VecDeque<u64>,
    /// The number of bytes ever read.
    pub(super) read: u64,
    /// The largest number of bytes on their way.
    pub(super) most: usize,
    pub(super) writes: u64,
    /// How often a read has given room to a full direction.
    pub(super) freed: u64,
    /// Whether `shutdown` has ended this direction.
    pub(super) ended: bool,
    /// Whether the writer's close breaks the connection (`SO_LINGER` with no time).
    pub(super) breaks: bool,
}

impl Bytes {
    pub(super) fn new(most: usize) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self {
            waiting: VecDeque::new(),
            ends: VecDeque::new(),
            read: 0,
            most,
            writes: 0,
            freed: 0,
            ended: false,
            breaks: false,
        }))
    }

    pub(super) fn room(&self) -> usize {
        self.most.saturating_sub(self.waiting.len())
    }

    pub(super) fn is_full(&self) -> bool {
        self.room() < PIECE
    }

    /// Removes bytes that were read.
    pub(super) fn remove(&mut self, count: usize) {
        self.waiting.drain(..count);
        self.read += count as u64;
        while self.ends.front().is_some_and(|end| *end <= self.read) {
            self.ends.pop_front();
        }
    }

    /// Changes the bytes or their limit, and notes whether a full direction got room.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Self)) {
        let was_full = self.is_full();
        change(self);
        self.freed += u64::from(was_full && !self.is_full());
    }
}
