//! The messages that one port has sent and other ports may not have read.

use super::bell::Bell;
use super::record::Header;
use super::settings::{Settings, Slow};
use manycore_cores::sync::Lock;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use std::sync::Arc;

const WORDS_A_LINE: u64 = 8;
/// Two lines: a quarter holds the largest record of a word.
const LEAST: u64 = 16;
/// 4 GiB; the bytes of a piece are counted in 32 bits. A quarter of it where that is all there is.
const MOST: usize = match 1_usize.checked_shl(32) {
    Some(most) => most,
    None => 1 << 30,
};

/// Records one after the other, in a circle of words. Its owner alone writes; positions
/// count words from the beginning and never wrap.
pub(super) struct Ring<P: Platform> {
    /// The owner's number.
    pub(super) sender: usize,
    /// Whether readers are overtaken, not waited for.
    pub(super) loses: bool,
    lines: Box<[Line<P>]>,
    claim: CachePadded<Claim<P>>,
    /// The owner sleeps here until there is room.
    pub(super) room: CachePadded<Bell<P>>,
    readers: Lock<P, Readers<P>>,
}

/// A cache line, so that no record of a word lies in two.
#[repr(align(64))]
struct Line<P: Platform>([P::AtomicU64; WORDS_A_LINE as usize]);

/// How far the owner may have written, with a place to begin reading: each time the
/// owner makes room it leaves the position of its next record.
///
/// Only where readers are overtaken; where they are waited for, `mark` in [`Readers`].
struct Claim<P: Platform> {
    /// Nothing is written from here on.
    claimed: P::AtomicU64,
    mark: P::AtomicU64,
    mark_number: P::AtomicU64,
    /// The same as `claimed` once the mark belongs to it.
    settled: P::AtomicU64,
}

/// A record's position, and the number of its message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) position: u64,
    pub(super) number: u64,
}

struct Readers<P: Platform> {
    cursors: Vec<Arc<ReadCursor<P>>>,
    /// The owner's position when it last looked at the readers.
    mark: Mark,
    /// The owner has gone.
    closed: bool,
}

/// How far one reader has read, on a line of its own: written by it once a quarter
/// ring.
pub(super) struct ReadCursor<P: Platform> {
    reader: usize,
    position: CachePadded<P::AtomicU64>,
}

impl<P: Platform> ReadCursor<P> {
    fn new(reader: usize, position: u64) -> Arc<Self> {
        let position = CachePadded::new(P::AtomicU64::new(position));
        Arc::new(Self { reader, position })
    }

    /// The reader has done with all before `position`.
    pub(super) fn publish(&self, position: u64) {
        // Release: the reader's loads come before the stores of the owner, which acquires.
        self.position.store(position, Ordering::Release);
    }
}

/// Words that a ring holds.
fn words(settings: Settings) -> u64 {
    let bytes = settings.capacity.min(MOST).next_power_of_two();
    (bytes as u64 / 8).max(LEAST)
}

/// Bytes of long data that go into one record.
pub(super) fn longest_piece(settings: Settings) -> usize {
    (words(settings) / 4 - 2) as usize * 8
}

impl<P: Platform> Ring<P> {
    /// A ring that the ports `readers` read from the start.
    pub(super) fn new(sender: usize, settings: Settings, readers: &[usize]) -> Self {
        let words = words(settings);
        let zero = || <P::AtomicU64 as Atomic<u64>>::new(Header::NONE);
        let line = |_| Line(std::array::from_fn(|_| zero()));
        let readers = Readers {
            cursors: readers
                .iter()
                .map(|&port| ReadCursor::new(port, 0))
                .collect(),
            mark: Mark::default(),
            closed: false,
        };
        Self {
            sender,
            loses: settings.slow == Slow::Lose,
            lines: (0..words / WORDS_A_LINE).map(line).collect(),
            claim: CachePadded::new(Claim {
                claimed: zero(),
                mark: zero(),
                mark_number: zero(),
                settled: zero(),
            }),
            room: CachePadded::new(Bell::new()),
            readers: Lock::new(readers),
        }
    }

    /// Words that it holds.
    #[inline(always)]
    pub(super) fn capacity(&self) -> u64 {
        self.lines.len() as u64 * WORDS_A_LINE
    }

