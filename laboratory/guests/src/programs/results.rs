//! The output of parallel programs: a value for each index, which any thread can write.

use super::{Failure, expect};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Shared values. A relaxed access compiles to an ordinary load or store.
pub(super) struct Results(Vec<AtomicU64>);

impl Results {
    pub(super) fn new(count: usize) -> Self {
        Self::from((0..count).map(|_| 0))
    }

    pub(super) fn from(values: impl Iterator<Item = u64>) -> Self {
        Self(values.map(AtomicU64::new).collect())
    }

    #[inline(always)]
    pub(super) fn set(&self, at: usize, value: u64) {
        self.0[at].store(value, Relaxed);
    }

    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> u64 {
        self.0[at].load(Relaxed)
    }

    /// Changes a value from `from` to `to`. Returns whether this thread changed it.
    #[inline(always)]
    pub(super) fn claim(&self, at: usize, from: u64, to: u64) -> bool {
        let changed = self.0[at].compare_exchange(from, to, Relaxed, Relaxed);
        changed.is_ok()
    }

    pub(super) fn fill(&self, value: u64) {
        self.0.iter().for_each(|one| one.store(value, Relaxed));
    }

    /// Compares all values with the right values.
    pub(super) fn expect(&self, right: impl Fn(u64) -> u64) -> Result<(), Failure> {
        // Other threads may spin meanwhile, so nothing is formatted unless a value is wrong.
        let wrong = (0..self.0.len()).find(|&at| self.get(at) != right(at as u64));
        wrong.map_or(Ok(()), |at| {
            expect(&format!("result {at}"), self.get(at), right(at as u64))
        })
    }
}
