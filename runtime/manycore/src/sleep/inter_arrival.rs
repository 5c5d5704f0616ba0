//! Predicts when the next loop comes from the times of recent loops.

use super::period::{Period, View, Window};
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use std::array::from_fn;

/// The recent inter-arrival gaps: between the end of one posted loop and the start of the
/// next, in ticks.
///
/// The spin budget divides gaps into two kinds. *Short* gaps are cheaper to spin through than to sleep through. For
/// *long* gaps the pool keeps a period, which is their usual length: a worker sleeps through most of a regular gap,
/// and spins again when the next loop is due. Bursts of loops with pauses between them (frames, requests) have gaps of
/// both kinds. Neither kind disturbs the estimate of the other.
///
/// The pool has a period, and so has each of the last few callers: if several callers call regularly, the gaps of the
/// whole pool may still be irregular.
///
/// All accesses are relaxed, and may race with each other, since the values are estimates that affect only time.
pub(crate) struct InterArrival<P: Platform> {
    /// The share of short gaps, in 1/256. Each gap replaces an eighth of it.
    short_share: P::AtomicU32,
    /// A decaying maximum of short gaps.
    short_bound: P::AtomicU64,
    /// One bit for each period, which says whether the period is regular. The lowest bit is for the pool.
    regular: P::AtomicU32,
    pool: Period<P>,
    /// The caller of each period in `callers`, or 0 for no caller.
    keys: CachePadded<[P::AtomicUsize; CALLERS]>,
    callers: [CachePadded<Period<P>>; CALLERS],
}

/// The number of callers with a stored period. A new caller takes the place of the one with the oldest last call.
const CALLERS: usize = 8;
/// Workers spin through short gaps if at least this share of recent gaps was short, in 1/256.
const SHORT_SHARE_TO_SPIN: u32 = 16;

impl<P: Platform> InterArrival<P> {
    pub(crate) fn new() -> Self {
        Self {
            // A new pool begins with the assumption that half of the gaps are short, so it spins a little and learns.
            short_share: P::AtomicU32::new(128),
            short_bound: P::AtomicU64::new(u64::MAX),
            regular: P::AtomicU32::new(0),
            pool: Period::new(),
            keys: CachePadded::new(from_fn(|_| P::AtomicUsize::new(0))),
            callers: from_fn(|_| CachePadded::new(Period::new())),
        }
    }

