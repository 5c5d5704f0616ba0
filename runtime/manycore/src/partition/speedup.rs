//! Whether a loop is done sooner when it is shared.

/// The inverse of the speedup of a loop: the time of its posted runs over the time that the caller
/// would have taken alone. It decides whether the next runs are shared.
///
/// Sharing may well lose: iterations that write the same lines, helpers that wait
/// for a core. The remembered time of an iteration does not tell, since a loop that
/// fights over its lines is slow *because* it is shared. So what counts is what came
/// of it: a loop whose posted runs took as long as one thread alone stays with the
/// caller, for a number of runs that doubles each time it is tried again in vain.
///
/// One word, read and written without regard to others who do: an estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Speedup {
    /// The ratio, averaged over some eight posted runs.
    ratio: f32,
    /// Runs to stay with the caller before the next attempt.
    alone: u16,
    /// How often it was tried in vain, in a row.
    failures: u8,
    /// Posted runs since the time of an iteration was measured by a thread that runs
    /// alone; [`DUE`]: it is to be measured.
    since: u8,
}

/// What is hoped of a loop that was never posted; and of one to be tried again.
const HOPE: f32 = 0.5;
const DOUBT: f32 = 0.85;
/// From this ratio on sharing does not pay.
const VAIN: f32 = 0.95;
/// A single run counts no more: one helper that the system has put aside for a
/// millisecond says little.
const WORST: f32 = 8.0;
/// Runs with the caller after the first failure, and how often they double.
const FIRST_ALONE: u16 = 32;
const DOUBLINGS: u8 = 7;
/// Posted runs after which the time of an iteration is measured again.
const DUE: u8 = 64;

impl Speedup {
    pub(crate) fn new() -> Self {
        Self {
            ratio: HOPE,
            alone: 0,
            failures: 0,
            since: 0,
        }
    }

    pub(crate) fn bits(self) -> u64 {
        u64::from(self.ratio.to_bits())
            | u64::from(self.alone) << 32
            | u64::from(self.failures) << 48
            | u64::from(self.since) << 56
    }

    pub(crate) fn of_bits(bits: u64) -> Self {
        Self {
            ratio: f32::from_bits(bits as u32),
            alone: (bits >> 32) as u16,
            failures: (bits >> 48) as u8,
            since: (bits >> 56) as u8,
        }
    }

    /// Whether this run is the caller's alone.
    #[inline]
    pub(crate) fn is_alone(self) -> bool {
        self.alone > 0
    }

    /// Whether the time of an iteration must be measured before it is relied on.
    #[inline]
    pub(crate) fn is_due(self) -> bool {
        self.since >= DUE
    }

    /// After a run that was the caller's alone.
    pub(crate) fn stayed(self) -> Self {
        Self {
            alone: self.alone - 1,
            ratio: DOUBT,
            ..self
        }
    }

    /// After a posted run that took `ratio` of the caller's time alone. If that does not
    /// pay, `most` runs are the caller's before the next attempt.
    #[inline]
    pub(crate) fn posted(self, ratio: f32, most: u16) -> Self {
        let mean = self.ratio + (ratio.min(WORST) - self.ratio) / 8.0;
        let since = self.since.saturating_add(1);
        if mean < VAIN {
            return Self {
                ratio: mean,
                failures: if mean < DOUBT { 0 } else { self.failures },
                since,
                ..self
            };
        }
        Self {
            ratio: DOUBT,
            alone: (FIRST_ALONE << self.failures).min(most),
            failures: (self.failures + 1).min(DOUBLINGS),
            since,
        }
    }

    /// The time of an iteration was taken from a run that was shared.
    pub(crate) fn unmeasured(self) -> Self {
        Self { since: DUE, ..self }
    }

    /// It was measured.
    pub(crate) fn measured(self) -> Self {
        Self { since: 0, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(ratios: &[f32]) -> Speedup {
        ratios.iter().fold(Speedup::new(), |speedup, &ratio| {
            speedup.posted(ratio, u16::MAX)
        })
    }

    #[test]
    fn a_word_holds_all_of_it() {
        let speedup = after(&[1.5, 0.7, 8.0]).unmeasured();
        assert_eq!(Speedup::of_bits(speedup.bits()), speedup);
    }

    #[test]
    fn a_loop_that_gains_stays_shared() {
        assert!(!after(&[0.6; 100]).is_alone());
        let once_interrupted = after(&[0.5, 0.5, 0.5, 3.0, 0.5, 0.5]);
        assert!(!once_interrupted.is_alone());
    }

    #[test]
    fn a_loop_that_loses_stays_with_its_caller() {
        assert!(after(&[3.0; 2]).is_alone());
        assert!(after(&[1.1; 12]).is_alone());
    }

    #[test]
    fn it_is_tried_again_ever_more_rarely() {
        let mut speedup = Speedup::new();
        let mut waits = Vec::new();
        for _ in 0..10 {
            while !speedup.is_alone() {
                speedup = speedup.posted(2.0, u16::MAX);
            }
            let mut runs = 0;
            while speedup.is_alone() {
                speedup = speedup.stayed();
                runs += 1;
            }
            waits.push(runs);
        }
        assert_eq!(waits[..4], [32, 64, 128, 256]);
        assert_eq!(waits[9], 4096);
        // Once it gains, all is forgotten.
        for _ in 0..20 {
            speedup = speedup.posted(0.6, u16::MAX);
        }
        while !speedup.is_alone() {
            speedup = speedup.posted(2.0, u16::MAX);
        }
        assert_eq!(speedup.alone, FIRST_ALONE);
    }

    #[test]
    fn the_time_of_an_iteration_is_measured_now_and_then() {
        assert!(Speedup::new().unmeasured().is_due());
        assert!(!Speedup::new().unmeasured().measured().is_due());
        assert!(after(&[0.5; 64]).is_due());
    }
}
