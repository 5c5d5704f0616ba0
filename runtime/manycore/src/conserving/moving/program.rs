//! A program with bodies that wait. It calls two pools.
//!
//! Lengths are in instructions where a body computes them, and in cycles where a thread sleeps.

use crate::Partitioner;
use std::sync::Arc;

/// Two pools on a machine, and the threads from outside that call them.
#[derive(Clone)]
pub(super) struct Program {
    /// Cores that each pool knows of.
    pub(super) cores: usize,
    /// Threads of each pool.
    pub(super) threads: [usize; 2],
    /// Changes of the first pool's allotment: how many cycles to wait, and how many cores there
    /// are then. The first pool follows no allotment if this is empty.
    pub(super) changes: Vec<(u64, usize)>,
    /// The steps of each thread from outside, one after the other.
    pub(super) callers: Vec<Steps>,
}

/// Detached jobs keep a reference to what they do.
pub(super) type Steps = Arc<Vec<Step>>;

#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Computes. A thread from outside does that with no permit of a pool.
    Compute(u64),
    /// A loop in this pool.
    Loop(Loop),
    /// A join of two halves.
    Join(Steps, Steps),
    /// A scope with this number of jobs. Each job does the steps.
    Scope(usize, Steps),
    /// A detached job.
    Spawn(Steps),
    /// A detached job. The body waits for its begin outside of the pool, with its permit. Only the
    /// first such step of a program does that: several might take all permits.
    Meet,
    /// A call with each permit, and the caller waits for all of them.
    Broadcast(Steps),
    /// A call with each permit. No thread waits for it.
    Mail(Steps),
    /// A call into the other pool.
    Elsewhere(Steps),
    /// The end of the threads of both pools, which start again when they are needed. Only a
    /// thread from outside ends threads.
    End,
}

/// A loop of `n` iterations. Each iteration computes.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) kind: Kind,
    pub(super) partitioner: Partitioner,
    pub(super) n: usize,
    /// The instructions that each iteration computes.
    pub(super) each: u64,
    /// The iterations that do more than compute.
    pub(super) at: Vec<usize>,
    /// Their steps.
    pub(super) steps: Steps,
}

/// The use of the iterations. Its result is compared with a plain loop's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// No use: a body of two codes. The pool believes different things of them.
    Plain,
    Other,
    /// The items of two thirds of the iterations, in order: the loop of a `filter` that collects.
    Filter,
    /// All items in order, by a reduction.
    Reduce,
    /// All items in order, by a reduction with fixed blocks.
    Fixed,
    /// An item with a permit of its own for each iteration.
    Fill,
    /// The same in chunks of three.
    Chunks,
    /// All items up to each, combined in order.
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
    /// Whether iteration `i` does more than compute.
    pub(super) fn does_more(&self, i: usize) -> bool {
        self.at.contains(&i)
    }
}

impl Step {
    /// The steps inside of this one.
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

    /// This step with `steps` in place of the inner ones of number `which`.
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
