//! When the next loop will come, from when the last ones did.

use manycore_platform::{Atomic, Ordering, Platform};

/// The recent gaps between the end of one posted loop and the start of the
/// next, in ticks.
///
/// Two kinds are told apart by the spin budget. *Short* gaps are cheaper to
/// spin through than to sleep through. Of *long* gaps the mean and the mean
/// deviation are kept: a worker sleeps through most of a regular one and is
/// spinning again when the loop comes. A burst of loops and a pause (a frame,
/// a request) has gaps of both kinds, and they do not disturb each other.
///
/// Written by callers at the end of posted loops, read by workers that have run
/// out of work. The fields are updated one by one and racily, and all
/// accesses are relaxed: they are an estimate, and nothing but time depends on them.
pub(crate) struct Gaps<P: Platform> {
    last_end: P::AtomicU64,
    /// Share of gaps that were short, in 1/256, decaying by an eighth.
    short_share: P::AtomicU32,
    /// A decaying maximum of short gaps.
    short_bound: P::AtomicU64,
    long_mean: P::AtomicU64,
    long_deviation: P::AtomicU64,
    /// A decaying minimum: a caller that sleeps between loops may be late by
    /// as much again as its timer is, but never early.
    long_low: P::AtomicU64,
    /// Long gaps in a row that came when they were expected.
    long_hits: P::AtomicU32,
    /// The core that the last loop after a long gap was called on.
    caller_core: P::AtomicU32,
}

/// A long gap is predicted after this many in a row that fit.
const HITS_TO_TRUST: u32 = 3;
/// Short gaps are waited for when this share of the recent ones was short, in
/// 1/256.
const SHORT_SHARE_TO_SPIN: u32 = 16;
/// Half-width of the window a long gap is expected in, in mean deviations.
const WINDOW_DEVIATIONS: u64 = 3;

/// The window in which the next loop is expected, as absolute ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) from: u64,
    pub(crate) to: u64,
}

impl<P: Platform> Gaps<P> {
    pub(crate) fn new() -> Self {
        Self {
            last_end: P::AtomicU64::new(0),
            // At first half the gaps are believed short: a new pool spins a
            // little and learns.
            short_share: P::AtomicU32::new(128),
            short_bound: P::AtomicU64::new(u64::MAX),
            long_mean: P::AtomicU64::new(0),
            long_deviation: P::AtomicU64::new(0),
            long_low: P::AtomicU64::new(0),
            long_hits: P::AtomicU32::new(0),
            caller_core: P::AtomicU32::new(u32::MAX),
        }
    }

    /// A posted loop ran from `started` to `ended`; gaps up to `budget` are
    /// short.
    pub(crate) fn loop_ended(&self, started: u64, ended: u64, budget: u64) {
        let last = self.last_end.load(Ordering::Relaxed);
        self.last_end.store(ended, Ordering::Relaxed);
        if last == 0 || started <= last {
            return; // The first loop, or several at once: no gap.
        }
        let gap = started - last;
        let share = self.short_share.load(Ordering::Relaxed);
        if gap <= budget {
            self.short_share
                .store(share - share / 8 + 32, Ordering::Relaxed);
            let bound = self.short_bound.load(Ordering::Relaxed);
            let bound = if bound == u64::MAX {
                gap
            } else {
                gap.max(bound - bound / 8)
            };
            self.short_bound.store(bound, Ordering::Relaxed);
        } else {
            self.short_share
                .store(share - share.div_ceil(8), Ordering::Relaxed);
            self.long_gap(gap);
            self.caller_core.store(P::core() as u32, Ordering::Relaxed);
        }
    }

    fn long_gap(&self, gap: u64) {
        let mean = self.long_mean.load(Ordering::Relaxed);
        let deviation = self.long_deviation.load(Ordering::Relaxed);
        let miss = gap.abs_diff(mean);
        if mean == 0 || miss > mean / 2 {
            // Another rhythm: start again from it.
            self.long_mean.store(gap, Ordering::Relaxed);
            self.long_deviation.store(gap / 8, Ordering::Relaxed);
            self.long_low.store(gap, Ordering::Relaxed);
            self.long_hits.store(0, Ordering::Relaxed);
            return;
        }
        let mean = mean + gap / 8 - mean / 8;
        self.long_mean.store(mean, Ordering::Relaxed);
        let low = self.long_low.load(Ordering::Relaxed);
        let low = gap.min(low + mean.saturating_sub(low) / 16);
        self.long_low.store(low, Ordering::Relaxed);
        // The deviation falls slowly and rises fast: a window that is a
        // little wide costs spinning, one that is too narrow costs a wake-up.
        let step = if miss > deviation { 2 } else { 8 };
        let deviation = deviation - deviation / step + miss / step;
        self.long_deviation.store(deviation, Ordering::Relaxed);
        let hits = self.long_hits.load(Ordering::Relaxed);
        self.long_hits
            .store((hits + 1).min(HITS_TO_TRUST), Ordering::Relaxed);
    }

