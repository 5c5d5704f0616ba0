//! Predicts the next loop in a row of loops with long gaps between them.

use manycore_platform::{Atomic, Ordering, Platform};

/// The long gaps of one caller, or of a pool: their mean, mean deviation and a
/// decaying minimum, in ticks.
///
/// Callers of loops write the fields, and workers that have run out of work read them. The fields are updated one by
/// one without a lock, and all accesses are relaxed: the fields are estimates. A wrong estimate costs time, but does no
/// other harm.
pub(super) struct Period<P: Platform> {
    last_end: P::AtomicU64,
    mean: P::AtomicU64,
    deviation: P::AtomicU64,
    /// A decaying minimum of the gaps. A caller that sleeps between loops may be as late as its timer, but is never
    /// early.
    low: P::AtomicU64,
    /// The number of long gaps in a row that were as long as expected.
    hits: P::AtomicU32,
    /// The core of the caller of the last loop that followed a long gap.
    core: P::AtomicU32,
}

/// After this many long gaps in a row that fit their mean, the next gap is predicted.
const HITS_TO_TRUST: u32 = 3;
/// After this number of hits, a single miss changes nothing.
const MOST_HITS: u32 = 4;
/// Half the width of the window in which a long gap should end, as a multiple of the mean deviation.
const WINDOW_DEVIATIONS: u64 = 3;
/// The estimate is dropped after this number of periods without a loop.
const PERIODS: u64 = 2;

/// The expected time of the next loop, as absolute ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// The mean gap of the period that predicts this window.
    pub(crate) period: u64,
    /// The core on which the loop will most likely be called.
    pub(crate) core: usize,
}

/// A worker's knowledge when it asks for the next window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) now: u64,
    /// Whether the worker has helped with a loop that ends about now. The caller may not have recorded the end
    /// yet.
    pub(crate) helped: bool,
    /// A window opens this many ticks before the earliest recent arrival.
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

    /// When the last loop ended, in ticks, or 0 if no loop has ended.
    #[inline]
    pub(super) fn last_end(&self) -> u64 {
        self.last_end.load(Ordering::Relaxed)
    }

    /// Records that a loop ended at `ended`. Returns the previous [`last_end`](Self::last_end).
    #[inline]
    pub(super) fn ends(&self, ended: u64) -> u64 {
        let last = self.last_end();
        self.last_end.store(ended, Ordering::Relaxed);
        last
    }

    /// Forgets all gaps. From now on the period belongs to another caller.
    pub(super) fn clear(&self) {
        self.last_end.store(0, Ordering::Relaxed);
        self.mean.store(0, Ordering::Relaxed);
        self.hits.store(0, Ordering::Relaxed);
    }

    /// Records a long gap before the last loop.
    pub(super) fn long_gap(&self, gap: u64) {
        self.core.store(P::core() as u32, Ordering::Relaxed);
        let mean = self.mean.load(Ordering::Relaxed);
        let deviation = self.deviation.load(Ordering::Relaxed);
        let miss = gap.abs_diff(mean);
        let hits = self.hits.load(Ordering::Relaxed);
        if miss > mean / 2 && hits == MOST_HITS {
            // One miss is forgiven: sometimes the system preempts the caller, or the caller does something
            // else.
            self.hits.store(HITS_TO_TRUST, Ordering::Relaxed);
            return;
        }
        if mean == 0 || miss > mean / 2 {
            // The period has changed: start again from this gap.
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
        // The deviation falls slowly and rises fast: a window that is a little too wide costs some spinning, but a
        // window that is too narrow costs a wake-up.
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

    /// Returns the expected time of the next loop. Returns `None` if gaps have been irregular, or if more than
    /// `PERIODS` periods have passed without a loop. The window is as wide as the deviation asks, but at most
    /// `most(mean gap)` ticks.
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
        // The loop that was due has just come: the worker has helped with it.
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
