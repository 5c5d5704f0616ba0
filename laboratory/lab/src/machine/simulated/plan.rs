//! The measurements of a simulated machine. Each is a separate simulation that begins with cold caches, so they can run
//! side by side.

use super::distance::{self, Distance};
use super::latency::{self, Operation, State};
use super::programs::{self, Placed};
use super::published::{self, Compared};
use super::stream::{self, Kernel};
use super::{Bandwidth, ContendedCost, HandoverCost, LatencyCost, LocalCost, ProgramCost};
use super::{SimulatedLaunchCost, SimulatedWakeCost, contended, handover, local, system};
use anyhow::Context;
use manycore::{Partitioner, Pool};
use manycore_chip::config::Config;
use manycore_chip::{Run, SimulationError};
use std::cmp::Reverse;
use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The measured quantity.
#[derive(Clone, Debug)]
pub(super) enum Measurement {
    Local,
    Accesses(Distance),
    Handover(Distance),
    Increments(Operation, usize),
    Launch(usize),
    Wake(u64),
    Bandwidth(Kernel, usize),
    Program(Placed),
}

/// The result of a measurement, with the published number.
pub(super) enum Found {
    Local(Vec<LocalCost>),
    Accesses(Vec<LatencyCost>),
    Handover(HandoverCost),
    Increments(ContendedCost),
    Launch(SimulatedLaunchCost),
    Wake(SimulatedWakeCost),
    Bandwidth(Bandwidth),
    Program(ProgramCost),
}

/// The result with the hash of the simulation's events.
pub(super) type Hashed = (Found, u64);

/// All measurements of a machine, in the order of the report. `asked` are the thread counts for loops. Increments are
/// measured with these and with the counts in `published`.
pub(super) fn of(config: &Config, asked: &[usize], published: &[usize]) -> Vec<Measurement> {
    let mut plan = vec![Measurement::Local];
    for distance in distance::classes(config) {
        plan.push(Measurement::Accesses(distance.clone()));
        plan.push(Measurement::Handover(distance));
    }
    let mut counts = [asked, published].concat();
    counts.sort_unstable();
    counts.dedup();
    for threads in counts {
        let both = [Operation::Faa, Operation::Cas];
        plan.extend(both.map(|operation| Measurement::Increments(operation, threads)));
        if asked.contains(&threads) {
            plan.push(Measurement::Launch(threads));
        }
    }
    if config.cores > 1 {
        plan.extend(system::ASLEEP_US.map(Measurement::Wake));
    }
    if config.core.overlap.is_some() {
        plan.extend(bandwidths(config));
    }
    plan.extend(programs::published(config).map(Measurement::Program));
    plan
}

/// The published bandwidths, and the triad of one core.
fn bandwidths(config: &Config) -> impl Iterator<Item = Measurement> {
    Kernel::ALL.into_iter().flat_map(|kernel| {
        let places = published::places(&config.name, kernel.name());
        let mut counts: Vec<usize> = places.filter_map(|cores| cores.parse().ok()).collect();
        if kernel == Kernel::Triad {
            counts.push(1);
        }
        counts.sort_unstable();
        counts.dedup();
        counts.retain(|&cores| cores <= config.cores as usize);
        let all = counts.into_iter();
        all.map(move |cores| Measurement::Bandwidth(kernel, cores))
    })
}

impl Measurement {
    fn simulate(&self, config: &Config) -> Result<Hashed, SimulationError> {
        let name = &config.name;
        Ok(match self {
            Self::Local => hashed(local::measure(&one_by_one(config))?, |levels| {
                let levels = levels.into_iter().map(|(level, cycles)| LocalCost {
                    level,
                    cycles: Compared::new(cycles, published::local(name, config.ghz, level)),
                });
                Found::Local(levels.collect())
            }),
            Self::Accesses(distance) => {
                hashed(latency::measure(&one_by_one(config), distance)?, |costs| {
                    let costs = costs.into_iter().map(|cost| {
                        let (operation, state) = (cost.operation, cost.state);
                        let at = &distance.name;
                        let known = published::latency(name, config.ghz, operation, state, at);
                        LatencyCost {
                            operation,
                            state,
                            distance: at.clone(),
                            cycles: Compared::new(cost.cycles, known),
                        }
                    });
                    Found::Accesses(costs.collect())
                })
            }
            Self::Handover(distance) => hashed(handover::measure(config, distance)?, |ns| {
                let at = distance.name.clone();
                Found::Handover(HandoverCost {
                    cores: [distance.requester, distance.holder],
                    ns: Compared::new(ns, published::server(name, "handover", &at)),
                    distance: at,
                })
            }),
            &Self::Increments(operation, threads) => {
                hashed(contended::measure(config, operation, threads)?, |ns| {
                    let known = published::contended(name, operation, threads);
                    Found::Increments(ContendedCost {
                        operation,
                        threads,
                        ns: Compared::new(ns, known),
                    })
                })
            }
            &Self::Launch(threads) => hashed(system::launch(config, threads)?, |ns| {
                Found::Launch(SimulatedLaunchCost { threads, ns })
            }),
            &Self::Wake(asleep_us) => hashed(system::wake(config, asleep_us)?, |ns| {
                Found::Wake(SimulatedWakeCost { asleep_us, ns })
            }),
            &Self::Bandwidth(kernel, cores) => {
                hashed(stream::measure(config, kernel, cores)?, |found| {
                    let known = published::server(name, kernel.name(), &cores.to_string());
                    Found::Bandwidth(Bandwidth {
                        kernel,
                        cores,
                        gb_per_s: Compared::new(found, known),
                    })
                })
            }
            Self::Program(placed) => hashed(placed.measure(config)?, |ns| {
                let (program, place) = (placed.program.name(), placed.place.clone());
                Found::Program(ProgramCost {
                    ns: Compared::new(ns, published::server(name, program, &place)),
                    program,
                    place,
                })
            }),
        })
    }

