//! One row of loops with long gaps between them: when the next is due.

use manycore_platform::{Atomic, Ordering, Platform};

/// The long gaps of one caller, or of a pool: their mean, mean deviation and a
/// decaying minimum, in ticks.
///
/// Written by whoever calls the loops, read by workers that have run out of
/// work. The fields are updated one by one and racily, and all accesses are
/// relaxed: they are an estimate, and nothing but time depends on them.
pub(super) struct Period<P: Platform> {
    last_end: P::AtomicU64,
    mean: P::AtomicU64,
    deviation: P::AtomicU64,
    /// A decaying minimum: a caller that sleeps between loops may be late by
    /// as much again as its timer is, but never early.
    low: P::AtomicU64,
    /// Long gaps in a row that came when they were expected.
    hits: P::AtomicU32,
    /// The core that the last loop after a long gap was called on.
    core: P::AtomicU32,
}

/// A long gap is predicted after this many in a row that fit.
const HITS_TO_TRUST: u32 = 3;
/// After this number of hits, a single miss changes nothing.
const MOST_HITS: u32 = 4;
/// Half-width of the window a long gap is expected in, in mean deviations.
const WINDOW_DEVIATIONS: u64 = 3;
/// Periods without a loop after which the estimate is dropped.
const PERIODS: u64 = 2;

/// The expected time of the next loop, as absolute ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// The mean gap of its period.
    pub(crate) period: u64,
    /// The core that the loop will most likely be called on.
    pub(crate) core: usize,
}

/// A worker's knowledge when it asks for the next window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) now: u64,
    /// It has helped with a loop that ends about now; the caller may not have
    /// said so yet.
    pub(crate) helped: bool,
    /// A window opens this much before the earliest of late.
    pub(crate) margin: u64,
}

impl<P: Platform> Period<P> {
    pub(super) fn new() -> Self {
        Self {
            last_end: P::AtomicU64::new(0),
            mean: P::AtomicU64::new(0),
            deviation: P::AtomicU64::new(0),
            low: P::AtomicU64::new(0),
            hits: P::AtomicU32::new(0),
            core: P::AtomicU32::new(u32::MAX),
        }
    }

    /// When the last loop ended; 0: none has.
    #[inline]
    pub(super) fn last_end(&self) -> u64 {
        self.last_end.load(Ordering::Relaxed)
    }

    /// A loop ended at `ended`. Returns what [`last_end`](Self::last_end) was.
    #[inline]
    pub(super) fn ends(&self, ended: u64) -> u64 {
        let last = self.last_end();
        self.last_end.store(ended, Ordering::Relaxed);
        last
    }

    /// Forgets all it knows: it is another caller's from now on.
    pub(super) fn clear(&self) {
        self.last_end.store(0, Ordering::Relaxed);
        self.mean.store(0, Ordering::Relaxed);
        self.hits.store(0, Ordering::Relaxed);
    }

    /// There was a long gap before the last loop.
    pub(super) fn long_gap(&self, gap: u64) {
        self.core.store(P::core() as u32, Ordering::Relaxed);
        let mean = self.mean.load(Ordering::Relaxed);
        let deviation = self.deviation.load(Ordering::Relaxed);
        let miss = gap.abs_diff(mean);
        let hits = self.hits.load(Ordering::Relaxed);
        if miss > mean / 2 && hits == MOST_HITS {
            // Once in a while the caller is put aside, or does something else.
            self.hits.store(HITS_TO_TRUST, Ordering::Relaxed);
            return;
        }
        if mean == 0 || miss > mean / 2 {
            // Another period: start again from it.
            self.mean.store(gap, Ordering::Relaxed);
            self.deviation.store(gap / 8, Ordering::Relaxed);
            self.low.store(gap, Ordering::Relaxed);
            self.hits.store(0, Ordering::Relaxed);
            return;
        }
        let mean = mean + gap / 8 - mean / 8;
        self.mean.store(mean, Ordering::Relaxed);
        let low = self.low.load(Ordering::Relaxed);
        let low = gap.min(low + mean.saturating_sub(low) / 16);
        self.low.store(low, Ordering::Relaxed);
        // The deviation falls slowly and rises fast: a window that is slightly wide costs spinning,
        // one that is too narrow costs a wake-up.
        let step = if miss > deviation { 2 } else { 8 };
        let deviation = deviation - deviation / step + miss / step;
        self.deviation.store(deviation, Ordering::Relaxed);
        self.hits
            .store((hits + 1).min(MOST_HITS), Ordering::Relaxed);
    }

    /// Whether long gaps have been regular lately.
    #[inline]
    pub(super) fn is_regular(&self) -> bool {
        self.hits.load(Ordering::Relaxed) >= HITS_TO_TRUST
            && self.deviation.load(Ordering::Relaxed) <= self.mean.load(Ordering::Relaxed) / 4
    }

    /// The expected time of the next loop, if gaps have been regular and the last periods have not
    /// passed without a loop. It is as wide as the deviation asks, but no wider than `most` says
    /// for this mean gap.
    pub(super) fn expected(&self, view: &View, most: impl Fn(u64) -> u64) -> Option<Window> {
        if !self.is_regular() {
            return None;
        }
        let mean = self.mean.load(Ordering::Relaxed);
        let deviation = self.deviation.load(Ordering::Relaxed);
        let low = self.low.load(Ordering::Relaxed);
        let from = low.saturating_sub(view.margin);
        let to = (mean + WINDOW_DEVIATIONS * deviation)
            .max(low + view.margin)
            .min(from + most(mean));
        let end = self.last_end();
        // The worker has just helped with one of the loops that were due.
        let end = if view.helped && view.now >= end + from {
            view.now
        } else {
            end
        };
        let late = view.now.saturating_sub(end + to);
        let missed = if late > 0 { late / mean.max(1) + 1 } else { 0 };
        if missed > PERIODS {
            return None;
        }
        let end = end + missed * mean;
        Some(Window {
            from: end + from,
            to: end + to,
            period: mean,
            core: self.core.load(Ordering::Relaxed) as usize,
        })
    }
}