    /// Ticks to spin for the next loop before anything else: long enough for
    /// the short gaps seen lately, and hardly at all when there were none.
    pub(crate) fn spin(&self, budget: u64) -> u64 {
        if self.short_share.load(Ordering::Relaxed) < SHORT_SHARE_TO_SPIN {
            return budget / 32;
        }
        let bound = self.short_bound.load(Ordering::Relaxed);
        bound.saturating_mul(2).clamp(budget / 8, budget)
    }

    /// Whether a worker woken now would be there for the next loop as well:
    /// still spinning, or awake in time.
    pub(crate) fn next_is_foreseeable(&self) -> bool {
        self.short_share.load(Ordering::Relaxed) >= SHORT_SHARE_TO_SPIN || self.are_regular()
    }

    /// Whether long gaps have been regular lately.
    pub(crate) fn are_regular(&self) -> bool {
        self.long_hits.load(Ordering::Relaxed) >= HITS_TO_TRUST
            && self.long_deviation.load(Ordering::Relaxed)
                <= self.long_mean.load(Ordering::Relaxed) / 4
    }

    /// The core that the next loop will most likely be called on.
    pub(crate) fn caller_core(&self) -> usize {
        self.caller_core.load(Ordering::Relaxed) as usize
    }

    /// The mean of the long gaps.
    pub(crate) fn usual(&self) -> u64 {
        self.long_mean.load(Ordering::Relaxed)
    }

    /// The window in which the next loop is expected, as seen at `now`, if gaps
    /// have been regular. `end`: when the last loop ended, if the caller knows
    /// better than what was reported. The window opens a `margin` before the earliest of late, and
    /// is as wide as the deviation asks, but no wider than `most`.
    pub(crate) fn expected(
        &self,
        now: u64,
        end: Option<u64>,
        margin: u64,
        most: u64,
    ) -> Option<Window> {
        let mean = self.long_mean.load(Ordering::Relaxed);
        let deviation = self.long_deviation.load(Ordering::Relaxed);
        if !self.are_regular() {
            return None;
        }
        let low = self.long_low.load(Ordering::Relaxed);
        let from = low.saturating_sub(margin);
        let to = (mean + WINDOW_DEVIATIONS * deviation)
            .max(low + margin)
            .min(from + most);
        let end = end.unwrap_or_else(|| self.last_end.load(Ordering::Relaxed));
        let missed = now.saturating_sub(end + to) / mean.max(1);
        let end = end
            + if now > end + to {
                (missed + 1) * mean
            } else {
                0
            };
        Some(Window {
            from: end + from,
            to: end + to,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_platform::Native;

    const BUDGET: u64 = 100;

    /// The gaps of loops of 50 ticks with `gaps` between them, and the end of
    /// the last.
    fn after(gaps: &[u64]) -> (Gaps<Native>, u64) {
        let seen = Gaps::new();
        let mut now = 1_000;
        seen.loop_ended(now, now + 50, BUDGET);
        for gap in gaps {
            now += 50 + gap;
            seen.loop_ended(now, now + 50, BUDGET);
        }
        (seen, now + 50)
    }

    #[test]
    fn a_regular_gap_is_expected_when_it_comes() {
        let (gaps, end) = after(&[10_000; 12]);
        let window = gaps.expected(end, None, 10, 2_000).expect("regular");
        assert!(
            window.from <= end + 10_000 && end + 10_000 <= window.to,
            "{window:?}"
        );
        assert!(window.to - window.from <= 2_000, "{window:?}");
    }

    #[test]
    fn the_window_opens_for_the_earliest_and_not_for_the_mean() {
        let late = [
            10_000, 10_000, 11_500, 10_000, 10_000, 11_500, 10_000, 10_000, 11_500,
        ];
        let (gaps, end) = after(&late);
        let window = gaps.expected(end, None, 200, 4_000).expect("regular");
        assert!(window.from <= end + 10_000, "{window:?}");
    }

    #[test]
    fn wild_gaps_are_not_expected() {
        let (gaps, end) = after(&[1_000, 90_000, 4_000, 40_000, 700, 12_000]);
        assert_eq!(gaps.expected(end, None, 10, 2_000), None);
        assert!(!gaps.are_regular());
    }

    #[test]
    fn bursts_do_not_disturb_the_rhythm_of_their_pauses() {
        let frame = [20, 20, 20, 10_000];
        let (gaps, end) = after(&frame.repeat(12));
        let window = gaps.expected(end, None, 10, 2_000).expect("regular");
        assert!(
            window.from <= end + 10_000 && end + 10_000 <= window.to,
            "{window:?}"
        );
        assert!(gaps.spin(BUDGET) >= 20, "and short gaps are spun through");
    }

    #[test]
    fn without_short_gaps_there_is_hardly_any_spinning() {
        let (gaps, _) = after(&[10_000; 40]);
        assert!(gaps.spin(BUDGET) < BUDGET / 16);
    }

    #[test]
    fn a_loop_missed_is_expected_a_period_later() {
        let (gaps, end) = after(&[10_000; 12]);
        let now = end + 14_000;
        let window = gaps.expected(now, None, 10, 2_000).expect("regular");
        assert!(window.from > now && window.to <= end + 22_000, "{window:?}");
    }
}
