//! Random programs, by [`Mixture`].

use super::program::{Program, Shape, Step, Steps, Work};
use fastrand::Rng;
use std::sync::Arc;

/// The kinds of steps in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mixture {
    /// Loops of all lengths, with gaps.
    Loops,
    /// Loops with first iterations that do not resemble the last iterations.
    Skewed,
    /// Loops that often have nothing to do, and then have much work.
    Emptied,
    /// Loops with a rhythm, and joins between two loops.
    RhythmAndJoins,
    /// Loops with a rhythm, and spawned jobs between two loops.
    RhythmAndSpawns,
    /// Loops with a rhythm, and any steps between two loops.
    RhythmAndAll,
    /// Trees of joins.
    Joins,
    /// Scopes, detached jobs, broadcasts and installed calls.
    Jobs,
    /// Jobs that call loops and joins in turn.
    Nested,
    /// Jobs that wait for long jobs, while unrelated jobs are pending.
    Waits,
    /// Two to four callers at once.
    Crowd,
}

impl Mixture {
    pub(super) const ALL: [Self; 11] = [
        Self::Loops,
        Self::Skewed,
        Self::Emptied,
        Self::RhythmAndJoins,
        Self::RhythmAndSpawns,
        Self::RhythmAndAll,
        Self::Joins,
        Self::Jobs,
        Self::Nested,
        Self::Waits,
        Self::Crowd,
    ];
}

/// Returns the mixture and the program of a seed.
pub(super) fn program(seed: u64) -> (Mixture, Program) {
    let mixture = Mixture::ALL[seed as usize % Mixture::ALL.len()];
    let mut rng = Rng::with_seed(seed);
    let cores = 2 << rng.u32(..6);
    let threads = match rng.u8(..4) {
        0 => 2,
        1 => cores,
        2 if cores <= 32 => rng.usize(cores + 1..=2 * cores),
        _ => rng.usize(2..=cores),
    };
    let callers = if mixture == Mixture::Crowd {
        rng.usize(2..=4)
    } else {
        1
    };
    let mut made = Random { rng, threads };
    let callers = (0..callers).map(|_| steps(made.caller(mixture))).collect();
    let program = Program {
        cores,
        threads,
        callers,
    };
    (mixture, program)
}

fn steps(steps: Vec<Step>) -> Steps {
    Arc::new(steps)
}

struct Random {
    rng: Rng,
    /// The number of the pool's threads.
    threads: usize,
}

impl Random {
    fn caller(&mut self, mixture: Mixture) -> Vec<Step> {
        match mixture {
            Mixture::Loops => self.some(4..12, |me| vec![me.any_loop(), me.gap()]),
            Mixture::Skewed => self.some(2..8, |me| vec![me.skewed(), me.gap()]),
            Mixture::Emptied => self.some(1..3, Self::emptied),
            Mixture::RhythmAndJoins => self.some(1..3, |me| me.rhythm_and(Self::join)),
            Mixture::RhythmAndSpawns => self.some(1..3, |me| me.rhythm_and(Self::spawn)),
            Mixture::RhythmAndAll => self.some(1..3, |me| me.rhythm_and(Self::any)),
            Mixture::Joins => self.some(4..12, |me| vec![me.join(), me.gap()]),
            Mixture::Jobs => self.some(4..12, |me| vec![me.jobs(), me.gap()]),
            Mixture::Nested => self.some(2..6, |me| vec![me.nested(2), me.gap()]),
            Mixture::Waits => self.some(1..4, |me| vec![me.waits(), me.gap()]),
            Mixture::Crowd => self.some(2..8, |me| match me.rng.u8(..7) {
                0 => me.rhythm_and(Self::any),
                1 => me.emptied(),
                2 => vec![me.waits(), me.gap()],
                _ => vec![me.any(), me.gap()],
            }),
        }
    }

