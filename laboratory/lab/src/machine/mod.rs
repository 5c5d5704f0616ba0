//! This machine: its topology, and the measured cost of the operations that a parallel loop consists of.
//!
//! The measurements of one kind take turns, round by round. If the host changes its speed meanwhile, the change affects
//! all of these measurements.

mod atomics;
pub(crate) mod check;
#[cfg(test)]
mod described;
mod distance;
pub(crate) mod figure;
mod host;
mod launch;
pub(crate) mod own;
mod picture;
mod prices;
mod probe;
pub(crate) mod simulated;
mod summary;
mod team;
mod text;
mod wake;

pub(crate) use prices::{INSTRUCTIONS_A_BYTE, MachinePrices};

use crate::failure::bad_input;
use crate::report::processor::cpu_model;
use crate::world::World;
use atomics::{AtomicCost, CounterOperation};
use distance::DistanceCost;
use host::TopologyData;
use launch::{Before, Crew, LaunchCost};
use manycore::Affinity;
use manycore::topology::Topology;
use manycore_chip::config::Config;
use picture::Picture;
use serde::Serialize;
use std::io;
use wake::WakeCost;

/// The measurements to make.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MachineOptions {
    /// How often each measurement is taken.
    pub(crate) rounds: usize,
    /// Thread counts for contended atomics and for loops. If empty: 2, 4, 8, ... and the number of usable CPUs.
    pub(crate) threads: Vec<usize>,
}

impl MachineOptions {
    /// Options for a measurement of a few seconds.
    pub(crate) fn quick() -> Self {
        Self {
            rounds: 20,
            threads: Vec::new(),
        }
    }

    /// Options with ten times as many rounds.
    pub(crate) fn full() -> Self {
        Self {
            rounds: 200,
            threads: Vec::new(),
        }
    }
}

/// The machine and the costs of its operations.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MachineReport {
    /// Always `native`: real threads on this host.
    pub(crate) world: &'static str,
    pub(crate) machine: String,
    pub(crate) usable_cpus: usize,
    pub(crate) rounds: usize,
    pub(crate) topology: TopologyData,
    /// The topology as text.
    pub(crate) picture: String,
    pub(crate) atomics: Vec<AtomicCost>,
    pub(crate) distances: Vec<DistanceCost>,
    pub(crate) launches: Vec<LaunchCost>,
    pub(crate) wake: Option<WakeCost>,
    pub(crate) costs: MeasuredCosts,
    /// The costs that the cost model uses. `None` if a measurement is missing.
    pub(crate) prices: Option<MachinePrices>,
    /// Missing measurements, with their reasons.
    pub(crate) notes: Vec<String>,
}

/// The medians that a cost model uses, in nanoseconds. A cost that could not be measured is missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct MeasuredCosts {
    /// A fetch-and-add on a line that no other thread uses.
    pub(crate) faa_ns: Option<f64>,
    /// A compare-and-swap loop on a line that no other thread uses.
    pub(crate) cas_ns: Option<f64>,
    /// A fetch-and-add on a line that this many threads increment.
    pub(crate) faa_contended_ns: Vec<CostByThreads>,
    /// Starting a loop of one task for each thread, right after another loop.
    pub(crate) launch_hot_ns: Vec<CostByThreads>,
    /// Starting such a loop after the caller has done other work for 1 ms.
    pub(crate) launch_gap_ns: Vec<CostByThreads>,
    /// The time from the call that wakes a sleeping thread to its first instruction.
    pub(crate) wake_ns: Option<f64>,
}

/// A cost that depends on the number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct CostByThreads {
    pub(crate) threads: usize,
    pub(crate) ns: f64,
}

