//! A program that calls a pool, and the lengths of its jobs.
//!
//! Computations are measured in instructions, and sleeps in cycles.

use std::sync::Arc;

/// A pool on a machine, and the threads from outside that call it.
#[derive(Clone)]
pub(super) struct Program {
    /// The number of cores that the pool knows of.
    pub(super) cores: usize,
    /// The number of the pool's threads.
    pub(super) threads: usize,
    /// The steps of each thread from outside, one after the other.
    pub(super) callers: Vec<Steps>,
}

/// A list of steps. It is shared because detached jobs keep a reference to their lists.
pub(super) type Steps = Arc<Vec<Step>>;

#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Computes. A thread from outside computes without a permit (a right to run jobs of the pool).
    Compute(u64),
    /// Sleeps. Only a thread from outside does this.
    Gap(u64),
    /// Repeats `steps`.
    Repeat { times: usize, steps: Steps },
    /// Does `steps` once in each `period`, and sleeps for the rest of the period.
    Rhythm {
        period: u64,
        times: usize,
        steps: Steps,
    },
    /// A loop over `0..n` at the call site with number `site`.
    Loop { site: usize, n: usize, work: Work },
    /// A tree of joins.
    Join {
        shape: Shape,
        leaves: usize,
        leaf: u64,
    },
    /// A join of two halves that run steps.
    Halves(Steps, Steps),
    /// A join of two halves that wait for each other. If another such pair is waiting, the two halves only
    /// compute.
    Meet(u64),
    /// A scope with this number of jobs. If `nested`, each job spawns another job.
    Scope {
        jobs: usize,
        nested: bool,
        each: Steps,
    },
    /// A detached job. If `awaited`, a thread from outside waits for the job's end.
    Spawn { job: Steps, awaited: bool },
    /// A broadcast: a call with each permit.
    Broadcast(u64),
    /// A call of `install`.
    Install(Steps),
}

/// The work of a loop's iterations.
#[derive(Clone, Debug)]
pub(super) enum Work {
    Even(u64),
    /// The last `long` iterations compute `each` instructions, and the other iterations nothing.
    Late {
        long: usize,
        each: u64,
    },
    /// Each iteration computes a different number of instructions, at most this one.
    Ragged(u64),
    /// Each iteration runs these steps.
    Steps(Steps),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    Balanced,
    /// The first half of each join is the rest of the tree.
    Left,
    /// The second half of each join is the rest of the tree.
    Right,
}

impl Shape {
    /// Returns the number of leaves in the first half of a tree with `leaves` leaves.
    pub(super) fn first(self, leaves: usize) -> usize {
        match self {
            Self::Balanced => leaves / 2,
            Self::Left => leaves - 1,
            Self::Right => 1,
        }
    }
}

impl Work {
    /// Returns the number of instructions in iteration `i` of `n`.
    pub(super) fn of(&self, i: usize, n: usize) -> u64 {
        match *self {
            Self::Even(each) => each,
            Self::Late { long, each } => {
                if i + long >= n {
                    each
                } else {
                    0
                }
            }
            // This is a pseudo-random number that is always the same for an iteration.
            Self::Ragged(most) => (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) % (most + 1),
            Self::Steps(_) => 0,
        }
    }
}

impl Program {
    /// Returns the same program in a pool that knows of half as many cores as it has threads.
    pub(super) fn crowded(self) -> Self {
        let cores = (self.threads / 2).max(1);
        Self { cores, ..self }
    }

    pub(super) fn is_crowded(&self) -> bool {
        self.threads > self.cores
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{} cores, {} threads", self.cores, self.threads)?;
        for (number, steps) in self.callers.iter().enumerate() {
            writeln!(f, "  caller {number}:")?;
            for step in steps.iter() {
                writeln!(f, "    {step:?}")?;
            }
        }
        Ok(())
    }
}