    /// Concatenates the results of a random number of calls of `make`.
    fn some(
        &mut self,
        times: std::ops::Range<usize>,
        mut make: impl FnMut(&mut Self) -> Vec<Step>,
    ) -> Vec<Step> {
        let times = self.rng.usize(times);
        (0..times).flat_map(|_| make(self)).collect()
    }

    /// Returns a random length between two powers of ten. Each order of magnitude is equally likely.
    fn length(&mut self, powers: std::ops::Range<u32>) -> u64 {
        let power = self.rng.u32(powers);
        self.rng.u64(1..10) * 10_u64.pow(power)
    }

    fn gap(&mut self) -> Step {
        match self.rng.u8(..4) {
            0 => Step::Compute(self.length(2..5)),
            1 => Step::Gap(self.length(5..7)),
            2 => Step::Gap(self.length(4..6)),
            _ => Step::Compute(0),
        }
    }

    fn any(&mut self) -> Step {
        match self.rng.u8(..8) {
            0..3 => self.any_loop(),
            3..5 => self.join(),
            5..7 => self.jobs(),
            _ => self.nested(1),
        }
    }

    fn any_loop(&mut self) -> Step {
        let site = self.rng.usize(..4);
        let n = match self.rng.u8(..6) {
            0 => self.rng.usize(..4),
            1 => self.threads,
            2 => self.rng.usize(1..64),
            3 => self.rng.usize(1..500),
            _ => self.rng.usize(1..5_000),
        };
        // The whole loop takes at most about ten milliseconds of one core's time.
        let most = 60_000_000 / (n as u64 + 1);
        let each = self.length(0..7).min(most).min(1_000_000);
        let work = match self.rng.u8(..4) {
            0 => Work::Ragged(each),
            1 => Work::Even(0),
            _ => Work::Even(each),
        };
        Step::Loop { site, n, work }
    }

    fn skewed(&mut self) -> Step {
        let n = self.rng.usize(1..5_000);
        Step::Loop {
            site: self.rng.usize(..4),
            n,
            work: Work::Late {
                long: self.rng.usize(..=n.min(100)),
                each: self.length(4..6),
            },
        }
    }

    /// A loop that often has nothing to do, so that the pool expects this, and then has much work.
    fn emptied(&mut self) -> Vec<Step> {
        let site = self.rng.usize(..4);
        let n = self.rng.usize(2..100);
        let calls = self.rng.usize(5..60);
        let empty = Work::Even(self.rng.u64(..20));
        let full = Work::Even(self.length(5..7).min(100_000_000 / n as u64));
        let call = |work| Step::Loop { site, n, work };
        let (first, then) = (call(empty), call(full));
        let between = self.gap();
        vec![
            Step::Repeat {
                times: calls,
                steps: steps(vec![first, between]),
            },
            then,
            self.gap(),
        ]
    }

    /// Loops with a rhythm, until the pool expects them. Then another step comes between two loops.
    fn rhythm_and(&mut self, mut between: impl FnMut(&mut Self) -> Step) -> Vec<Step> {
        let period = self.rng.u64(2_500_000..25_000_000);
        let n = match self.rng.u8(..3) {
            0 => self.threads,
            _ => self.rng.usize(4..100),
        };
        // If all threads take part, a loop takes a tenth to a half of the period.
        let share = self.rng.u64(2..10);
        let all = period * share / 20 * self.threads.min(n) as u64;
        let call = Step::Loop {
            site: self.rng.usize(..4),
            n,
            work: Work::Even(all / n as u64),
        };
        let (times, more) = (self.rng.usize(6..16), self.rng.usize(1..4));
        let after = self.rng.u64(..period * 4 / 10);
        let rhythm = |times, steps| Step::Rhythm {
            period,
            times,
            steps,
        };
        let both = vec![call.clone(), Step::Gap(after), between(self)];
        vec![rhythm(times, steps(vec![call])), rhythm(more, steps(both))]
    }

