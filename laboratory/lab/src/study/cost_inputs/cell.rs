//! A measured loop, with all values that a model may use.

use super::case::DrawnLoop;
use super::config::{InputsConfig, blocks};
use super::virtual_machine::VirtualMachine;
use crate::machine::MachinePrices;
use crate::study::trial::Results;
use manycore_programs::cost::{self, Machine, Prices, Task};

/// Blocks that are slower than the best block by less than this share count as equally good.
const AS_GOOD: f64 = 0.02;

#[derive(Clone, Debug)]
pub(super) struct InputsCell {
    pub(super) machine: VirtualMachine,
    pub(super) run: DrawnLoop,
    /// Block sizes and latencies in ns, in order of block size. There is at least one.
    pub(super) measured: Vec<(usize, f64)>,
    /// The block that follows from the machine's prices (costs) alone.
    pub(super) balance: f64,
}

impl InputsCell {
    /// All loops with complete simulations.
    pub(super) fn all(of: Results<'_, InputsConfig>) -> Vec<Self> {
        let one = |(machine, run): (&VirtualMachine, DrawnLoop)| {
            let sample = |case| {
                of.of(&of.config.case(machine, case))?
                    .outcomes
                    .first()
                    .copied()
            };
            let prices = sample(None)?.prices()?;
            let measured = blocks(&run).map(|block| {
                let latency = sample(Some((run, block)))?.latency_ns()?;
                Some((block.get(), latency))
            });
            Some(Self {
                machine: machine.clone(),
                run,
                measured: measured.collect::<Option<Vec<_>>>()?,
                balance: balance(machine, &run, prices),
            })
        };
        of.config.loops().filter_map(one).collect()
    }

    fn best(&self) -> f64 {
        let latencies = self.measured.iter().map(|&(_, ns)| ns);
        latencies.fold(f64::INFINITY, f64::min)
    }

    /// The binary logarithm of the block to which models are fitted: the mean over all blocks that are as good as the
    /// best.
    pub(super) fn preferred(&self) -> f64 {
        let limit = self.best() * (1.0 + AS_GOOD);
        let good = self.measured.iter().filter(|&&(_, ns)| ns <= limit);
        let logs: Vec<f64> = good.map(|&(block, _)| (block as f64).log2()).collect();
        logs.iter().sum::<f64>() / logs.len() as f64
    }

    /// The measured block that is nearest by ratio to a model's block.
    pub(super) fn nearest(&self, block: f64) -> (usize, f64) {
        let distance = |&(measured, _): &(usize, f64)| (measured as f64 / block).ln().abs();
        let mut all = self.measured.iter().copied();
        let first = all.next().unwrap_or((1, f64::NAN));
        all.fold(first, |near, other| {
            match distance(&other) < distance(&near) {
                true => other,
                false => near,
            }
        })
    }

    /// The latency of the measured block nearest to `block`, divided by the least latency, minus one.
    pub(super) fn regret(&self, block: f64) -> f64 {
        self.nearest(block).1 / self.best() - 1.0
    }

    /// The number of core groups that have a thread of the loop. Threads fill one group after the other.
    pub(super) fn groups(&self) -> f64 {
        let groups = self.run.threads.div_ceil(self.machine.group_cores as usize);
        groups as f64
    }

    /// The bytes that determine an iteration's time: the read bytes, and half of the bytes written after the reads.
    pub(super) fn bytes(&self) -> f64 {
        bytes(&self.run)
    }
}

fn bytes(run: &DrawnLoop) -> f64 {
    run.read as f64 + 0.5 * run.write.saturating_sub(run.read) as f64
}

/// The block at which the price of claims balances the wait at the end. The threads of the document (Shuai's paper)
/// sleep between loops, so a launch costs a wake-up.
fn balance(machine: &VirtualMachine, run: &DrawnLoop, prices: MachinePrices) -> f64 {
    let threads = run.threads as f64;
    let team = Machine {
        threads: run.threads,
        outside: 1.0 - (f64::from(machine.group_cores) / threads).min(1.0),
        prices: Prices {
            launch_ns: prices.wake_ns,
            ..prices.of_pool()
        },
    };
    cost::balanced_block(&team, &Task::new(prices.byte_ns * bytes(run)), run.n)
}
