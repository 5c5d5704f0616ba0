//! Random programs with bodies that wait.

use super::program::{Kind, Loop, Program, Step, Steps};
use crate::Partitioner;
use fastrand::Rng;
use std::ops::Range;
use std::sync::Arc;

/// The largest total number of runs of a step, so that no program takes long.
const RUNS: usize = 60;
/// The greatest depth of nested steps.
const DEPTH: usize = 4;

/// The mixture of a program.
#[derive(Clone, Copy)]
enum Mixture {
    /// All kinds of steps.
    Any,
    /// Nested loops whose first iterations wait, while all permits are taken.
    Late,
    /// Broadcasts that wait, while the allotment changes and loops are posted.
    Aside,
    /// Callers from outside that wait in their calls, and end the pools' threads between calls.
    Callers,
    /// A waiting worker that the allotment does not allow to run. Then the allotment grows, while a job
    /// is pending that only this worker's permit can run.
    Grown,
}

/// Returns the program of a seed.
pub(super) fn program(seed: u64) -> Program {
    let mixtures = [
        Mixture::Any,
        Mixture::Late,
        Mixture::Aside,
        Mixture::Callers,
    ];
    let mixture = match seed % 8 {
        4 => Mixture::Grown,
        _ => mixtures[seed as usize % mixtures.len()],
    };
    let mut rng = Rng::with_seed(seed);
    let mut some = |more: Range<usize>| rng.usize(more);
    // There are few permits, so that all of them are taken when a body waits.
    let threads = [some(2..5), some(1..4)];
    let cores = match some(0..4) {
        0 => threads[0].div_ceil(2),
        _ => threads[0].max(threads[1]),
    };
    let most = threads[0];
    let changes = match (mixture, some(0..2)) {
        (Mixture::Any, 0) | (Mixture::Late | Mixture::Callers, _) => vec![],
        (Mixture::Aside, 0) => (0..some(8..30))
            .map(|change| {
                let cores = if change % 2 == 0 { 1 } else { most };
                (some(2..30) as u64 * 100_000, cores)
            })
            .collect(),
        // The last change is a growth, because the body of `Step::Meet` keeps a permit while it waits.
        (Mixture::Grown, _) => (0..2 * some(1..4))
            .map(|change| {
                let cores = if change % 2 == 0 { 1 } else { most };
                (some(1..30) as u64 * 200_000, cores)
            })
            .collect(),
        _ => (0..some(2..12))
            .map(|_| (some(1..30) as u64 * 100_000, some(1..most + 1)))
            .collect(),
    };
    let callers = match mixture {
        Mixture::Aside => 2,
        Mixture::Grown => 1,
        _ => [1, 1, 2, 3][some(0..4)],
    };
    let mut made = Random { rng, threads };
    let callers = (0..callers).map(|number| made.caller(mixture, number));
    let callers = callers.collect();
    Program {
        cores,
        threads,
        changes,
        callers,
    }
}

struct Random {
    rng: Rng,
    threads: [usize; 2],
}

impl Random {
    fn caller(&mut self, mixture: Mixture, number: usize) -> Steps {
        let calls = match mixture {
            Mixture::Aside => self.rng.usize(4..10),
            _ => self.rng.usize(1..5),
        };
        let calls = (0..calls).flat_map(|_| {
            let call = match mixture {
                Mixture::Any => self.any(),
                Mixture::Late => self.late(),
                Mixture::Aside if number == 0 => Step::Mail(self.wait(0)),
                Mixture::Aside => self.long_loop(),
                Mixture::Callers => self.call(),
                Mixture::Grown => self.meeting(),
            };
            let then = match mixture {
                Mixture::Callers if self.rng.bool() => Step::End,
                _ => Step::Compute(0),
            };
            [Step::Compute(self.length(2..6)), call, then]
        });
        Arc::new(calls.collect())
    }

