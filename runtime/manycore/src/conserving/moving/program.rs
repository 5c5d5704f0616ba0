//! A program that calls two pools, and whose bodies wait.
//!
//! Computations are measured in instructions, and sleeps in cycles.

use crate::Partitioner;
use std::sync::Arc;

/// Two pools on a machine, and the threads from outside that call them.
#[derive(Clone)]
pub(super) struct Program {
    /// The number of cores that each pool knows of.
    pub(super) cores: usize,
    /// The number of threads of each pool.
    pub(super) threads: [usize; 2],
    /// Changes of the first pool's allotment: the cycles to wait, and the new number of cores. If this
    /// is empty, the pool follows no allotment.
    pub(super) changes: Vec<(u64, usize)>,
    /// The steps of each thread from outside, one after the other.
    pub(super) callers: Vec<Steps>,
}

/// A list of steps. It is shared because detached jobs keep a reference to their lists.
pub(super) type Steps = Arc<Vec<Step>>;

#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Computes. A thread from outside computes without a permit (a right to run jobs).
    Compute(u64),
    /// A loop in this pool.
    Loop(Loop),
    /// A join of two halves.
    Join(Steps, Steps),
    /// A scope with this number of jobs. Each job runs the steps.
    Scope(usize, Steps),
    /// A detached job.
    Spawn(Steps),
    /// A detached job. The body waits, without the pool's help, until the job begins, and keeps its permit.
    /// Only the first such step of a program does this, because several could take all permits.
    Meet,
    /// A call with each permit. The caller waits for all these calls.
    Broadcast(Steps),
    /// A call with each permit. No thread waits for it.
    Mail(Steps),
    /// A call into the other pool.
    Elsewhere(Steps),
    /// Ends the threads of both pools, which start again when they are needed. In a body this does
    /// nothing.
    End,
}

/// A loop of `n` iterations.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) kind: Kind,
    pub(super) partitioner: Partitioner,
    pub(super) n: usize,
    /// The instructions that each iteration computes.
    pub(super) each: u64,
    /// The iterations that also run `steps`.
    pub(super) at: Vec<usize>,
    /// The steps of these iterations.
    pub(super) steps: Steps,
}

/// What a loop does with its items. The result is compared with the result of a plain loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing. `Plain` and `Other` have different body code, so the pool predicts them separately.
    Plain,
    Other,
    /// Collects two thirds of the items in order, as `filter` and `collect` do.
    Filter,
    /// Collects all items in order, with a reduction.
    Reduce,
    /// Collects all items in order, with a deterministic reduction.
    Fixed,
    /// Writes each iteration's item to its own place.
    Fill,
    /// As `Fill`, in chunks of three.
    Chunks,
    /// Replaces each item by the combination of all items up to it, in order.
    Scan,
}

impl Kind {
    pub(super) const ALL: [Self; 8] = [
        Self::Plain,
        Self::Other,
        Self::Filter,
        Self::Reduce,
        Self::Fixed,
        Self::Fill,
        Self::Chunks,
        Self::Scan,
    ];
}

impl Loop {
    pub(super) fn does_more(&self, i: usize) -> bool {
        self.at.contains(&i)
    }
}

impl Step {
    /// Returns the steps inside this one.
    pub(super) fn inner(&self) -> Vec<&Steps> {
        match self {
            Self::Compute(_) | Self::Meet | Self::End => vec![],
            Self::Join(first, second) => vec![first, second],
            Self::Loop(Loop { steps, .. })
            | Self::Scope(_, steps)
            | Self::Spawn(steps)
            | Self::Broadcast(steps)
            | Self::Mail(steps)
            | Self::Elsewhere(steps) => vec![steps],
        }
    }

    /// Returns this step with its inner steps number `which` replaced by `steps`.
    pub(super) fn with_inner(&self, which: usize, steps: Steps) -> Self {
        let mut changed = self.clone();
        match &mut changed {
            Self::Compute(_) | Self::Meet | Self::End => {}
            Self::Join(first, second) => *[first, second][which] = steps,
            Self::Loop(Loop { steps: inner, .. })
            | Self::Scope(_, inner)
            | Self::Spawn(inner)
            | Self::Broadcast(inner)
            | Self::Mail(inner)
            | Self::Elsewhere(inner) => *inner = steps,
        }
        changed
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { cores, threads, .. } = self;
        writeln!(f, "{cores} cores, pools of {threads:?} threads")?;
        writeln!(f, "  changes of the allotment: {:?}", self.changes)?;
        for (number, steps) in self.callers.iter().enumerate() {
            writeln!(f, "  caller {number}:")?;
            for step in steps.iter() {
                writeln!(f, "    {step:?}")?;
            }
        }
        Ok(())
    }
}
