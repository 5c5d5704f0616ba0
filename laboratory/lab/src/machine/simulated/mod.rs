//! The costs of a simulated machine's operations, measured by programs that run on it, with the published costs of the
//! real machine.
//!
//! Every measurement is a separate simulation that begins with cold caches. The same configuration gives the same
//! numbers on any host.

mod buffer;
mod contended;
mod distance;
mod errors;
mod handover;
mod latency;
mod local;
mod plan;
mod programs;
mod published;
mod stream;
mod system;
mod text;
mod thread;

#[cfg(test)]
mod bounds;

pub(crate) use errors::{PresetErrors, Row};
pub(super) use latency::{Operation, State};

use super::prices::MachinePrices;
use manycore_chip::config::Config;
use plan::{Found, Hashed};
use published::Compared;
pub(crate) use published::Errors;
use serde::Serialize;

/// A simulated machine and its prices.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SimulatedReport {
    /// Always `simulated`.
    pub(crate) world: &'static str,
    pub(crate) preset: String,
    /// The hash of the event streams of all simulations.
    pub(crate) hash: String,
    pub(crate) title: String,
    pub(crate) cores: u32,
    pub(crate) groups: u32,
    pub(crate) ghz: f64,
    /// Loads from a core's own caches and from the memory near it, in cycles.
    pub(crate) local: Vec<LocalCost>,
    /// The latencies of single accesses, in cycles.
    pub(crate) latencies: Vec<LatencyCost>,
    /// The times of increments of one shared counter, in nanoseconds.
    pub(crate) contended: Vec<ContendedCost>,
    pub(crate) handovers: Vec<HandoverCost>,
    /// Bandwidths. They are measured on machines whose cores continue while they wait for lines, and on machines with
    /// published bandwidths.
    pub(crate) bandwidths: Vec<Bandwidth>,
    /// Programs with a published time on the real machine.
    pub(crate) programs: Vec<ProgramCost>,
    pub(crate) launches: Vec<SimulatedLaunchCost>,
    pub(crate) wakes: Vec<SimulatedWakeCost>,
    /// The costs that the cost model uses. `None` if a measurement is missing.
    pub(crate) prices: Option<MachinePrices>,
    /// The errors of the latencies of load, store, compare-and-swap and fetch-and-add.
    pub(crate) latency_errors: Option<Errors>,
    /// The errors on those published times of increments that the machine's values were fitted to.
    pub(crate) contended_errors: Option<Errors>,
    /// The errors on published numbers that no value of the machine was fitted to.
    pub(crate) unseen_errors: Option<Errors>,
    pub(crate) notes: Vec<String>,
    /// The machine, as TOML.
    pub(crate) config: String,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct LocalCost {
    pub(crate) level: &'static str,
    pub(crate) cycles: Compared,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct LatencyCost {
    pub(crate) operation: Operation,
    pub(crate) state: State,
    pub(crate) distance: String,
    pub(crate) cycles: Compared,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct ContendedCost {
    pub(crate) operation: Operation,
    pub(crate) threads: usize,
    pub(crate) ns: Compared,
}

/// The cost of one word that cores hand over by compare-and-swap.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct HandoverCost {
    pub(crate) distance: String,
    pub(crate) cores: [usize; 2],
    pub(crate) ns: Compared,
}

/// The bandwidth of cores that walk through arrays of their own.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Bandwidth {
    pub(crate) kernel: stream::Kernel,
    pub(crate) cores: usize,
    pub(crate) gb_per_s: Compared,
}

/// The time of one operation of a program, at a distance or on a number of cores.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ProgramCost {
    pub(crate) program: &'static str,
    pub(crate) place: String,
    pub(crate) ns: Compared,
}

/// The mean overhead of 100 loops on manycore's pool. Each loop has one iteration of 10 us for each thread, and begins
/// less than 1 us after the previous loop.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SimulatedLaunchCost {
    pub(crate) threads: usize,
    pub(crate) ns: f64,
}

/// The time of a wake-up of one thread by another.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SimulatedWakeCost {
    /// How long the woken thread had slept.
    pub(crate) asleep_us: u64,
    /// The time until the woken thread's first instruction.
    pub(crate) ns: f64,
}

