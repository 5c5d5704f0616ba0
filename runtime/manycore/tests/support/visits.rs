//! Counts how often each index of a range has run.

use std::fmt::Display;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

pub(crate) struct Visits {
    start: usize,
    counts: Vec<AtomicU32>,
}

impl Visits {
    pub(crate) fn new(range: &Range<usize>) -> Self {
        Self {
            start: range.start,
            counts: range.clone().map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Counts a run of index `i`. Fails if the range does not contain `i`.
    pub(crate) fn visit(&self, i: usize) {
        self.counts[i - self.start].fetch_add(1, Relaxed);
    }

    /// Checks that each index has run `times` times; `what` names the loop.
    pub(crate) fn assert_each(&self, times: u32, what: impl Display) {
        for (i, count) in self.counts.iter().enumerate() {
            let count = count.load(Relaxed);
            assert!(
                count == times,
                "{what}: index {} of {}.. ran {count} times, not {times}",
                self.start + i,
                self.start,
            );
        }
    }
}
