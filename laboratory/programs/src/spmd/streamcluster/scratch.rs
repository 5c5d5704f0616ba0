//! The table in which ranks add up the saving from closing each centre.

use super::amount::Amount;
use super::batch::words64;
use manycore_platform::{Atomic, Ordering::Relaxed, Platform};
use std::sync::OnceLock;

/// Rows begin at multiples of this many words. It is half a cache line, so that
/// rows of two ranks may share one: PARSEC's program takes lines to be of 32
/// bytes, and its traffic is part of what is measured.
const GRAIN: usize = 4;

/// Memory for a table that has a row a rank, and one for all, and as many
/// columns as there are centres, which change.
///
/// Rank 0 provides it before others look at it. A table that becomes too small is kept, so no
/// rank's table vanishes.
pub(super) struct Scratch<P: Platform> {
    ranks: usize,
    /// Blocks of 1, 2, 4, ... words.
    sizes: [OnceLock<Box<[P::AtomicU64]>>; usize::BITS as usize],
}

/// The table for a number of centres.
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

    /// A row has a column for each centre, and two more.
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
            // No other rank sets it, so it cannot be set already.
            let _ = self.sizes[size].set(words);
        }
    }

    /// The table that was provided.
    ///
    /// # Panics
    ///
    /// Panics if it was not provided, as when a barrier lets a rank pass early.
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
    /// The row of a rank, its columns for centres and the two others.
    pub(super) fn row(&self, rank: usize) -> Row<'a, P> {
        Row(
            &self.words[rank * self.stride..][..self.stride],
            self.centres,
        )
    }

    /// The row of all.
    pub(super) fn total(&self) -> Row<'a, P> {
        self.row(self.ranks)
    }
}

/// A row of the table.
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

    /// Adds to a column of one's own row.
    pub(super) fn add(&self, column: usize, value: Amount) {
        self.set(column, self.get(column) + value);
    }

    /// How many centres the rank would close; also, before that, how many it
    /// has, and how many the ranks before it have.
    pub(super) fn count(&self) -> usize {
        self.get(self.1) as usize
    }

    pub(super) fn set_count(&self, count: usize) {
        self.set(self.1, count as Amount);
    }

    /// The cost of the offered centre for the rank's points.
    pub(super) fn cost(&self) -> Amount {
        self.get(self.1 + 1)
    }

    pub(super) fn set_cost(&self, cost: Amount) {
        self.set(self.1 + 1, cost);
    }
}
