//! A program that uses a pool: what it calls, and how long what it calls computes.
//!
//! Lengths of computations are in instructions, and lengths of sleeps in cycles.

use std::sync::Arc;

/// A pool on a machine, and the threads from outside that call it.
#[derive(Clone)]
pub(super) struct Program {
    /// Cores that the pool knows of.
    pub(super) cores: usize,
    /// Threads of the pool.
    pub(super) threads: usize,
    /// The steps of each thread from outside, one after the other.
    pub(super) callers: Vec<Steps>,
}

/// Detached jobs keep a reference to what they do.
pub(super) type Steps = Arc<Vec<Step>>;

#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Computes. A thread from outside does that with no permit of the pool.
    Compute(u64),
    /// Sleeps: a thread from outside that has nothing to do.
    Gap(u64),
    /// Does `steps` again and again.
    Repeat { times: usize, steps: Steps },
    /// Does `steps` once each `period`, and sleeps for the rest of it.
    Rhythm {
        period: u64,
        times: usize,
        steps: Steps,
    },
    /// A loop over `0..n` whose body is the code of `site`.
    Loop { site: usize, n: usize, work: Work },
    /// A tree of joins.
    Join {
        shape: Shape,
        leaves: usize,
        leaf: u64,
    },
    /// A join of two halves that do more than compute.
    Halves(Steps, Steps),
    /// A join of two halves that wait for each other, if no other such pair does now;
    /// else two that do not.
    Meet(u64),
    /// A scope with this number of jobs. Each job spawns another if they are `nested`.
    Scope {
        jobs: usize,
        nested: bool,
        each: Steps,
    },
    /// A detached job. A thread from outside waits for its end, if it is `awaited`.
    Spawn { job: Steps, awaited: bool },
    /// A call in each of the pool's threads.
    Broadcast(u64),
    /// A call that is moved into the pool.
    Install(Steps),
}

/// The work of a loop's iterations.
#[derive(Clone, Debug)]
pub(super) enum Work {
    Even(u64),
    /// The first iterations compute nothing, the last `long` of them so much each.
    Late {
        long: usize,
        each: u64,
    },
    /// Each iteration computes another length, up to so much.
    Ragged(u64),
    /// Each iteration is a program of its own.
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
    /// Leaves in the first half of a tree with this number of leaves.
    pub(super) fn first(self, leaves: usize) -> usize {
        match self {
            Self::Balanced => leaves / 2,
            Self::Left => leaves - 1,
            Self::Right => 1,
        }
    }
}

impl Work {
    /// Instructions of iteration `i` of `n`.
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
            // Any fixed disorder will do.
            Self::Ragged(most) => (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) % (most + 1),
            Self::Steps(_) => 0,
        }
    }
}

impl Program {
    /// The same in a pool that knows of half as many cores as it has threads.
    pub(super) fn crowded(self) -> Self {
        let cores = (self.threads / 2).max(1);
        Self { cores, ..self }
    }

    /// Whether threads outnumber cores.
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