    /// A reader publishes its position each time it has read this many words, and no record is
    /// longer. So a sender never waits for a reader that has read everything, even if its published
    /// position is old.
    #[inline(always)]
    pub(super) fn quarter(&self) -> u64 {
        self.capacity() / 4
    }

    #[inline(always)]
    pub(super) fn word(&self, position: u64) -> &P::AtomicU64 {
        // The number of lines is a power of two.
        let line = (position / WORDS_A_LINE) as usize & (self.lines.len() - 1);
        &self.lines[line].0[(position % WORDS_A_LINE) as usize]
    }

    /// The owner, at `mark`, asks how far it may write: as far as the slowest reader
    /// allows.
    pub(super) fn limit(&self, mark: Mark) -> u64 {
        self.readers.with(|readers| {
            readers.mark = mark;
            // Acquire: see `ReadCursor::publish`.
            let positions = (readers.cursors.iter()).map(|it| it.position.load(Ordering::Acquire));
            positions.min().unwrap_or(mark.position) + self.capacity()
        })
    }

    /// The owner, at `mark`, is going to write up to `limit`, over whatever readers
    /// have not read.
    pub(super) fn claim(&self, mark: Mark, limit: u64) {
        let claim = &self.claim;
        claim.claimed.store(limit, Ordering::Relaxed);
        // A reader that reads a store below, or a word written from now on, and then fences
        // (acquire), finds `claimed` to be at least this.
        P::fence(Ordering::Release);
        claim.mark.store(mark.position, Ordering::Relaxed);
        claim.mark_number.store(mark.number, Ordering::Relaxed);
        // Release: a thread that reads it finds the mark.
        claim.settled.store(limit, Ordering::Release);
    }

    /// Whether words from `position` on, which the caller has loaded, may be others
    /// than were written there for that position.
    #[inline(always)]
    pub(super) fn has_overtaken(&self, position: u64) -> bool {
        // Pairs with the fence in `claim`: see there.
        P::fence(Ordering::Acquire);
        self.claim.claimed.load(Ordering::Relaxed) > position + self.capacity()
    }

    /// A place to begin or go on reading, about a quarter ring behind the owner at most,
    /// where readers are overtaken.
    pub(super) fn latest_mark(&self) -> Mark {
        let claim = &self.claim;
        loop {
            let settled = claim.settled.load(Ordering::Acquire);
            let mark = Mark {
                position: claim.mark.load(Ordering::Relaxed),
                number: claim.mark_number.load(Ordering::Relaxed),
            };
            // If part of that is of a later claim, its `claimed` is seen.
            P::fence(Ordering::Acquire);
            if claim.claimed.load(Ordering::Relaxed) == settled {
                return mark;
            }
            P::relax();
        }
    }

    /// A reader begins: nothing from the mark on is overwritten before its cursor has
    /// passed it, unless readers are overtaken. Nothing if the owner has gone.
    pub(super) fn join(&self, reader: usize) -> Option<(Arc<ReadCursor<P>>, Mark)> {
        let (cursor, mark) = self.readers.with(|readers| {
            if readers.closed {
                return None;
            }
            // The owner took its limit when it was here, from cursors that were behind.
            let cursor = ReadCursor::new(reader, readers.mark.position);
            readers.cursors.push(Arc::clone(&cursor));
            Some((cursor, readers.mark))
        })?;
        let mark = if self.loses { self.latest_mark() } else { mark };
        Some((cursor, mark))
    }

    /// The cursor of a reader that was there when the ring was made.
    pub(super) fn cursor(&self, reader: usize) -> Option<Arc<ReadCursor<P>>> {
        self.readers.with(|readers| {
            let mut cursors = readers.cursors.iter();
            cursors.find(|cursor| cursor.reader == reader).cloned()
        })
    }

    /// The reader has gone, or read to the end.
    pub(super) fn leave(&self, reader: usize) {
        self.readers
            .with(|readers| readers.cursors.retain(|cursor| cursor.reader != reader));
        // The owner may be waiting for that one.
        self.room.ring();
    }

    /// The owner has sent its last.
    pub(super) fn close(&self) {
        self.readers.with(|readers| readers.closed = true);
    }

    /// Whether the owner has gone.
    pub(super) fn is_closed(&self) -> bool {
        self.readers.with(|readers| readers.closed)
    }

    /// Whether no port needs the ring any more.
    pub(super) fn is_over(&self) -> bool {
        (self.readers).with(|readers| readers.closed && readers.cursors.is_empty())
    }
}