    fn any(&mut self) -> Step {
        match self.rng.u8(..8) {
            0..4 => Step::Elsewhere(self.steps(1, DEPTH, RUNS)),
            4..7 => self.step(0, DEPTH, RUNS),
            _ => Step::End,
        }
    }

    /// A nested loop in which an early inner iteration waits, while unrelated jobs take the other permits.
    fn late(&mut self) -> Step {
        let others = self.rng.usize(1..self.threads[0] + 1);
        let mut steps: Vec<_> = (0..others).map(|_| self.stranger()).collect();
        let inner = Arc::new(vec![self.busy_loop(0)]);
        let n = self.rng.usize(2..4);
        let (kind, partitioner, each, at) = (Kind::Plain, Partitioner::sharded(1), 0, vec![0]);
        steps.push(Step::Loop(Loop {
            kind,
            partitioner,
            n,
            each,
            at,
            steps: inner,
        }));
        Step::Join(Arc::new(steps), Arc::new(vec![]))
    }

    /// A loop of many iterations, one or two of which wait.
    fn busy_loop(&mut self, pool: usize) -> Step {
        let n = self.rng.usize(20..300);
        let at: Vec<_> = match self.rng.bool() {
            true => vec![self.rng.usize(..3)],
            false => vec![0, self.rng.usize(1..n)],
        };
        Step::Loop(Loop {
            kind: *self.rng.choice(&Kind::ALL).expect("`ALL` is not empty"),
            partitioner: Partitioner::default(),
            at,
            n,
            each: self.length(2..5).min(20_000_000 / n as u64),
            steps: self.wait(pool),
        })
    }

    /// A loop without waits, long enough for more threads.
    fn long_loop(&mut self) -> Step {
        let n = self.rng.usize(200..1_500);
        Step::Loop(Loop {
            kind: *self.rng.choice(&Kind::ALL).expect("`ALL` is not empty"),
            partitioner: Partitioner::default(),
            at: vec![],
            n,
            each: self.length(4..5),
            steps: Arc::new(vec![]),
        })
    }

    /// A call from outside, in which the caller waits.
    fn call(&mut self) -> Step {
        let after = Step::Compute(self.length(5..7));
        let wait = [&**self.wait(0), &[after]].concat();
        let (wait, rest) = (Arc::new(wait), Arc::new(vec![]));
        match self.rng.u8(..3) {
            0 => Step::Join(wait, rest),
            1 => Step::Scope(1, wait),
            _ => self.busy_loop(0),
        }
    }

    /// Another worker takes the second half of a join, and the caller takes the second half of a join within that
    /// half. In this inner half the caller waits for a job to begin, while the other worker waits for the caller.
    fn meeting(&mut self) -> Step {
        let compute = |me: &mut Self, powers| vec![Step::Compute(me.length(powers))];
        let long = Arc::new(compute(self, 6..7));
        let meet = Arc::new([compute(self, 2..6), vec![Step::Meet]].concat());
        let second = [compute(self, 2..6), vec![Step::Join(long, meet)]].concat();
        Step::Join(Arc::new(compute(self, 5..7)), Arc::new(second))
    }

    /// An unrelated job.
    fn stranger(&mut self) -> Step {
        Step::Spawn(Arc::new(vec![Step::Compute(self.length(5..7))]))
    }

