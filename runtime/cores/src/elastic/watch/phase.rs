//! When the kernel's periods of a CPU quota begin.
//!
//! The kernel counts its periods. If the count has changed between two looks, a period has begun between them. Since
//! all periods are equally long, the beginnings of the other periods follow. The beginning lies in the interval between
//! the two looks. In a later period, a look in the middle of that interval halves the interval.
//! So after some periods the beginning is known to a five-hundredth of a period. A group that rests has no periods: the
//! first period after a rest may begin at any time.
//!
//! If the kernel counts no periods, or has counted none yet, `Phase` makes up shorter periods ([`SHORTER`]).

use std::time::Duration;

/// The beginning is looked for until it is known to the period's length divided by this number.
const EXACT: u32 = 500;
/// The kernel's period is as long as this many made-up periods.
const SHORTER: u32 = 10;

/// The period that has begun last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Phase {
    /// The period has begun between `earliest` and `latest`.
    earliest: Duration,
    latest: Duration,
    length: Duration,
    /// Whether this is a period of the kernel. Otherwise it is made up.
    is_known: bool,
}

impl Phase {
    /// Makes up a period. The kernel's periods have the length `period`.
    pub(super) fn make_up(&mut self, now: Duration, period: Duration) {
        *self = Self {
            earliest: now,
            latest: now,
            length: period / SHORTER,
            is_known: false,
        };
    }

    pub(super) fn length(&self) -> Duration {
        self.length
    }

    /// The latest time at which the period may have begun.
    pub(super) fn begun(&self) -> Duration {
        self.latest
    }

    /// The latest time at which the period may end.
    pub(super) fn end(&self) -> Duration {
        self.latest + self.length
    }

    pub(super) fn is_known(&self) -> bool {
        self.is_known
    }

    /// `counted` has the kernel's counts at the looks `last` and `now`. If a period has begun between them, returns
    /// the earliest time at which it may have begun.
    pub(super) fn follow(
        &mut self,
        last: Duration,
        now: Duration,
        counted: Option<(u64, u64)>,
        period: Duration,
    ) -> Option<Duration> {
        if let Some((before, after)) = counted.filter(|(before, after)| before < after) {
            // This is the interval in which the last of these periods has begun.
            let (mut earliest, mut latest) = (last.max(now.saturating_sub(period)), now);
            if self.is_known && self.length == period {
                let passed = period * u32::try_from(after - before).unwrap_or(1);
                let expected = [self.earliest + passed, self.latest + passed];
                // If the group has rested, the expected interval may not overlap.
                if expected[0] <= latest && earliest <= expected[1] {
                    (earliest, latest) = (earliest.max(expected[0]), latest.min(expected[1]));
                }
            }
            *self = Self {
                earliest,
                latest,
                length: period,
                is_known: true,
            };
            return Some(earliest);
        }
        let patience = period / SHORTER;
        let is_over = now >= self.end();
        if self.is_known {
            // The group may rest, or have another period.
            let is_late = now >= self.end() + patience || self.length != period;
            is_late.then(|| self.make_up(now, period))?;
        } else if is_over {
            let follows = now < self.end() + patience;
            self.make_up(if follows { self.end() } else { now }, period);
        } else {
            return None;
        }
        Some(self.latest)
    }

    /// Returns when to look next. `wanted` is when a look is due for other reasons.
    pub(super) fn next_look(&self, now: Duration, wanted: Duration) -> Duration {
        let exact = self.length / EXACT;
        let (first, last) = (self.earliest + self.length, self.end());
        let middle = first + (last - first) / 2;
        let boundary = if last - first > exact && now < middle {
            middle
        } else if now < last {
            // The kernel's own clock may be a little late.
            last + exact / 2
        } else {
            now + 4 * exact
        };
        wanted.min(boundary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PERIOD: Duration = Duration::from_millis(100);

    /// Looks as `next_look` says, at least each 5 ms, up to `late` microseconds late, at periods that begin at
    /// `phase`. Returns how precisely the beginning is known in the end.
    fn known_after(periods: u32, phase: u64, late: u64) -> Duration {
        let mut rng = fastrand::Rng::with_seed(phase);
        let count = |now: Duration| (now.as_micros() as u64 + 100_000 - phase) / 100_000;
        let mut it = Phase::default();
        it.make_up(Duration::ZERO, PERIOD);
        let mut last = Duration::ZERO;
        while last < PERIOD * periods {
            let next = it.next_look(last, last + Duration::from_millis(5));
            let now = next + Duration::from_micros(rng.u64(..=late));
            let began = it.follow(last, now, Some((count(last), count(now))), PERIOD);
            if it.is_known() {
                let true_begin = Duration::from_micros(phase) + PERIOD * (count(now) as u32 - 1);
                assert!(it.earliest <= true_begin && true_begin <= it.latest);
                assert!(began.is_none_or(|began| began <= true_begin));
            }
            last = now;
        }
        it.latest - it.earliest
    }

    proptest! {
        /// This holds whenever the periods begin, and however late the looks are.
        #[test]
        fn the_beginning_is_found(phase in 0_u64..100_000, late in prop_oneof![0_u64..300, 0_u64..20_000]) {
            prop_assert!(known_after(20, phase, late) <= Duration::from_millis(5).max(Duration::from_micros(late)));
            if late < 100 {
                prop_assert!(known_after(20, phase, late) <= PERIOD / EXACT + Duration::from_micros(late));
            }
        }
    }

    #[test]
    fn after_a_rest_periods_begin_anew() {
        let ms = Duration::from_millis;
        let mut it = Phase::default();
        it.make_up(ms(0), PERIOD);
        assert_eq!(it.follow(ms(3), ms(4), Some((0, 1)), PERIOD), Some(ms(3)));
        assert_eq!(it.follow(ms(4), ms(103), Some((1, 1)), PERIOD), None);
        // The beginning is late by more than a tenth, so a period is made up.
        assert_eq!(
            it.follow(ms(103), ms(115), Some((1, 1)), PERIOD),
            Some(ms(115))
        );
        assert!(!it.is_known() && it.length() == ms(10));
        assert_eq!(it.follow(ms(115), ms(124), Some((1, 1)), PERIOD), None);
        assert_eq!(
            it.follow(ms(124), ms(126), Some((1, 1)), PERIOD),
            Some(ms(125))
        );
        // The last look was long ago.
        assert_eq!(
            it.follow(ms(126), ms(170), Some((1, 1)), PERIOD),
            Some(ms(170))
        );
        assert_eq!(
            it.follow(ms(170), ms(172), Some((1, 2)), PERIOD),
            Some(ms(170))
        );
        // After a rest, the earlier beginning does not help.
        assert_eq!(
            it.follow(ms(172), ms(240), Some((2, 3)), PERIOD),
            Some(ms(172))
        );
        assert_eq!(it.end(), ms(340));
        // The quota has another period.
        assert_eq!(it.follow(ms(240), ms(241), None, 2 * PERIOD), Some(ms(241)));
        assert_eq!(it.length(), ms(20));
    }
}
