//! Messages that one port has sent and other ports may not have read.

use super::bell::Bell;
use super::record::Header;
use super::settings::{Settings, Slow};
use manycore_cores::sync::Lock;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use std::sync::Arc;

const WORDS_A_LINE: u64 = 8;
/// The fewest words of a ring: two cache lines. A quarter of them holds the largest record of a
/// word.
const LEAST: u64 = 16;
/// The most bytes of a ring: 4 GiB, because a piece has 32 bits for its bytes, or 1 GiB if `usize`
/// has 32 bits.
const MOST: usize = match 1_usize.checked_shl(32) {
    Some(most) => most,
    None => 1 << 30,
};

/// A circle of words with one record (a message or a piece of one) after the other. Only the
/// *owner*, which is the sending port, writes to the words. A position counts words from the first
/// record and never wraps around.
pub(super) struct Ring<P: Platform> {
    /// The owner's number.
    pub(super) sender: usize,
    /// Whether the owner overtakes slow readers instead of waiting for them.
    pub(super) loses: bool,
    lines: Box<[Line<P>]>,
    claim: CachePadded<Claim<P>>,
    /// The owner waits here for room.
    pub(super) room: CachePadded<Bell<P>>,
    readers: CachePadded<Lock<P, Readers<P>>>,
}

/// A cache line. With this alignment, no record of a word lies in two lines.
#[repr(align(64))]
struct Line<P: Platform>([P::AtomicU64; WORDS_A_LINE as usize]);

/// How far the owner may have written, and a mark at which a reader can begin. Each time the owner
/// makes room, it moves the mark to its next record.
///
/// This is for owners that overtake readers. Other owners use `mark` in [`Readers`].
struct Claim<P: Platform> {
    /// The owner has written nothing from this position on.
    claimed: P::AtomicU64,
    mark: P::AtomicU64,
    mark_number: P::AtomicU64,
    /// Equal to `claimed` once the mark of that claim is written.
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
    /// The owner's position when it last computed its limit.
    mark: Mark,
    /// Whether the owner has gone.
    closed: bool,
}

/// How far one reader has read. The reader writes this after each quarter ring, on its own line.
pub(super) struct ReadCursor<P: Platform> {
    reader: usize,
    position: CachePadded<P::AtomicU64>,
}

impl<P: Platform> ReadCursor<P> {
    fn new(reader: usize, position: u64) -> Arc<Self> {
        let position = CachePadded::new(P::AtomicU64::new(position));
        Arc::new(Self { reader, position })
    }

    /// Publishes that the reader needs nothing before `position`.
    pub(super) fn publish(&self, position: u64) {
        // Release: the reader's loads come before later stores of the owner, which loads this with
        // acquire.
        self.position.store(position, Ordering::Release);
    }
}

/// The number of words in a ring.
fn words(settings: Settings) -> u64 {
    let bytes = settings.capacity.min(MOST).next_power_of_two();
    (bytes as u64 / 8).max(LEAST)
}

/// The most bytes of long data in one record.
pub(super) fn longest_piece(settings: Settings) -> usize {
    (words(settings) / 4 - 2) as usize * 8
}

impl<P: Platform> Ring<P> {
    /// Makes a ring that the ports `readers` read from the start.
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
            readers: CachePadded::new(Lock::new(readers)),
        }
    }

    /// The number of words in the ring.
    #[inline(always)]
    pub(super) fn capacity(&self) -> u64 {
        self.lines.len() as u64 * WORDS_A_LINE
    }

    /// A quarter of the ring, in words. A reader publishes its position after each quarter ring,
    /// and no record is longer than a quarter. So a sender never waits for a reader that has read
    /// everything, even if the published position is old.
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

    /// Returns how far the owner, which is at `mark`, may write: a whole ring past the slowest
    /// reader. New readers begin at `mark`.
    pub(super) fn limit(&self, mark: Mark) -> u64 {
        self.readers.with(|readers| {
            readers.mark = mark;
            // Acquire pairs with `ReadCursor::publish`.
            let positions = (readers.cursors.iter()).map(|it| it.position.load(Ordering::Acquire));
            positions.min().unwrap_or(mark.position) + self.capacity()
        })
    }

    /// Announces that the owner, which is at `mark`, may write up to `limit`, over records that
    /// readers have not read.
    pub(super) fn claim(&self, mark: Mark, limit: u64) {
        let claim = &self.claim;
        claim.claimed.store(limit, Ordering::Relaxed);
        // A reader that reads a store below or a word written later, and then executes an acquire
        // fence, finds `claimed` to be at least `limit`.
        P::fence(Ordering::Release);
        claim.mark.store(mark.position, Ordering::Relaxed);
        claim.mark_number.store(mark.number, Ordering::Relaxed);
        // Release: a thread that reads this finds the mark.
        claim.settled.store(limit, Ordering::Release);
    }

    /// Whether the owner may have overwritten words from `position` on, which the caller has
    /// loaded.
    #[inline(always)]
    pub(super) fn has_overtaken(&self, position: u64) -> bool {
        // This fence pairs with the fence in `claim`.
        P::fence(Ordering::Acquire);
        self.claim.claimed.load(Ordering::Relaxed) > position + self.capacity()
    }

    /// Returns where a reader begins or continues if the owner overtakes readers. This is at most
    /// about a quarter ring behind the owner.
    pub(super) fn latest_mark(&self) -> Mark {
        let claim = &self.claim;
        loop {
            let settled = claim.settled.load(Ordering::Acquire);
            let mark = Mark {
                position: claim.mark.load(Ordering::Relaxed),
                number: claim.mark_number.load(Ordering::Relaxed),
            };
            // If a load above read a later claim, the load below reads that claim's `claimed`.
            P::fence(Ordering::Acquire);
            if claim.claimed.load(Ordering::Relaxed) == settled {
                return mark;
            }
            P::relax();
        }
    }

    /// Adds a reader. An owner that waits for readers overwrites no word after the mark before the
    /// reader's cursor has passed it. `None` if the owner has gone.
    pub(super) fn join(&self, reader: usize) -> Option<(Arc<ReadCursor<P>>, Mark)> {
        let (cursor, mark) = self.readers.with(|readers| {
            if readers.closed {
                return None;
            }
            // The owner's limit was computed at this mark, from cursors at or before it. So the
            // limit is at most a ring past the new cursor.
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

    /// Removes a reader that has gone or has read to the end.
    pub(super) fn leave(&self, reader: usize) {
        self.readers
            .with(|readers| readers.cursors.retain(|cursor| cursor.reader != reader));
        // The owner may be waiting for this reader.
        self.room.ring();
    }

    /// Closes the ring. Called when the owner has sent its last message.
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
