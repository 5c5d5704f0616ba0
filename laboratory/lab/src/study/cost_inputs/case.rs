//! One simulation: a loop with one block size, or the prices of a machine.

use super::virtual_machine::VirtualMachine;
use crate::machine::{self, MachinePrices};
use crate::study::block_size::{DocumentChip, LoopCell, LoopPolicy, LoopTask, Workload, simulate};
use crate::study::trial::{Machines, Trial};
use anyhow::bail;
use manycore::topology::Topology;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroUsize;

/// Additions of an iteration, which a compiler folds.
const COMP: u64 = 1024;

/// A loop of unit tasks, in the pool of the document (Shuai's paper).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DrawnLoop {
    /// The loop's number on its machine.
    pub(super) number: usize,
    pub(super) threads: usize,
    pub(super) read: u64,
    pub(super) write: u64,
    pub(super) n: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct InputsCase {
    pub(super) machine: VirtualMachine,
    /// The loop and its block. `None` measures the machine's prices.
    pub(super) run: Option<(DrawnLoop, NonZeroUsize)>,
    pub(super) seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum InputsSample {
    Prices(MachinePrices),
    LatencyNs(f64),
}

impl InputsSample {
    pub(super) fn prices(&self) -> Option<MachinePrices> {
        match *self {
            Self::Prices(prices) => Some(prices),
            Self::LatencyNs(_) => None,
        }
    }

    pub(super) fn latency_ns(&self) -> Option<f64> {
        match *self {
            Self::Prices(_) => None,
            Self::LatencyNs(ns) => Some(ns),
        }
    }
}

impl Trial for InputsCase {
    type Sample = InputsSample;

    fn cores(&self) -> usize {
        self.machine.cores()
    }

    fn simulate(&self, machines: &Machines) -> anyhow::Result<(InputsSample, u64)> {
        let config = self.machine.build(&machines.0[0].0)?;
        let Some((of, block)) = self.run else {
            let (prices, hash) = machine::simulated_prices(&config)?;
            return Ok((InputsSample::Prices(prices), hash));
        };
        let cell = LoopCell {
            workload: Workload {
                task: LoopTask::Folded,
                n: of.n,
                read: of.read as usize,
                write: of.write as usize,
                comp: COMP,
            },
            threads: of.threads,
        };
        let chip = DocumentChip::new(&config);
        let policy = LoopPolicy::Document(block);
        let run = simulate(&chip, cell, policy, None, 1, self.seed)?;
        let ns = run.cycles.iter().sum::<f64>() / run.cycles.len() as f64 / config.ghz;
        Ok((InputsSample::LatencyNs(ns), run.hash))
    }

    fn run_here(&self, _: &Topology, _: bool) -> anyhow::Result<InputsSample> {
        bail!("these machines exist only in simulation")
    }
}

impl fmt::Display for InputsCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "machine {}", self.machine.number)?;
        match self.run {
            None => write!(f, ", prices"),
            Some((of, block)) => write!(f, ", loop {}, blocks of {block}", of.number),
        }
    }
}