    /// Records that a loop of `caller` ran from `started` to `ended`. Gaps of up to `budget` ticks are short.
    ///
    /// `caller` is any number that differs between callers and is the same for all loops of one caller.
    pub(crate) fn loop_ended(&self, caller: usize, started: u64, ended: u64, budget: u64) {
        if let Some(gap) = gap(self.pool.ends(ended), started) {
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
                self.pool.long_gap(gap);
                self.judge(0, &self.pool);
            }
        }
        let index = self.index_of(caller);
        let period = &self.callers[index];
        if let Some(gap) = gap(period.ends(ended), started).filter(|&gap| gap > budget) {
            period.long_gap(gap);
            self.judge(1 + index, period);
        }
    }

    /// The index of the period of `caller`. A new caller gets the period with the oldest last call.
    fn index_of(&self, caller: usize) -> usize {
        let is_callers = |key: &P::AtomicUsize| key.load(Ordering::Relaxed) == caller;
        if let Some(index) = self.keys.iter().position(is_callers) {
            return index;
        }
        let last_end = |&index: &usize| self.callers[index].last_end();
        let index = (0..CALLERS).min_by_key(last_end).expect("there are some");
        self.callers[index].clear();
        self.forget(1 + index);
        self.keys[index].store(caller, Ordering::Relaxed);
        index
    }

    /// Updates `bit`, which says whether `period` is regular. Reading first avoids a needless write. If two
    /// callers write at once, one change may be lost until its caller's next long gap.
    fn judge(&self, bit: usize, period: &Period<P>) {
        let before = self.regular.load(Ordering::Relaxed);
        let after = if period.is_regular() {
            before | 1 << bit
        } else {
            before & !(1 << bit)
        };
        if after != before {
            self.regular.store(after, Ordering::Relaxed);
        }
    }

    fn forget(&self, bit: usize) {
        let before = self.regular.load(Ordering::Relaxed);
        if before & 1 << bit != 0 {
            self.regular.store(before & !(1 << bit), Ordering::Relaxed);
        }
    }

    /// How many ticks to spin for the next loop: enough for recent short gaps, or few if there were none.
    pub(crate) fn spin(&self, budget: u64) -> u64 {
        if self.short_share.load(Ordering::Relaxed) < SHORT_SHARE_TO_SPIN {
            return budget / 32;
        }
        let bound = self.short_bound.load(Ordering::Relaxed);
        bound.saturating_mul(2).clamp(budget / 2, budget)
    }

    /// Whether a worker that is woken now would be awake for the next loop: it still spins then, or has woken again.
    pub(crate) fn next_is_foreseeable(&self) -> bool {
        self.short_share.load(Ordering::Relaxed) >= SHORT_SHARE_TO_SPIN || self.are_regular()
    }

    /// Whether some caller's long gaps have been regular lately.
    pub(crate) fn are_regular(&self) -> bool {
        self.regular.load(Ordering::Relaxed) != 0
    }

    /// Returns the earliest window in which a loop is expected. `most` gives a window's greatest width from its
    /// mean gap and the number of regular periods. Forgets periods that are over.
    pub(crate) fn expected(&self, view: &View, most: impl Fn(u64, u64) -> u64) -> Option<Window> {
        let regular = self.regular.load(Ordering::Relaxed);
        let count = u64::from(regular.count_ones());
        let window = |bit: usize| {
            if regular & 1 << bit == 0 {
                return None;
            }
            let period = match bit {
                0 => &self.pool,
                bit => &*self.callers[bit - 1],
            };
            let window = period.expected(view, |mean| most(mean, count));
            if window.is_none() {
                self.forget(bit);
            }
            window
        };
        let windows = (0..=CALLERS).filter_map(window);
        windows.min_by_key(|window| window.from)
    }
}