    /// A body that waits for another thread's long work, while unrelated jobs are pending.
    fn wait(&mut self, pool: usize) -> Steps {
        let strangers = self.rng.usize(1..2 * self.threads[pool]);
        let strangers: Vec<_> = (0..strangers).map(|_| self.stranger()).collect();
        let long = |me: &mut Self| vec![Step::Compute(me.length(5..7))];
        let mut steps = vec![Step::Compute(self.length(2..6))];
        match self.rng.u8(..4) {
            0 => {
                let elsewhere = long(self);
                steps.extend(strangers);
                steps.push(Step::Elsewhere(Arc::new(elsewhere)));
            }
            // Spawns the unrelated jobs when another thread has taken the second half.
            1 => {
                let first = [long(self), strangers].concat();
                steps.push(Step::Join(Arc::new(first), Arc::new(long(self))));
            }
            // The second half spawns the unrelated jobs.
            2 => {
                let other = [strangers, long(self)].concat();
                steps.push(Step::Join(Arc::new(long(self)), Arc::new(other)));
            }
            _ => {
                steps.push(Step::Scope(1, Arc::new(long(self))));
                steps.extend(strangers);
                steps.push(Step::Scope(2, Arc::new(long(self))));
            }
        }
        Arc::new(steps)
    }

    /// Returns a random length between two powers of ten. Each order of magnitude is equally likely.
    fn length(&mut self, powers: Range<u32>) -> u64 {
        let power = self.rng.u32(powers);
        self.rng.u64(1..10) * 10_u64.pow(power)
    }

    /// The steps of a body in `pool`. Each may run `runs` times.
    fn steps(&mut self, pool: usize, depth: usize, runs: usize) -> Steps {
        let steps = self.rng.usize(1..4);
        let steps = (0..steps).flat_map(|_| {
            let compute = Step::Compute(self.length(2..7));
            match depth > 0 && runs > 0 {
                true => vec![compute, self.step(pool, depth - 1, runs / 2)],
                false => vec![compute],
            }
        });
        Arc::new(steps.collect())
    }

    /// Long work for another thread, so that a body waits for it.
    fn long(&mut self, pool: usize, depth: usize, runs: usize) -> Steps {
        let long = Step::Compute(self.length(5..7));
        let mut steps = vec![long];
        if self.rng.bool() {
            steps.extend(self.steps(pool, depth, runs).iter().cloned());
        }
        Arc::new(steps)
    }

    fn step(&mut self, pool: usize, depth: usize, runs: usize) -> Step {
        match self.rng.u8(..16) {
            0..4 => self.a_loop(pool, depth, runs),
            4..7 => Step::Join(self.steps(pool, depth, runs), self.long(pool, depth, runs)),
            7..9 => {
                let jobs = self.rng.usize(1..4);
                Step::Scope(jobs, self.long(pool, depth, runs / jobs))
            }
            // Unrelated jobs, which are pending while a body waits.
            9..13 => Step::Spawn(self.long(pool, depth / 2, runs / 2)),
            13 => Step::Broadcast(self.steps(pool, depth, runs / self.threads[pool])),
            14 => Step::Mail(self.long(pool, depth, runs / self.threads[pool])),
            _ => Step::Elsewhere(self.steps(1 - pool, depth, runs)),
        }
    }

    fn a_loop(&mut self, pool: usize, depth: usize, runs: usize) -> Step {
        let kind = self.rng.choice(Kind::ALL).expect("`ALL` is not empty");
        let partitioner = match self.rng.u8(..8) {
            0 => Partitioner::fixed_block(1),
            1 => Partitioner::fixed_block(7),
            2 => Partitioner::fixed_block(30),
            3 => Partitioner::sharded(1),
            4 => Partitioner::sharded(2),
            _ => Partitioner::default(),
        };
        let n = match self.rng.u8(..4) {
            0 => self.rng.usize(1..4),
            1 => self.rng.usize(2..20),
            _ => self.rng.usize(20..200),
        };
        let each = self.length(1..6).min(20_000_000 / n as u64);
        let more = self.rng.usize(..4).min(runs).min(n);
        let at = (0..more).map(|_| match self.rng.bool() {
            true => self.rng.usize(..n.min(4)),
            false => self.rng.usize(..n),
        });
        let at: Vec<_> = at.collect();
        let steps = self.steps(pool, depth, runs / more.max(1));
        Step::Loop(Loop {
            kind,
            partitioner,
            n,
            each,
            at,
            steps,
        })
    }
}
