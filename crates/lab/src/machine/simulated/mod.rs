//! A simulated machine: what it charges, measured by programs that run on it,
//! beside what was published of the real one.
//!
//! Every measurement is one simulation of its own, from cold caches; the same
//! configuration gives the same numbers, whatever the host.

mod buffer;
mod contended;
mod distance;
mod errors;
mod handover;
mod latency;
mod local;
mod published;
mod stream;
mod system;
mod text;
mod thread;

#[cfg(test)]
mod bounds;

pub(crate) use errors::PresetErrors;
pub(super) use latency::{Operation, State};

use super::prices::MachinePrices;
use manycore_chip::config::Config;
use manycore_chip::{Run, SimulationError};
use published::Compared;
pub(crate) use published::Errors;
use serde::Serialize;

/// A simulated machine and what it charges.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SimulatedReport {
    /// `simulated`.
    pub(crate) world: &'static str,
    pub(crate) preset: String,
    /// The hash of the event streams of all simulations.
    pub(crate) hash: String,
    pub(crate) title: String,
    pub(crate) cores: u32,
    pub(crate) groups: u32,
    pub(crate) ghz: f64,
    /// Loads of a core's own, in cycles.
    pub(crate) local: Vec<LocalCost>,
    /// One access, in cycles.
    pub(crate) latencies: Vec<LatencyCost>,
    /// Increments of one counter, in nanoseconds.
    pub(crate) contended: Vec<ContendedCost>,
    pub(crate) handovers: Vec<HandoverCost>,
    /// Measured on machines whose cores go on beside lines on their way, and where
    /// bandwidths are published.
    pub(crate) bandwidths: Vec<Bandwidth>,
    pub(crate) launches: Vec<SimulatedLaunchCost>,
    pub(crate) wakes: Vec<SimulatedWakeCost>,
    /// What the cost model takes of all this; missing if some of it was not measured.
    pub(crate) prices: Option<MachinePrices>,
    /// Over load, store, compare-and-swap and fetch-and-add.
    pub(crate) latency_errors: Option<Errors>,
    /// Over increments that values of the machine were chosen by.
    pub(crate) contended_errors: Option<Errors>,
    /// Over all published numbers that no value of the machine was chosen by.
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

/// One word handed from core to core by compare-and-swap.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct HandoverCost {
    pub(crate) distance: String,
    pub(crate) cores: [usize; 2],
    pub(crate) ns: Compared,
}

/// Cores that walk through arrays of their own.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Bandwidth {
    pub(crate) kernel: stream::Kernel,
    pub(crate) cores: usize,
    pub(crate) gb_per_s: Compared,
}

/// A loop of one iteration of 10 us a thread on manycore's pool, less than 1 us after another
/// one: what it takes beyond the iteration, in the mean of 100.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SimulatedLaunchCost {
    pub(crate) threads: usize,
    pub(crate) ns: f64,
}

/// A thread that another wakes.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SimulatedWakeCost {
    /// How long it had slept.
    pub(crate) asleep_us: u64,
    /// Until its first instruction.
    pub(crate) ns: f64,
}