/// The ticks from the end of the last loop to the start of this one. `None` for the first loop, or if loops
/// overlap.
#[inline]
fn gap(last_end: u64, started: u64) -> Option<u64> {
    (last_end != 0 && started > last_end).then(|| started - last_end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_platform::Native;

    const BUDGET: u64 = 100;
    const ME: usize = 7;

    /// Records loops of 50 ticks with `gaps` between them. Also returns the end of the last loop.
    fn after(gaps: &[u64]) -> (InterArrival<Native>, u64) {
        let seen = InterArrival::new();
        let mut now = 1_000;
        seen.loop_ended(ME, now, now + 50, BUDGET);
        for gap in gaps {
            now += 50 + gap;
            seen.loop_ended(ME, now, now + 50, BUDGET);
        }
        (seen, now + 50)
    }

    /// The earliest window as seen at `now`, at most `most` ticks wide.
    fn expected(gaps: &InterArrival<Native>, now: u64, margin: u64, most: u64) -> Option<Window> {
        let helped = false;
        gaps.expected(
            &View {
                now,
                helped,
                margin,
            },
            |_, _| most,
        )
    }

    #[test]
    fn a_regular_gap_is_expected_when_it_comes() {
        let (gaps, end) = after(&[10_000; 12]);
        let window = expected(&gaps, end, 10, 2_000).expect("regular");
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
        let window = expected(&gaps, end, 200, 4_000).expect("regular");
        assert!(window.from <= end + 10_000, "{window:?}");
    }

    #[test]
    fn wild_gaps_are_not_expected() {
        let (gaps, end) = after(&[1_000, 90_000, 4_000, 40_000, 700, 12_000]);
        assert_eq!(expected(&gaps, end, 10, 2_000), None);
        assert!(!gaps.are_regular());
    }

    #[test]
    fn bursts_do_not_disturb_the_period_of_their_pauses() {
        let frame = [20, 20, 20, 10_000];
        let (gaps, end) = after(&frame.repeat(12));
        let window = expected(&gaps, end, 10, 2_000).expect("regular");
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
        let window = expected(&gaps, now, 10, 2_000).expect("regular");
        assert!(window.from > now && window.to <= end + 22_000, "{window:?}");
    }

    #[test]
    fn a_period_that_has_missed_three_times_is_over() {
        let (gaps, end) = after(&[10_000; 12]);
        assert!(gaps.are_regular());
        assert_eq!(expected(&gaps, end + 45_000, 10, 2_000), None);
        assert!(!gaps.are_regular(), "the period is forgotten");
    }

    #[test]
    fn a_worker_that_helped_with_the_due_loop_expects_the_next() {
        let (gaps, end) = after(&[10_000; 12]);
        let now = end + 10_040;
        let (helped, margin) = (true, 10);
        let view = View {
            now,
            helped,
            margin,
        };
        let window = gaps.expected(&view, |_, _| 2_000).expect("regular");
        assert!(
            window.from <= now + 10_000 && now + 10_000 <= window.to,
            "{window:?}"
        );
        // The worker helped before this period predicts a loop, so it was a loop of another caller.
        let early = View { now: end, ..view };
        let window = gaps.expected(&early, |_, _| 2_000).expect("regular");
        assert!(window.from <= end + 10_000, "{window:?}");
    }

    /// Records the calls of callers with these phases and periods, in order of time.
    fn callers(periods: &[(u64, u64)], until: u64) -> InterArrival<Native> {
        let gaps = InterArrival::new();
        let mut calls: Vec<_> = periods
            .iter()
            .enumerate()
            .flat_map(|(caller, &(phase, period))| {
                (0..)
                    .map(move |call| (phase + call * period, caller))
                    .take_while(move |call| call.0 < until)
            })
            .collect();
        calls.sort_unstable();
        for (start, caller) in calls {
            gaps.loop_ended(1 + caller, start, start + 50, BUDGET);
        }
        gaps
    }

    #[test]
    fn callers_that_interleave_are_expected_each_at_its_time() {
        let periods = [(1_000, 10_000), (3_000, 10_500), (8_300, 9_700)];
        let until = 200_000;
        let gaps = callers(&periods, until);
        // Right after the last call, the next call comes from the caller that is due first.
        let next = |&(phase, period): &(u64, u64)| phase + (until - phase).next_multiple_of(period);
        let first = periods.iter().map(next).min().unwrap();
        let window = expected(&gaps, until, 200, 3_000).expect("regular");
        assert!(
            window.from <= first && first <= window.to,
            "{window:?} {first}"
        );
    }

    #[test]
    fn an_irregular_caller_does_not_spoil_the_period_of_another() {
        let gaps = InterArrival::<Native>::new();
        let mut wild = 1_500;
        for call in 1..=20 {
            gaps.loop_ended(1, call * 10_000, call * 10_000 + 50, BUDGET);
            for step in [1_200, 2_100, 400 * (call % 7)] {
                wild += step;
                if wild < call * 10_000 + 9_000 {
                    gaps.loop_ended(2, wild.max(call * 10_000 + 60), wild + 70, BUDGET);
                }
            }
            wild = (call + 1) * 10_000 + 300 * (call % 5);
        }
        let window = expected(&gaps, 200_100, 200, 3_000).expect("the first caller's");
        assert!(window.from <= 210_050 && 210_000 <= window.to, "{window:?}");
    }

    #[test]
    fn callers_beyond_the_table_replace_the_oldest() {
        let gaps = InterArrival::<Native>::new();
        let mut now = 1_000;
        for round in 0..6 {
            for caller in 1..=(CALLERS + 4) {
                now += 1_000;
                gaps.loop_ended(caller, now, now + 50, BUDGET);
                // Caller 1 calls often enough to stay.
                gaps.loop_ended(1, now + 500, now + 550, BUDGET);
            }
            assert!(
                gaps.keys
                    .iter()
                    .any(|key| Atomic::load(key, Ordering::Relaxed) == 1),
                "{round}"
            );
        }
        assert!(gaps.are_regular());
    }
}