/// Measures this machine. `progress` gets the name of each measurement.
///
/// With [`MachineOptions::quick`] this takes a few seconds for each thread count. No other program should run
/// meanwhile.
pub(crate) fn measure(options: &MachineOptions, progress: &mut dyn FnMut(&str)) -> MachineReport {
    let topology = Topology::detect();
    let order = topology.compact_order();
    let mut probe = Probe {
        rounds: options.rounds.max(1),
        notes: Vec::new(),
        progress,
    };
    let pinned = probe.can_pin(&order);
    let place = |index: usize| match pinned {
        true => vec![order[index]],
        false => Vec::new(),
    };
    let threads = probe.thread_counts(&options.threads, order.len());

    let mut teams = vec![vec![place(0)]];
    if pinned {
        teams.extend(threads.iter().map(|&count| (0..count).map(place).collect()));
    }
    let atomics = probe.take("atomics", |rounds, progress| {
        atomics::measure(&teams, rounds, progress)
    });
    let distances = probe.take("distances", |rounds, progress| match pinned {
        true => distance::measure(&topology, rounds, progress),
        false => Ok(Vec::new()),
    });
    let crews: Vec<Crew> = threads
        .iter()
        .map(|&threads| Crew {
            threads,
            affinity: match pinned {
                true => Affinity::Compact,
                false => Affinity::None,
            },
            caller: place(0),
        })
        .collect();
    let launches = probe.take("loop launch", |rounds, progress| {
        launch::measure(&crews, rounds, progress)
    });
    let wake = probe.take("wake-up", |rounds, progress| match order[..] {
        [waker, sleeper, ..] if pinned => {
            wake::measure([waker, sleeper], wake::ASLEEP, rounds, progress)
        }
        _ => Ok(None),
    });

    let mut report = MachineReport {
        world: "native",
        machine: cpu_model(),
        usable_cpus: topology.usable().len(),
        rounds: probe.rounds,
        topology: TopologyData::from(&topology),
        picture: Picture(&topology).to_string(),
        costs: costs(&atomics, &launches, wake.as_ref()),
        atomics,
        distances,
        launches,
        wake,
        prices: None,
        notes: probe.notes,
    };
    report.prices = MachinePrices::of_host(&report);
    report
}

/// Measures the prices (the costs that the cost model uses) of this host or of a simulated machine.
pub(crate) fn prices(
    world: &World,
    progress: &mut (dyn FnMut(&str) + Send),
) -> anyhow::Result<MachinePrices> {
    let (prices, name) = match world {
        World::Native => {
            let options = MachineOptions {
                threads: vec![2],
                ..MachineOptions::quick()
            };
            (measure(&options, progress).prices, cpu_model())
        }
        World::Simulated(config) => {
            let report = simulated::measure(config, &[1, 2], progress)?;
            (report.prices, config.name.clone())
        }
    };
    prices.ok_or_else(|| no_prices(&name))
}

/// Measures the prices of a simulated machine. Also returns the hash of the simulations.
pub(crate) fn simulated_prices(config: &Config) -> anyhow::Result<(MachinePrices, u64)> {
    let report = simulated::measure(config, &[1, 2], &mut |_| ())?;
    let hash = u64::from_str_radix(&report.hash, 16)?;
    let prices = report.prices.ok_or_else(|| no_prices(&config.name))?;
    Ok((prices, hash))
}

fn no_prices(name: &str) -> anyhow::Error {
    bad_input(format!(
        "{name}: the prices of this machine cannot be measured; expected two CPUs or more, and \
         threads that can be pinned to them"
    ))
}

/// The common data of the measurements.
struct Probe<'a> {
    rounds: usize,
    notes: Vec<String>,
    progress: &'a mut dyn FnMut(&str),
}