    /// Whether a number of this measurement was published for the machine.
    pub(super) fn is_published(&self, config: &Config) -> bool {
        let (name, ghz) = (&config.name, config.ghz);
        match self {
            Self::Local => {
                let level = |level| published::local(name, ghz, level).is_some();
                ["L1", "L2", "LLC", "RAM"].into_iter().any(level)
            }
            Self::Accesses(at) => Operation::ALL.into_iter().any(|operation| {
                let known = |state| published::latency(name, ghz, operation, state, &at.name);
                State::ALL.into_iter().any(|state| known(state).is_some())
            }),
            Self::Handover(at) => published::server(name, "handover", &at.name).is_some(),
            &Self::Increments(operation, threads) => {
                published::contended(name, operation, threads).is_some()
            }
            Self::Launch(_) | Self::Wake(_) => false,
            Self::Bandwidth(kernel, cores) => {
                published::server(name, kernel.name(), &cores.to_string()).is_some()
            }
            Self::Program(_) => true,
        }
    }

    /// The expected time of the measurement relative to others.
    fn weight(&self) -> usize {
        match *self {
            Self::Local => 50,
            Self::Accesses(_) | Self::Handover(_) | Self::Wake(_) | Self::Program(_) => 5,
            Self::Increments(_, threads) => threads,
            Self::Launch(threads) => 5 * threads,
            Self::Bandwidth(_, cores) => 10 * cores,
        }
    }
}

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => write!(f, "local loads"),
            Self::Accesses(distance) => write!(f, "accesses, {}", distance.name),
            Self::Handover(distance) => write!(f, "handover, {}", distance.name),
            Self::Increments(operation, threads) => {
                write!(f, "counter by {}, {threads} threads", operation.name())
            }
            Self::Launch(threads) => write!(f, "loops, {threads} threads"),
            Self::Wake(asleep_us) => write!(f, "wake-up after {asleep_us} us"),
            Self::Bandwidth(kernel, cores) => write!(f, "{}, {cores} cores", kernel.name()),
            Self::Program(placed) => write!(f, "{}, {}", placed.program, placed.place),
        }
    }
}

/// The machine for loads and accesses that are timed one at a time. On real machines these are timed by pointer chases,
/// which visit lines in an order that no prefetcher foresees. Our programs visit lines in turn, so they need a machine
/// without a prefetcher.
fn one_by_one(config: &Config) -> Config {
    let mut config = config.clone();
    config.core.overlap = None;
    config
}

fn hashed<T>(run: Run<T>, found: impl FnOnce(T) -> Found) -> Hashed {
    let hash = run.statistics.hash;
    (found(run.value), hash)
}

/// Simulates all measurements, the longest first, one at a time on each of the host's threads. `progress` gets the name
/// of each measurement that begins. Returns the results in the order of `plan`.
pub(super) fn simulate(
    plan: &[(&Config, Measurement)],
    progress: &mut (dyn FnMut(&str) + Send),
) -> anyhow::Result<Vec<Hashed>> {
    let mut order: Vec<usize> = (0..plan.len()).collect();
    order.sort_by_key(|&at| Reverse(plan[at].1.weight()));
    let host = Pool::builder()
        .build()
        .context("simulations side by side")?;
    let progress = Mutex::new(progress);
    let found: Vec<OnceLock<_>> = plan.iter().map(|_| OnceLock::new()).collect();
    let one_by_one = host.with(Partitioner::fixed_block(1));
    one_by_one.parallel_for(0..order.len(), |turn| {
        let at = order[turn];
        let (config, measurement) = &plan[at];
        {
            let mut tell = progress.lock().unwrap_or_else(PoisonError::into_inner);
            tell(&format!("{}, {measurement}", config.name));
        }
        // Each result is set only once.
        let _ = found[at].set(measurement.simulate(config));
    });
    let found = found.into_iter().filter_map(OnceLock::into_inner);
    Ok(found.collect::<Result<_, _>>()?)
}