    /// A job with a long second part, which another thread runs. Before the job waits for that part, it spawns
    /// unrelated jobs.
    fn waits(&mut self) -> Step {
        let long = steps(vec![Step::Compute(self.length(6..7) * 3)]);
        let stranger = Step::Spawn {
            job: steps(vec![Step::Compute(self.length(5..7))]),
            awaited: false,
        };
        let strangers = Step::Repeat {
            times: self.rng.usize(1..2 * self.threads),
            steps: steps(vec![stranger]),
        };
        // This part is long enough for a thief to steal the second part.
        let first = vec![Step::Compute(500_000), strangers];
        let wait = match self.rng.u8(..3) {
            0 => Step::Loop {
                site: self.rng.usize(..4),
                n: self.threads,
                work: Work::Ragged(10_000_000),
            },
            _ => Step::Halves(steps(first.clone()), long),
        };
        let before = if let Step::Loop { .. } = wait {
            first
        } else {
            vec![]
        };
        Step::Install(steps([before, vec![wait]].concat()))
    }

    fn join(&mut self) -> Step {
        if self.rng.u8(..4) == 0 {
            return Step::Meet(self.length(0..6));
        }
        let shape = match self.rng.u8(..3) {
            0 => Shape::Balanced,
            1 => Shape::Left,
            _ => Shape::Right,
        };
        let leaves = match self.rng.u8(..3) {
            0 => self.rng.usize(2..5),
            1 => self.rng.usize(2..64),
            _ => self.rng.usize(2..1_000),
        };
        let leaves = match shape {
            Shape::Balanced => leaves,
            // The depth of such a tree is its number of leaves.
            _ => leaves.min(100),
        };
        let leaf = self.length(0..7).min(60_000_000 / leaves as u64);
        Step::Join {
            shape,
            leaves,
            leaf,
        }
    }

    fn spawn(&mut self) -> Step {
        Step::Spawn {
            job: self.leaf(),
            awaited: self.rng.bool(),
        }
    }

    fn leaf(&mut self) -> Steps {
        steps(vec![Step::Compute(self.length(0..7))])
    }

    fn jobs(&mut self) -> Step {
        match self.rng.u8(..8) {
            0..3 => Step::Scope {
                jobs: self.rng.usize(..40),
                nested: self.rng.bool(),
                each: self.leaf(),
            },
            3..6 => self.spawn(),
            6 => Step::Broadcast(self.length(0..6)),
            _ => Step::Install(self.leaf()),
        }
    }

    /// Jobs that call loops and joins in turn, to this depth.
    fn nested(&mut self, depth: usize) -> Step {
        let inner = self.inner(depth);
        match self.rng.u8(..5) {
            0 => Step::Loop {
                site: self.rng.usize(..4),
                n: self.rng.usize(1..12),
                work: Work::Steps(inner),
            },
            1 => Step::Halves(inner, self.inner(depth)),
            2 => Step::Scope {
                jobs: self.rng.usize(1..8),
                nested: self.rng.bool(),
                each: inner,
            },
            3 => Step::Spawn {
                job: inner,
                awaited: self.rng.bool(),
            },
            _ => Step::Install(inner),
        }
    }

    fn inner(&mut self, depth: usize) -> Steps {
        let inner = self.some(1..4, |me| {
            let call = match me.rng.u8(..4) {
                0 if depth > 1 => me.nested(depth - 1),
                0 | 1 => me.short_loop(),
                2 => me.short_join(),
                _ => me.spawn(),
            };
            vec![Step::Compute(me.length(2..6)), call]
        });
        steps(inner)
    }

    fn short_loop(&mut self) -> Step {
        Step::Loop {
            site: self.rng.usize(..4),
            n: self.rng.usize(1..50),
            work: Work::Even(self.length(0..5)),
        }
    }

    fn short_join(&mut self) -> Step {
        Step::Join {
            shape: Shape::Balanced,
            leaves: self.rng.usize(2..20),
            leaf: self.length(0..6),
        }
    }
}
