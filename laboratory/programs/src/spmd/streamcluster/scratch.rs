//! The table in which ranks (threads of the team) add up the savings from closing each centre.

use super::amount::Amount;
use super::batch::words64;
use manycore_platform::{Atomic, Ordering::Relaxed, Platform};
use std::sync::OnceLock;

/// Rows begin at multiples of this many words. This is half a cache line, so rows of two ranks can share a line.
/// PARSEC's program assumes lines of 32 bytes, and the resulting traffic is part of the benchmark.
const GRAIN: usize = 4;

/// Memory for a table with a row for each rank, a row of totals, and a column for each centre. The
/// number of centres changes.
///
/// Rank 0 provides the table before others read the table. A table that becomes too small is kept, so references to it
/// stay valid.
pub(super) struct Scratch<P: Platform> {
    ranks: usize,
    /// Tables of 1, 2, 4, ... words.
    sizes: [OnceLock<Box<[P::AtomicU64]>>; usize::BITS as usize],
}

/// The table for `centres` centres.
pub(super) struct Table<'a, P: Platform> {
    words: &'a [P::AtomicU64],
    stride: usize,
    centres: usize,
    ranks: usize,
}

impl<P: Platform> Scratch<P> {
    pub(super) fn new(ranks: usize) -> Self {
        Self {
            ranks,
            sizes: std::array::from_fn(|_| OnceLock::new()),
        }
    }

    /// The words of a row: one for each centre, and two more, rounded up.
    fn stride(centres: usize) -> usize {
        (centres + 2).next_multiple_of(GRAIN)
    }

    fn size(&self, centres: usize) -> usize {
        let words = Self::stride(centres) * (self.ranks + 1);
        words.next_power_of_two().trailing_zeros() as usize
    }

    /// Rank 0 provides a table for `centres` centres.
    pub(super) fn provide(&self, centres: usize) {
        let size = self.size(centres);
        if self.sizes[size].get().is_none() {
            let words = words64::<P>(1 << size);
            P::name(&*words, "streamcluster scratch");
            // Only rank 0 sets this entry, so it is not set yet.
            let _ = self.sizes[size].set(words);
        }
    }

    /// The table that rank 0 provided.
    ///
    /// # Panics
    ///
    /// Panics if rank 0 has not provided the table, because a faulty barrier let a rank pass early.
    pub(super) fn table(&self, centres: usize) -> Table<'_, P> {
        let words = self.sizes[self.size(centres)].get();
        Table {
            words: words.expect("rank 0 provides the table before the barrier"),
            stride: Self::stride(centres),
            centres,
            ranks: self.ranks,
        }
    }
}

impl<'a, P: Platform> Table<'a, P> {
    /// The row of a rank.
    pub(super) fn row(&self, rank: usize) -> Row<'a, P> {
        Row(
            &self.words[rank * self.stride..][..self.stride],
            self.centres,
        )
    }

    /// The row of totals.
    pub(super) fn total(&self) -> Row<'a, P> {
        self.row(self.ranks)
    }
}

/// A row of the table, and the number of centres.
pub(super) struct Row<'a, P: Platform>(&'a [P::AtomicU64], usize);

impl<P: Platform> Row<'_, P> {
    pub(super) fn clear(&self) {
        self.0.iter().for_each(|word| word.store(0, Relaxed));
    }

    pub(super) fn get(&self, column: usize) -> Amount {
        self.0[column].load(Relaxed).cast_signed()
    }

    pub(super) fn set(&self, column: usize, value: Amount) {
        self.0[column].store(value.cast_unsigned(), Relaxed);
    }

    /// Adds to a column of the calling rank's own row.
    pub(super) fn add(&self, column: usize, value: Amount) {
        self.set(column, self.get(column) + value);
    }

    /// The rank's count: at first its centres, then the centres of the ranks before it, then its
    /// centres to close.
    pub(super) fn count(&self) -> usize {
        self.get(self.1) as usize
    }

    pub(super) fn set_count(&self, count: usize) {
        self.set(self.1, count as Amount);
    }

    /// The cost of the rank's points with the centre that the search tries.
    pub(super) fn cost(&self) -> Amount {
        self.get(self.1 + 1)
    }

    pub(super) fn set_cost(&self, cost: Amount) {
        self.set(self.1 + 1, cost);
    }
}