/// Simulates all measurements. `threads` are the numbers of threads for contended counters and loops. If empty, they
/// are 1, 2, 4, 8 and 16.
///
/// # Errors
///
/// Returns the error of a simulation that fails.
pub(crate) fn measure(
    config: &Config,
    threads: &[usize],
    progress: &mut (dyn FnMut(&str) + Send),
) -> anyhow::Result<SimulatedReport> {
    let mut notes = Vec::new();
    let asked = thread_counts(threads, config.cores as usize, &mut notes);
    let plan = plan::of(config, &asked, &increments(config, threads));
    let plan: Vec<_> = plan.into_iter().map(|one| (config, one)).collect();
    let found = plan::simulate(&plan, progress)?;
    Ok(SimulatedReport::of(config, found, notes))
}

/// The thread counts for which times of increments are published. Empty if the user requested thread counts.
fn increments(config: &Config, asked: &[usize]) -> Vec<usize> {
    let published = published::contended_threads(&config.name);
    let fit = published.filter(|&threads| threads <= config.cores as usize);
    match asked {
        [] => fit.collect(),
        _ => Vec::new(),
    }
}

impl SimulatedReport {
    fn of(config: &Config, all: Vec<Hashed>, notes: Vec<String>) -> Self {
        let mut report = Self {
            world: "simulated",
            preset: config.name.clone(),
            hash: String::new(),
            title: config.title.clone(),
            cores: config.cores,
            groups: config.groups(),
            ghz: config.ghz,
            local: Vec::new(),
            latencies: Vec::new(),
            contended: Vec::new(),
            handovers: Vec::new(),
            bandwidths: Vec::new(),
            programs: Vec::new(),
            launches: Vec::new(),
            wakes: Vec::new(),
            prices: None,
            latency_errors: None,
            contended_errors: None,
            unseen_errors: None,
            notes,
            config: config.to_toml(),
        };
        let mut hash = Hash::new();
        for (found, one) in all {
            hash.fold(one);
            match found {
                Found::Local(levels) => report.local = levels,
                Found::Accesses(costs) => report.latencies.extend(costs),
                Found::Handover(cost) => report.handovers.push(cost),
                Found::Increments(cost) => report.contended.push(cost),
                Found::Launch(cost) => report.launches.push(cost),
                Found::Wake(cost) => report.wakes.push(cost),
                Found::Bandwidth(bandwidth) => report.bandwidths.push(bandwidth),
                Found::Program(cost) => report.programs.push(cost),
            }
        }
        report.hash = format!("{:016x}", hash.0);
        let place = |cost: &LatencyCost| (cost.operation as usize, cost.state as usize);
        report.latencies.sort_by_key(place);
        report.contended.sort_by_key(|cost| cost.operation as usize);

        let seen = |one: &&Compared| !one.is_unseen();
        let counted = report.latencies.iter();
        let counted = counted.filter(|cost| cost.operation.is_counted());
        report.latency_errors = Errors::of(counted.map(|cost| &cost.cycles).filter(seen));
        let contended = report.contended.iter().map(|cost| &cost.ns);
        report.contended_errors = Errors::of(contended.filter(seen));
        report.prices = MachinePrices::of_simulated(config, &report);
        let rows = report.compared();
        let rows = rows.iter().map(|row| &row.compared);
        report.unseen_errors = Errors::of(rows.filter(|one| one.is_unseen()));
        report
    }
}

/// Returns the thread counts that need at most one thread on each core.
fn thread_counts(asked: &[usize], cores: usize, notes: &mut Vec<String>) -> Vec<usize> {
    let mut counts = match asked {
        [] => vec![1, 2, 4, 8, 16],
        asked => asked.to_vec(),
    };
    counts.sort_unstable();
    counts.dedup();
    let (fit, too_many): (Vec<usize>, Vec<usize>) =
        counts.into_iter().partition(|&count| count <= cores);
    if !asked.is_empty() {
        notes.extend(too_many.iter().map(|count| {
            format!("{count} threads are not measured: the machine has {cores} cores")
        }));
    }
    fit
}

/// A hash of many runs' hashes: FNV-1a over their bytes.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds one simulation's hash.
    fn fold(&mut self, hash: u64) {
        for byte in hash.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
