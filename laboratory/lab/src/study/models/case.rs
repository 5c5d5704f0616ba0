//! One loop of the unit task of the document (Shuai's paper) under one policy.

use super::policy::ModelPolicy;
use crate::machine::{self, MachinePrices};
use crate::model::{Choices, Configuration, PriceList};
use crate::study::block_size::{
    DocumentChip, LoopCell, LoopTask, Workload, simulate, time_natively,
};
use crate::study::settings::power;
use crate::study::trial::{Machines, Trial};
use crate::world::World;
use manycore::topology::Topology;
use manycore::{Affinity, Pool};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Simulated loops after the warm-up. Their median counts. If threads share cores, chance decides when a thread is
/// preempted.
const ROUNDS: usize = 9;
/// Native loops after the warm-up. Their median counts.
const NATIVE_ROUNDS: usize = 5;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ModelCase {
    /// The loop, and its machine.
    #[serde(flatten)]
    pub(super) at: Configuration,
    pub(super) policy: ModelPolicy,
    pub(super) seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ModelSample {
    /// The median of the loops, in ns.
    pub(super) latency_ns: f64,
    /// The block, if a model picks it before the loop runs.
    pub(super) block: Option<usize>,
}

impl ModelCase {
    fn cell(&self) -> LoopCell {
        LoopCell {
            workload: Workload {
                task: LoopTask::Folded,
                n: self.at.n,
                read: self.at.unit_read as usize,
                write: self.at.unit_write as usize,
                comp: self.at.unit_comp,
            },
            threads: self.at.threads,
        }
    }

    fn outcome(&self, choices: &Choices, mut latencies_ns: Vec<f64>) -> ModelSample {
        latencies_ns.sort_by(f64::total_cmp);
        ModelSample {
            latency_ns: latencies_ns[latencies_ns.len() / 2],
            block: self.policy.block(choices),
        }
    }
}

impl Trial for ModelCase {
    type Sample = ModelSample;

    fn cores(&self) -> usize {
        self.at.threads
    }

    fn simulate(&self, machines: &Machines) -> anyhow::Result<(ModelSample, u64)> {
        let config = &machines.0[0].0;
        let chip = DocumentChip::new(config);
        let list = PriceList::shipped();
        let prices = match list.machines.get(&self.at.machine) {
            Some(prices) => *prices,
            None => measured(&World::Simulated(Box::new(config.clone())))?,
        };
        let choices = PriceList::of_one(&self.at.machine, prices).choices(&self.at);
        let policy = self.policy.of_loop(&choices);
        let told = Some(prices.of_pool());
        let run = simulate(&chip, self.cell(), policy, told, ROUNDS, self.seed)?;
        let ns = run.cycles.iter().map(|cycles| cycles / config.ghz);
        Ok((self.outcome(&choices, ns.collect()), run.hash))
    }

    fn run_here(&self, _: &Topology, pinned: bool) -> anyhow::Result<ModelSample> {
        let prices = measured(&World::Native)?;
        let choices = PriceList::of_one(&self.at.machine, prices).choices(&self.at);
        let affinity = match pinned {
            true => Affinity::Compact,
            false => Affinity::None,
        };
        let pool = Pool::builder()
            .threads(self.at.threads)
            .affinity(affinity)
            .build()?;
        let policy = self.policy.of_loop(&choices);
        let told = prices.of_pool();
        let ns = time_natively(&pool, self.cell(), policy, told, NATIVE_ROUNDS, self.seed)?;
        Ok(self.outcome(&choices, ns))
    }
}

/// Returns the prices of a machine. The first call for each machine measures them.
fn measured(world: &World) -> anyhow::Result<MachinePrices> {
    static PRICES: Mutex<BTreeMap<String, MachinePrices>> = Mutex::new(BTreeMap::new());
    let machine = match world {
        World::Native => String::new(),
        World::Simulated(config) => config.to_toml(),
    };
    // The lock is held while a machine is measured, since two native measurements would disturb each other.
    let mut prices = PRICES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(prices) = prices.get(&machine) {
        return Ok(*prices);
    }
    let measured = machine::prices(world, &mut |_| ())?;
    prices.insert(machine, measured);
    Ok(measured)
}

impl fmt::Display for ModelCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = &self.at;
        let [read, write, comp] = [at.unit_read, at.unit_write, at.unit_comp].map(power);
        let (threads, policy) = (at.threads, self.policy);
        write!(f, "{read}/{write}/{comp}, {threads} threads, {policy}")
    }
}
