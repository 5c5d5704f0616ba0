//! The kernels as loops to time and to audit.

use super::grid::{LoopCell, LoopTask, Workload};
use super::policy::LoopPolicy;
use crate::failure::bad_input;
use anyhow::{anyhow, bail};
use manycore::{Native, Platform, Pool};
use manycore_programs::cost::Prices;
use manycore_programs::partition::Loops;
use manycore_programs::{
    Fault, Folding, InvalidSize, Irregular, Load, TaskSize, Tiny, UnitTask, audit,
};

/// A workload's kernel, with its input.
#[derive(Debug)]
pub(super) enum Kernel {
    UnitTask(UnitTask),
    Irregular(Irregular),
    Tiny(Tiny),
}

impl Kernel {
    /// Checks the workload's sizes, without making an input.
    pub(super) fn check(workload: Workload) -> anyhow::Result<()> {
        Self::new(Workload { n: 0, ..workload }, 0)
            .map_err(|error| bad_input(format!("{workload}: {error}")))?;
        Ok(())
    }

    pub(super) fn new(workload: Workload, seed: u64) -> Result<Self, InvalidSize> {
        let Workload {
            task,
            n,
            read,
            write,
            comp,
        } = workload;
        let unit = |folding| {
            let size = TaskSize { read, write, comp };
            UnitTask::new(n, size, folding, seed).map(Self::UnitTask)
        };
        let irregular = |make: fn(usize, u64, u64) -> Irregular| {
            Ok(Self::Irregular(make(n, comp * n as u64, seed)))
        };
        match task {
            LoopTask::Folded => unit(Folding::Folded),
            LoopTask::Opaque => unit(Folding::Opaque),
            LoopTask::Triangular => irregular(Irregular::triangular),
            LoopTask::ReverseTriangular => irregular(Irregular::reverse_triangular),
            LoopTask::HeavyTailed => irregular(Irregular::heavy_tailed),
            LoopTask::Tiny => Ok(Self::Tiny(Tiny::new(n, seed))),
        }
    }

    /// Runs the loop once and returns how long it took, in microseconds.
    pub(super) fn time(&self, loops: Loops<'_, Native>) -> f64 {
        // Each kernel has its own compiled loop, so a call of the body costs what it costs in a user's loop.
        match self {
            Self::UnitTask(load) => time(load, loops),
            Self::Irregular(load) => time(load, loops),
            Self::Tiny(load) => time(load, loops),
        }
    }

    /// Runs the loop once and checks that every iteration ran exactly once and
    /// did its work.
    pub(super) fn audit(&self, loops: Loops<'_, Native>) -> Result<(), Fault> {
        let by_pool = |n: usize, body: &(dyn Fn(usize) + Sync)| {
            loops.parallel_for(0..n, body);
        };
        match self {
            Self::UnitTask(load) => audit::<Native, _>(load, by_pool),
            Self::Irregular(load) => audit::<Native, _>(load, by_pool),
            Self::Tiny(load) => audit::<Native, _>(load, by_pool),
        }
    }
}

/// Checks that every iteration runs once and does its work. Then runs the loop once to warm up and `rounds` times, and
/// returns the latencies in ns. Partitioners may pick a block from the machine's prices, `told`.
pub(in crate::study) fn time_natively(
    pool: &Pool,
    cell: LoopCell,
    policy: LoopPolicy,
    told: Prices,
    rounds: usize,
    seed: u64,
) -> anyhow::Result<Vec<f64>> {
    let LoopPolicy::Ours(partitioner) = policy else {
        bail!("{cell}: the document's pool is simulated only");
    };
    let kernel = Kernel::new(cell.workload, seed)?;
    let loops = Loops::new(pool, partitioner).told(told);
    kernel
        .audit(loops)
        .map_err(|fault| anyhow!("{cell}: {partitioner} broke the loop: {fault}"))?;
    kernel.time(loops);
    Ok((0..rounds).map(|_| kernel.time(loops) * 1e3).collect())
}

fn time<L: Load>(load: &L, loops: Loops<'_, Native>) -> f64 {
    let start = Native::now();
    loops.parallel_for(0..load.iterations(), |index| load.run::<Native>(index));
    Native::ticks_to_ns(Native::now().saturating_sub(start)) / 1e3
}