/// Simulates all measurements; `threads` (empty: 1, 2, 4, 8 and 16) are the
/// counts for contended counters and loops.
///
/// # Errors
///
/// What the simulation says.
pub(crate) fn measure(
    config: &Config,
    threads: &[usize],
    progress: &mut dyn FnMut(&str),
) -> Result<SimulatedReport, SimulationError> {
    let name = &config.name;
    let mut hash = Hash::new();
    let mut notes = Vec::new();
    let asked = thread_counts(threads, config.cores as usize, &mut notes);

    progress("local loads");
    let levels = hash.take(local::measure(config)?);
    let local = levels.into_iter().map(|(level, cycles)| LocalCost {
        level,
        cycles: Compared::new(cycles, published::local(name, config.ghz, level)),
    });
    let local: Vec<LocalCost> = local.collect();

    let mut latencies = Vec::new();
    let mut handovers = Vec::new();
    for distance in distance::classes(config) {
        progress(&distance.name);
        for cost in hash.take(latency::measure(config, &distance)?) {
            let latency::Cost {
                operation,
                state,
                cycles,
            } = cost;
            let at = &distance.name;
            let published = published::latency(name, config.ghz, operation, state, at);
            latencies.push(LatencyCost {
                operation,
                state,
                distance: distance.name.clone(),
                cycles: Compared::new(cycles, published),
            });
        }
        handovers.push(HandoverCost {
            cores: [distance.requester, distance.holder],
            ns: Compared::new(
                hash.take(handover::measure(config, &distance)?),
                published::server(name, "handover", &distance.name),
            ),
            distance: distance.name,
        });
    }
    let place = |cost: &LatencyCost| (cost.operation as usize, cost.state as usize);
    latencies.sort_by_key(place);

    let mut contended = Vec::new();
    let mut launches = Vec::new();
    let mut increments = asked.clone();
    if threads.is_empty() {
        increments.extend(published::contended_threads(name));
        increments.sort_unstable();
        increments.dedup();
        increments.retain(|&threads| threads <= config.cores as usize);
    }
    for threads in increments {
        progress(&format!("{threads} threads"));
        for operation in [Operation::Faa, Operation::Cas] {
            let ns = hash.take(contended::measure(config, operation, threads)?);
            contended.push(ContendedCost {
                operation,
                threads,
                ns: Compared::new(ns, published::contended(name, operation, threads)),
            });
        }
        if asked.contains(&threads) {
            let ns = hash.take(system::launch(config, threads)?);
            launches.push(SimulatedLaunchCost { threads, ns });
        }
    }
    contended.sort_by_key(|cost| cost.operation as usize);
    let mut wakes = Vec::new();
    if config.cores > 1 {
        for asleep_us in system::ASLEEP_US {
            let ns = hash.take(system::wake(config, asleep_us)?);
            wakes.push(SimulatedWakeCost { asleep_us, ns });
        }
    }

    let mut bandwidths = Vec::new();
    for kernel in stream::Kernel::ALL {
        if config.core.overlap.is_none() {
            break;
        }
        let places = published::places(name, kernel.name());
        let mut counts: Vec<usize> = places.filter_map(|cores| cores.parse().ok()).collect();
        if kernel == stream::Kernel::Triad {
            counts.push(1);
        }
        counts.sort_unstable();
        counts.dedup();
        for cores in counts.into_iter().filter(|&n| n <= config.cores as usize) {
            progress(&format!("{} by {cores} cores", kernel.name()));
            let found = hash.take(stream::measure(config, kernel, cores)?);
            let known = published::server(name, kernel.name(), &cores.to_string());
            bandwidths.push(Bandwidth {
                kernel,
                cores,
                gb_per_s: Compared::new(found, known),
            });
        }
    }

    let seen = |one: &&Compared| !one.is_unseen();
    let counted = latencies.iter().filter(|cost| cost.operation.is_counted());
    let mut report = SimulatedReport {
        world: "simulated",
        preset: name.clone(),
        hash: format!("{:016x}", hash.0),
        title: config.title.clone(),
        cores: config.cores,
        groups: config.groups(),
        ghz: config.ghz,
        latency_errors: Errors::of(counted.map(|cost| &cost.cycles).filter(seen)),
        contended_errors: Errors::of(contended.iter().map(|cost| &cost.ns).filter(seen)),
        local,
        latencies,
        contended,
        handovers,
        bandwidths,
        unseen_errors: None,
        launches,
        wakes,
        prices: None,
        notes,
        config: config.to_toml(),
    };
    report.prices = MachinePrices::of_simulated(config, &report);
    let unseen = report.compared().into_iter().map(|(_, one)| one);
    report.unseen_errors = Errors::of(unseen.filter(|one| one.is_unseen()));
    Ok(report)
}

/// One thread a core, at most.
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

    /// Adds a run's, and gives what the run measured.
    fn take<T>(&mut self, run: Run<T>) -> T {
        for byte in run.statistics.hash.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        run.value
    }
}
