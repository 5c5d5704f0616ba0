//! Random programs whose bodies wait.

use super::program::{Kind, Loop, Program, Step, Steps};
use crate::{Block, Partitioner};
use fastrand::Rng;
use std::ops::Range;
use std::sync::Arc;

/// How often a step may be run in all, so that no program takes long.
const RUNS: usize = 60;
/// Steps within steps, at the most.
const DEPTH: usize = 4;

/// The program of a seed.
pub(super) fn program(seed: u64) -> Program {
    let mut rng = Rng::with_seed(seed);
    let mut some = |more: Range<usize>| rng.usize(more);
    // Few places: all of them are to be taken when a body waits.
    let threads = [some(2..5), some(1..4)];
    let cores = match some(0..4) {
        0 => threads[0].div_ceil(2),
        _ => threads[0].max(threads[1]),
    };
    let changes = match some(0..2) {
        0 => vec![],
        _ => (0..some(2..12))
            .map(|_| (some(1..30) as u64 * 100_000, some(1..threads[0] + 1)))
            .collect(),
    };
    let callers = [1, 1, 2, 3][some(0..4)];
    let mut made = Random { rng, threads };
    let callers = (0..callers).map(|_| made.caller()).collect();
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
    fn caller(&mut self) -> Steps {
        let calls = self.rng.usize(1..5);
        let calls = (0..calls).flat_map(|_| {
            let call = match self.rng.u8(..8) {
                // A thread from outside is in its place 0 all the time, or in none.
                0..4 => Step::Elsewhere(self.steps(1, DEPTH, RUNS)),
                4..7 => self.step(0, DEPTH, RUNS),
                _ => Step::End,
            };
            [Step::Compute(self.length(2..6)), call]
        });
        Arc::new(calls.collect())
    }

    /// Between two powers of ten, each order of magnitude as likely as another.
    fn length(&mut self, powers: Range<u32>) -> u64 {
        let power = self.rng.u32(powers);
        self.rng.u64(1..10) * 10_u64.pow(power)
    }

    /// What a body does in `pool`, each step of which may be run `runs` times.
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

    /// What another thread does for long, so that a body waits for it.
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
            // Strangers' jobs, beside which a body waits.
            9..13 => Step::Spawn(self.long(pool, depth / 2, runs / 2)),
            13 => Step::Broadcast(self.steps(pool, depth, runs / self.threads[pool])),
            14 => Step::Mail(self.long(pool, depth, runs / self.threads[pool])),
            _ => Step::Elsewhere(self.steps(1 - pool, depth, runs)),
        }
    }

    fn a_loop(&mut self, pool: usize, depth: usize, runs: usize) -> Step {
        let kind = self.rng.choice(Kind::ALL).expect("there are some");
        let partitioner = match self.rng.u8(..8) {
            0 => Partitioner::Static,
            1 => Partitioner::FixedBlock(Block::size(1)),
            2 => Partitioner::Guided,
            3 => Partitioner::Split,
            4 => Partitioner::Sharded(Block::size(2)),
            _ => Partitioner::Adaptive,
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
