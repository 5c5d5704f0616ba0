//! Random programs. A seed and a number of threads determine the program.

use crate::mixtures::step::{Leaves, Skew, Step, Through};
use fastrand::Rng;

manycore_programs::by_name! {
    /// The ingredients of a program.
    pub enum Kind: "no kind of program is called", "there are" {
        /// Loops of all lengths, also empty ones.
        Loops = "loops",
        /// Joins and scopes, deep and shallow.
        Forks = "forks",
        /// Spawns, broadcasts and installs.
        Calls = "calls",
        /// One caller that repeats a loop, with other calls between.
        Rhythm = "rhythm",
        /// All calls.
        All = "all",
    }
}

/// A program: the steps of each caller.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    pub kind: Kind,
    pub callers: Vec<Vec<Step>>,
    /// The number of leaves in all steps.
    pub leaves: usize,
}

/// The number of steps of a caller.
const STEPS: usize = 24;
/// The greatest depth of steps within steps.
const DEEPEST: u32 = 2;

/// Makes the program of a seed for a pool of `threads` threads.
pub fn program(seed: u64, threads: usize) -> Program {
    let kind = Kind::ALL[(seed % Kind::ALL.len() as u64) as usize];
    let mut maker = Maker {
        random: Rng::with_seed(seed),
        kind,
        threads,
        alone: false,
        leaves: 0,
    };
    let callers = match kind {
        Kind::Rhythm => 1,
        _ => maker.random.usize(1..=4),
    };
    maker.alone = callers == 1;
    let callers = (0..callers).map(|_| maker.caller()).collect();
    Program {
        kind,
        callers,
        leaves: maker.leaves,
    }
}

/// The time between two calls.
#[derive(Clone, Copy)]
enum Pace {
    Bursts,
    Sleeps,
    Computes,
}

struct Maker {
    random: Rng,
    kind: Kind,
    threads: usize,
    /// Whether there is one caller. Only then two jobs at once are certain to get a thread each.
    alone: bool,
    leaves: usize,
}

impl Maker {
    fn caller(&mut self) -> Vec<Step> {
        if self.kind == Kind::Rhythm {
            return self.rhythm();
        }
        let pace = [Pace::Bursts, Pace::Sleeps, Pace::Computes][self.random.usize(0..3)];
        let mut steps = Vec::new();
        for _ in 0..STEPS {
            let (step, pause) = (self.step(), self.random.f64() < 0.4);
            steps.push(step);
            match pace {
                Pace::Sleeps if pause => {
                    let us = self.between(20.0, 5_000.0) as u32;
                    steps.push(Step::Sleep { us });
                }
                Pace::Computes if pause => {
                    let us = self.between(5.0, 500.0) as u32;
                    steps.push(Step::Compute { us });
                }
                Pace::Bursts | Pace::Sleeps | Pace::Computes => (),
            }
        }
        steps
    }

    /// A loop every few milliseconds, and another call at a random time before the next loop.
    fn rhythm(&mut self) -> Vec<Step> {
        let period_us = self.between(500.0, 8_000.0) as u32;
        let call = self.draw(256);
        let mut steps = Vec::new();
        for _ in 0..STEPS / 2 {
            // The same body and length, but separate leaves, each counted once.
            let leaves = Leaves {
                first: self.take(call.n),
                ..call
            };
            let before = self.random.u32(0..period_us);
            steps.push(Step::Loop(leaves));
            steps.push(Step::Sleep { us: before });
            let step = match self.random.bool() {
                true => self.meet(),
                false => self.step_of(Kind::All, 0),
            };
            steps.push(step);
            steps.push(Step::Sleep {
                us: period_us - before,
            });
        }
        steps
    }

    fn step(&mut self) -> Step {
        self.step_of(self.kind, 0)
    }