impl Probe<'_> {
    /// Returns whether threads can be pinned to CPUs here. If not, adds a note.
    fn can_pin(&mut self, order: &[usize]) -> bool {
        match team::run(&order[..1], |_| ()) {
            Ok(_) => true,
            Err(error) => {
                self.notes.push(format!(
                    "threads cannot be pinned to CPUs here ({error}): contended atomics, \
                     distances and wake-up are not measured, and everything else is measured on \
                     unpinned threads"
                ));
                false
            }
        }
    }

    /// Returns the thread counts to measure. Each is at least two, and at most the number of CPUs.
    fn thread_counts(&mut self, asked: &[usize], cpus: usize) -> Vec<usize> {
        if cpus < 2 {
            self.notes.push(
                "only one CPU can be used: contention, distances, launch and wake-up are not \
                 measured, since they need two"
                    .into(),
            );
            return Vec::new();
        }
        let mut counts: Vec<usize> = match asked {
            [] => std::iter::successors(Some(2), |count| Some(count * 2))
                .take_while(|&count| count < cpus)
                .chain([cpus])
                .collect(),
            asked => asked.iter().copied().filter(|&count| count > 1).collect(),
        };
        counts.sort_unstable();
        counts.dedup();
        for &count in counts.iter().filter(|&&count| count > cpus) {
            self.notes.push(format!(
                "{count} threads are not measured: on {cpus} usable CPUs they would take turns, \
                 and the times would be those of the scheduler"
            ));
        }
        counts.retain(|&count| count <= cpus);
        counts
    }

    /// Takes measurements of one kind. If the system refuses them, adds a note.
    fn take<T: Default>(
        &mut self,
        what: &str,
        measure: impl FnOnce(usize, &mut dyn FnMut(&str)) -> io::Result<T>,
    ) -> T {
        measure(self.rounds, self.progress).unwrap_or_else(|error| {
            self.notes.push(format!("{what} not measured: {error}"));
            T::default()
        })
    }
}

fn costs(
    atomics: &[AtomicCost],
    launches: &[LaunchCost],
    wake: Option<&WakeCost>,
) -> MeasuredCosts {
    let alone = |operation| {
        let cost = atomics
            .iter()
            .find(|cost| cost.operation == operation && cost.threads == 1);
        cost.map(|cost| cost.ns_per_op.median)
    };
    let launch = |before| {
        let costs = launches.iter().filter(|cost| cost.before == before);
        let by_threads = costs.map(|cost| CostByThreads {
            threads: cost.threads,
            ns: cost.overhead_ns.median,
        });
        by_threads.collect()
    };
    let contended = atomics
        .iter()
        .filter(|cost| cost.operation == CounterOperation::FetchAndAdd && cost.threads > 1);
    MeasuredCosts {
        faa_ns: alone(CounterOperation::FetchAndAdd),
        cas_ns: alone(CounterOperation::CompareAndSwap),
        faa_contended_ns: contended
            .map(|cost| CostByThreads {
                threads: cost.threads,
                ns: cost.ns_per_op.median,
            })
            .collect(),
        launch_hot_ns: launch(Before::Hot),
        launch_gap_ns: launch(Before::Busy1Ms),
        wake_ns: wake.map(|cost| cost.latency_ns.median),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(progress: &mut dyn FnMut(&str)) -> Probe<'_> {
        Probe {
            rounds: 1,
            notes: Vec::new(),
            progress,
        }
    }

    #[test]
    fn thread_counts_double_up_to_the_machine() {
        let mut quiet = |_: &str| ();
        assert_eq!(probe(&mut quiet).thread_counts(&[], 2), [2]);
        assert_eq!(probe(&mut quiet).thread_counts(&[], 8), [2, 4, 8]);
        assert_eq!(probe(&mut quiet).thread_counts(&[], 12), [2, 4, 8, 12]);
    }

    #[test]
    fn what_does_not_fit_is_noted() {
        let mut quiet = |_: &str| ();
        let mut probe = probe(&mut quiet);
        assert_eq!(probe.thread_counts(&[8, 1, 2, 2], 4), [2]);
        assert_eq!(probe.notes.len(), 1);
        assert!(probe.thread_counts(&[], 1).is_empty());
        assert!(probe.notes[1].contains("only one CPU"));
    }

    #[test]
    fn one_round_reports_every_part() {
        let options = MachineOptions {
            rounds: 1,
            threads: vec![2],
        };
        let report = measure(&options, &mut |_| ());
        assert!(report.costs.faa_ns.is_some_and(|ns| ns > 0.0));
        let text = report.to_string();
        assert!(text.contains("fetch-and-add"), "{text}");
        assert!(text.contains(&report.machine), "{text}");
        if report.usable_cpus > 1 && report.notes.is_empty() {
            assert!(report.costs.wake_ns.is_some());
            assert_eq!(report.launches.len(), 3);
            assert!(!report.distances.is_empty());
        }
    }
}
