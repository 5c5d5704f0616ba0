//! How long a program runs, and which part of its run counts.

use crate::measure::steady::{BATCHES, margin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A run is steady if the margin (half of the 95% interval, divided by the mean) of a step's mean time is at most this.
pub(super) const STEADY: f64 = 0.005;

/// How often a run may be doubled.
const DOUBLINGS: u32 = 5;
/// A run is not doubled beyond this number of barriers.
const MOST_BARRIERS: usize = 50_000;

/// The number of steps of a program, known before the run or decided during it.
#[derive(Debug)]
pub(super) struct Horizon(AtomicUsize);

impl Horizon {
    pub(super) fn after(steps: usize) -> Arc<Self> {
        Arc::new(Self(AtomicUsize::new(steps)))
    }

    pub(super) fn steps(&self) -> usize {
        // Relaxed: rank 0 (a thread of the team) decides before it arrives at the barrier of the step that becomes the
        // last. So all ranks read the same number after that barrier. A rank that reads earlier goes on, whichever
        // number it reads.
        self.0.load(Ordering::Relaxed)
    }

    fn end_after(&self, steps: usize) {
        self.0.store(steps, Ordering::Relaxed);
    }
}

/// The part of a run that counts.
#[derive(Clone, Debug)]
pub(super) enum Extent {
    /// Everything after `skipped` barriers.
    Rest { skipped: usize },
    /// The second half of a run that is doubled until this half is steady, or a whole program that ends before.
    Steady(UntilSteady),
}

#[derive(Clone, Debug)]
pub(super) struct UntilSteady {
    /// Barriers before the first step.
    pub(super) prelude: usize,
    /// Barriers in a step.
    phases: usize,
    /// The number of steps after which the run is first checked. After `most` steps the run ends in any case.
    first: usize,
    most: usize,
    /// How often the run is doubled again once it could end, to check the earlier result.
    further: u32,
    pub(super) horizon: Arc<Horizon>,
}

impl UntilSteady {
    /// A run of equal steps without a fixed end. At least `counted` steps count, and as many are skipped before.
    pub(super) fn endless(counted: usize) -> Self {
        let first = 2 * counted.next_multiple_of(BATCHES);
        let longer = |doublings: &u32| first << doublings <= MOST_BARRIERS;
        let doublings = (1..=DOUBLINGS).take_while(longer).last().unwrap_or(0);
        Self {
            prelude: 0,
            phases: 1,
            first,
            most: first << doublings,
            further: 0,
            horizon: Horizon::after(usize::MAX),
        }
    }

    /// A program of `steps` steps, with `phases` phases each.
    pub(super) fn program(prelude: usize, phases: usize, steps: usize, counted: usize) -> Self {
        Self {
            prelude,
            phases,
            first: 2 * counted.next_multiple_of(BATCHES),
            most: steps,
            further: 0,
            horizon: Horizon::after(steps),
        }
    }

    /// Doubles the run `further` times more.
    pub(super) fn doubled(self, further: u32) -> Self {
        Self { further, ..self }
    }

    /// The number of the barrier at the end of `steps` steps.
    fn barrier(&self, steps: usize) -> usize {
        self.prelude + steps * self.phases
    }

    /// Whether a half that may count begins or ends at this barrier.
    pub(super) fn is_mark(&self, barrier: usize) -> bool {
        let steps = barrier.saturating_sub(self.prelude) / self.phases;
        let mut marks = std::iter::successors(Some(self.first / 2), |mark| Some(mark * 2));
        let mark = marks.find(|&mark| mark >= steps);
        mark.is_some_and(|mark| self.barrier(mark) == barrier)
    }

    /// Checks a run that has passed these barriers. If the run is steady or too long, returns its second half, and ends
    /// the run after the next step, which other ranks may have begun.
    pub(super) fn look(&self, passed: &[u64]) -> Option<Half> {
        let end = passed.len() - 1;
        let steps = (end - self.prelude) / self.phases;
        let judged = steps >> self.further;
        if judged < self.first || steps >= self.horizon.steps() {
            return None;
        }
        if self.margin(passed, judged)? > STEADY && judged < self.most {
            return None;
        }
        self.horizon.end_after(steps + 1);
        Some(Half {
            begin: self.barrier(steps / 2),
            margin: self.margin(passed, steps)?,
        })
    }

    /// Returns the margin of a step's mean time in the second half of `steps` steps.
    fn margin(&self, passed: &[u64], steps: usize) -> Option<f64> {
        let half = &passed[self.barrier(steps / 2)..=self.barrier(steps)];
        let marks: Vec<u64> = half.iter().step_by(self.phases).copied().collect();
        let times: Vec<f64> = marks
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64)
            .collect();
        margin(&times)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Half {
    /// The barrier at which the half begins.
    pub(super) begin: usize,
    /// The margin of a step's mean time.
    pub(super) margin: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the half that counts, and the number of steps, of a run with phases of `step` ticks.
    fn run(extent: &UntilSteady, step: impl Fn(usize) -> u64) -> (Option<Half>, usize) {
        let mut passed: Vec<u64> = (0..=extent.prelude as u64).collect();
        for at in 0..extent.horizon.steps() {
            for _ in 0..extent.phases {
                passed.push(passed[passed.len() - 1] + step(at));
                let half = (extent.is_mark(passed.len() - 1)).then(|| extent.look(&passed));
                if let Some(half) = half.flatten() {
                    return (Some(half), extent.horizon.steps());
                }
            }
        }
        (None, extent.horizon.steps())
    }

    #[test]
    fn a_steady_run_ends_at_the_first_look() {
        let half = Half {
            begin: 1 + 2 * 8,
            margin: 0.0,
        };
        let extent = UntilSteady::program(1, 2, 1_000, 8);
        assert_eq!(run(&extent, |_| 100), (Some(half), 17));
    }

    #[test]
    fn a_run_that_settles_late_is_doubled_until_its_second_half_is_steady() {
        // The run settles within the second half of 16 steps. The second half of 32 steps is steady.
        let half = Half {
            begin: 16,
            margin: 0.0,
        };
        let late = |at| if at < 12 { 150 } else { 100 };
        assert_eq!(run(&UntilSteady::endless(8), late), (Some(half), 33));
    }

    #[test]
    fn a_run_is_doubled_again_from_where_it_would_have_ended() {
        let late = |at| if at < 12 { 150 } else { 100 };
        for further in 0..=3 {
            let half = Half {
                begin: 16 << further,
                margin: 0.0,
            };
            let extent = UntilSteady::endless(8).doubled(further);
            assert_eq!(run(&extent, late), (Some(half), (32 << further) + 1));
        }
        // The length is still bounded, and a program does not run beyond its own end.
        let (half, steps) = run(&UntilSteady::endless(8).doubled(1), |at| 100 + at as u64);
        assert!(half.is_some());
        assert_eq!(steps, (32 << DOUBLINGS) + 1);
        let whole = UntilSteady::program(0, 1, 40, 8).doubled(2);
        assert_eq!(run(&whole, |_| 100), (None, 40));
    }

    #[test]
    fn a_run_that_never_settles_ends_and_says_so() {
        let (half, steps) = run(&UntilSteady::endless(8), |at| 100 + at as u64);
        assert!(half.unwrap().margin > STEADY, "{half:?}");
        assert_eq!(steps, (16 << DOUBLINGS) + 1);
        let (half, _) = run(&UntilSteady::endless(MOST_BARRIERS), |_| 100);
        assert_eq!(half.unwrap().begin, MOST_BARRIERS);
    }

    #[test]
    fn a_program_that_ends_before_is_run_whole() {
        let extent = UntilSteady::program(2, 3, 100, 8);
        assert_eq!(run(&extent, |at| 100 + at as u64), (None, 100));
        assert_eq!(run(&UntilSteady::program(2, 3, 10, 8), |_| 100), (None, 10));
    }
}