    /// Draws a step at depth `depth`.
    fn step_of(&mut self, kind: Kind, depth: u32) -> Step {
        // In any runtime, a pool's thread that blocks on a channel could keep the awaited job from
        // running.
        let outside = depth == 0;
        match kind {
            Kind::Loops if depth < DEEPEST && self.random.f64() < 0.1 => {
                Step::LoopOf(self.several(Kind::Loops, depth))
            }
            Kind::Loops => Step::Loop(self.leaves(4_096)),
            Kind::Forks => match self.random.u32(0..6) {
                0 if depth < DEEPEST => {
                    let both = [0; 2].map(|_| self.step_of(Kind::Forks, depth + 1));
                    Step::Join(Box::new(both))
                }
                1 if depth < DEEPEST => Step::ScopeOf(self.several(Kind::Forks, depth)),
                0 | 2 => Step::Chain(self.leaves(128)),
                1 | 3 => Step::Scope(self.leaves(64)),
                4 => Step::Tree(self.leaves(16)),
                _ => Step::Tree(self.leaves(1_024)),
            },
            Kind::Calls | Kind::Rhythm => match self.random.u32(0..4) {
                0 if outside => Step::Spawn(self.leaves(16)),
                1 => self.broadcast(),
                2 if outside && self.alone => self.meet(),
                _ if depth < DEEPEST => Step::Install(self.several(Kind::All, depth)),
                _ => Step::Loop(self.leaves(64)),
            },
            Kind::All => {
                let kind = [Kind::Loops, Kind::Forks, Kind::Calls][self.random.usize(0..3)];
                self.step_of(kind, depth)
            }
        }
    }

    fn several(&mut self, kind: Kind, depth: u32) -> Vec<Step> {
        let n = self.random.usize(1..=4);
        (0..n).map(|_| self.step_of(kind, depth + 1)).collect()
    }

    fn meet(&mut self) -> Step {
        let through = [Through::Join, Through::Scope, Through::Spawn];
        Step::Meet(through[self.random.usize(0..through.len())])
    }

    fn broadcast(&mut self) -> Step {
        Step::Broadcast(Leaves {
            first: self.take(self.threads),
            n: self.threads,
            mean: self.between(1.0, 20_000.0) as u32,
            skew: Skew::Even,
        })
    }

    /// Draws new leaves, at most `most`.
    fn leaves(&mut self, most: usize) -> Leaves {
        let drawn = self.draw(most);
        Leaves {
            first: self.take(drawn.n),
            ..drawn
        }
    }

    /// Draws leaves of 1 ns to 2 ms in total, one time in ten none. Lengths and totals of every
    /// magnitude have equal probability.
    fn draw(&mut self, most: usize) -> Leaves {
        let n = match self.random.u32(0..10) {
            0 => 0,
            _ => self.between(1.0, most as f64 + 1.0) as usize,
        };
        let total = self.between(1.0, 2e6);
        let skews = [Skew::Even, Skew::Rising, Skew::Few, Skew::Last];
        Leaves {
            first: 0,
            n,
            mean: (total / n.max(1) as f64) as u32,
            skew: skews[self.random.usize(0..skews.len())],
        }
    }

    fn take(&mut self, n: usize) -> usize {
        self.leaves += n;
        self.leaves - n
    }

    /// Draws a number from `low` to below `high`. Every magnitude has equal probability.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.random.f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_program() {
        for seed in 0..20 {
            assert_eq!(program(seed, 2), program(seed, 2));
            assert_ne!(program(seed, 2), program(seed + 5, 2));
        }
    }

    #[test]
    fn programs_have_every_call_and_none_that_might_not_end() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let program = program(seed, 2);
            for step in program.callers.iter().flatten() {
                seen.insert(step.name());
                let meets = matches!(step, Step::Meet(_));
                assert!(!meets || program.callers.len() == 1, "seed {seed}");
                assert!(!waits_inside(step), "seed {seed}");
            }
        }
        let all = [
            "broadcast",
            "gap",
            "install",
            "join",
            "loop",
            "meet",
            "scope",
            "spawn",
        ];
        assert!(seen.into_iter().eq(all));
    }

    /// Whether a thread of the pool would wait for jobs that are not its own.
    fn waits_inside(step: &Step) -> bool {
        let waits = |steps: &[Step]| {
            let one =
                |step: &Step| matches!(step, Step::Spawn(_) | Step::Meet(_)) || waits_inside(step);
            steps.iter().any(one)
        };
        match step {
            Step::LoopOf(steps) | Step::ScopeOf(steps) | Step::Install(steps) => waits(steps),
            Step::Join(both) => waits(&both[..]),
            _ => false,
        }
    }
}
