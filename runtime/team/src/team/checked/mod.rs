//! The protocol under loom, with two workers and up to three ranks, and whole teams under shuttle.
//! Each rank continues from where it stopped, on one worker at a time. No rank passes a barrier
//! before all have arrived. A worker finds each rank that is put back. The run ends.

mod few;
mod whole;

use super::{Site, Step, Turn};
use manycore_platform::{Ordering, Platform};
use std::sync::atomic::AtomicU32;

/// The steps that each rank has made, in the standard library's atomics: counting is no step of the
/// model.
struct Books {
    steps: Vec<AtomicU32>,
    /// Steps of a rank in an episode (from one barrier to the next).
    per_episode: u32,
    episodes: u32,
}

impl Books {
    fn new(ranks: usize, per_episode: u32, episodes: u32) -> Self {
        Self {
            steps: (0..ranks).map(|_| AtomicU32::new(0)).collect(),
            per_episode,
            episodes,
        }
    }

    /// The next step of a rank, from 0. All ranks must have arrived at each barrier that this rank has passed.
    fn step(&self, rank: usize) -> u32 {
        let step = self.steps[rank].fetch_add(1, Ordering::Relaxed);
        let passed = step / self.per_episode * self.per_episode;
        for (other, steps) in self.steps.iter().enumerate() {
            let steps = steps.load(Ordering::Relaxed);
            assert!(steps >= passed, "{rank} at step {step}, {other} at {steps}");
        }
        step
    }

    /// The result of the step.
    fn outcome(&self, step: u32) -> Step {
        if (step + 1) % self.per_episode != 0 {
            Step::Preempted
        } else if step + 1 == self.per_episode * self.episodes {
            Step::Done
        } else {
            Step::Arrived(Site::named("episode"))
        }
    }

    fn all_ran(&self) {
        for steps in &self.steps {
            assert_eq!(
                steps.load(Ordering::Relaxed),
                self.per_episode * self.episodes
            );
        }
    }
}

/// A rank that counts its steps in `books` and calls `also` at each step.
fn walker<'a, P: Platform>(
    books: &'a Books,
    also: impl Fn(&Turn<'_, P>, u32) + Send + 'a,
) -> impl FnMut(&Turn<'_, P>) -> Step + Send + 'a {
    move |turn| {
        let step = books.step(turn.rank());
        also(turn, step);
        books.outcome(step)
    }
}
