//! The simulation of one policy in one cell.

use super::chip::DocumentChip;
use super::document;
use super::task::SimulatedTask;
use crate::instrument;
use crate::study::block_size::grid::{Class, LoopCell};
use crate::study::block_size::load::Kernel;
use crate::study::block_size::policy::LoopPolicy;
use crate::threads::start;
use anyhow::{Context, anyhow, bail};
use manycore::Builder;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::Platform;
use manycore_programs::Load;
use manycore_programs::cost::Prices;
use manycore_programs::partition::{Loops as PoolLoops, Partitioner};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc;

#[derive(Debug, PartialEq)]
pub(in crate::study) struct SimulatedLoop {
    /// Cycles of each loop.
    pub(in crate::study) cycles: Vec<f64>,
    pub(in crate::study) hash: u64,
}

/// manycore's pool has settled when this many loops in a row are not faster than the fastest loop before.
const SETTLED: usize = 2;
/// A faster loop takes less than this share of the fastest loop's time.
const FASTER: f64 = 0.95;
/// The most loops in which the pool may settle.
const MOST_WARM: usize = 32;

/// Runs the cell's loop to warm the pool, and then `rounds` times. The pool of the document (Shuai's paper) is warm
/// after one loop. manycore's pool starts threads meanwhile, and is warm when it has settled. manycore's pool also gets
/// the machine's prices, `told`.
pub(in crate::study) fn simulate(
    chip: &DocumentChip,
    cell: LoopCell,
    policy: LoopPolicy,
    told: Option<Prices>,
    rounds: usize,
    seed: u64,
) -> anyhow::Result<SimulatedLoop> {
    let program = || {
        let (send, receive) = mpsc::channel();
        let loops = Loops::new(chip, cell, rounds, seed)?;
        let (at, chip) = match policy {
            LoopPolicy::Ours(_) => (chip.on_core(0), chip.clone()),
            LoopPolicy::Document(_) => (chip.beside(cell.threads), chip.clone()),
        };
        let caller = move || {
            // This fails only if the receiver is dropped.
            let _ = send.send(loops.run(&chip, policy, told));
        };
        Simulated::join(start::<Simulated>("caller".into(), vec![at], caller)?);
        receive.try_recv().context("the caller panicked")?
    };
    let context = || format!("block-size, {cell}: {policy}");
    let run = instrument::run(Simulation::new(&chip.config), &context(), program);
    let run = run
        .map_err(|error| anyhow!("{error}"))
        .with_context(context)?;
    let cycles = run.value.with_context(context)?;
    Ok(SimulatedLoop {
        // This is a copy, since the original would keep all of the simulated machine's memory.
        cycles: cycles.iter().map(|&cycles| cycles as f64).collect(),
        hash: run.statistics.hash,
    })
}

/// The work of an iteration.
enum Body {
    Unit(SimulatedTask),
    Kernel(Kernel),
}

impl Body {
    fn run(&self, index: usize, look: Option<&dyn Fn()>) {
        match self {
            Self::Unit(task) => task.run::<Simulated>(look),
            Self::Kernel(Kernel::UnitTask(load)) => load.run::<Simulated>(index),
            Self::Kernel(Kernel::Irregular(load)) => load.run::<Simulated>(index),
            Self::Kernel(Kernel::Tiny(load)) => load.run::<Simulated>(index),
        }
    }
}

struct Loops {
    cell: LoopCell,
    rounds: usize,
    body: Body,
    /// How often each iteration ran. The count takes no simulated time.
    ran: Vec<AtomicU32>,
}

impl Loops {
    fn new(chip: &DocumentChip, cell: LoopCell, rounds: usize, seed: u64) -> anyhow::Result<Self> {
        let workload = cell.workload;
        let body = match workload.task.class() {
            Class::UnitTask => Body::Unit(SimulatedTask::new(
                workload,
                chip.config.core.cpi,
                chip.config.cores as usize,
            )),
            Class::Irregular | Class::Tiny => Body::Kernel(Kernel::new(workload, seed)?),
        };
        Ok(Self {
            cell,
            rounds,
            body,
            ran: (0..workload.n).map(|_| AtomicU32::new(0)).collect(),
        })
    }

    fn iteration(&self, index: usize, look: Option<&dyn Fn()>) {
        self.ran[index].fetch_add(1, Relaxed);
        self.body.run(index, look);
    }

    /// Cycles of each loop under `policy`.
    fn run(
        self,
        chip: &DocumentChip,
        policy: LoopPolicy,
        told: Option<Prices>,
    ) -> anyhow::Result<Vec<u64>> {
        let (n, threads) = (self.cell.workload.n, self.cell.threads);
        match policy {
            LoopPolicy::Document(block) => {
                let loops = Arc::new(self);
                // Within one core group the line returns before the core's reorder buffer is full, so looks (loads of
                // the loop's variables) are free.
                let far = chip.config.groups() > 1;
                let body = {
                    let loops = Arc::clone(&loops);
                    move |index: usize, look: &dyn Fn()| {
                        loops.iteration(index, far.then_some(look));
                    }
                };
                let cores = (0..threads).map(|core| chip.on_core(core));
                let pool = document::DocumentPool::<Simulated, _>::new(cores, body)?;
                loops.time(0, || pool.parallel_for(n, block.get()))
            }
            LoopPolicy::Ours(partitioner) => self.run_ours(chip, partitioner, told),
        }
    }

    fn run_ours(
        &self,
        chip: &DocumentChip,
        partitioner: Partitioner,
        told: Option<Prices>,
    ) -> anyhow::Result<Vec<u64>> {
        let (n, threads) = (self.cell.workload.n, self.cell.threads);
        let cpus = (0..threads).map(|core| vec![chip.on_core(core)]).collect();
        let groups = chip.groups_of(chip.cores());
        let builder = Builder::<Simulated>::on_platform();
        let pool = builder.build_on(chip.hardware_threads(), groups, cpus)?;
        let loops = PoolLoops::new(&pool, partitioner);
        let loops = told.into_iter().fold(loops, PoolLoops::told);
        self.time(SETTLED, || {
            let body = |index| self.iteration(index, None);
            loops.parallel_for(0..n, body);
        })
    }

    /// Returns the cycles of `rounds` loops. Before these, runs one loop, and then more until `settled` loops in a row
    /// are not faster.
    fn time(&self, settled: usize, run_loop: impl Fn()) -> anyhow::Result<Vec<u64>> {
        let ran = Cell::new(0);
        let run = || {
            let start = Simulated::now();
            run_loop();
            let taken = Simulated::now() - start;
            ran.set(ran.get() + 1);
            if self.ran.iter().any(|each| each.load(Relaxed) != ran.get()) {
                bail!("an iteration did not run exactly once");
            }
            Ok(taken)
        };
        let (mut fastest, mut not_faster) = (run()?, 0);
        while not_faster < settled && (ran.get() as usize) < MOST_WARM {
            let taken = run()?;
            not_faster = match (taken as f64) < FASTER * fastest as f64 {
                true => 0,
                false => not_faster + 1,
            };
            fastest = fastest.min(taken);
        }
        (0..self.rounds).map(|_| run()).collect()
    }
}
