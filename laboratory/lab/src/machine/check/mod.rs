//! Compares a preset with this host, by programs that were not used to measure the preset.

mod program;
mod text;

use super::summary::Summary;
use crate::instrument;
use crate::machine::own::{self, ALIKE};
use crate::machine::probe;
use crate::measure::disturbance;
use crate::measure::interrupt;
use crate::measure::statistics::median;
use crate::report::processor::cpu_model;
use anyhow::Context;
use manycore::topology::Topology;
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::Native;
use program::Program;
use serde::Serialize;

/// The native rounds. Each runs every program once.
const ROUNDS: usize = 60;

/// A preset's errors on this host.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CheckReport {
    pub(crate) machine: String,
    pub(crate) preset: String,
    pub(crate) threads: usize,
    pub(crate) rounds: usize,
    pub(crate) rows: Vec<CheckRow>,
    /// The time of a handover between the first two cores. If `is_own`, the preset was fitted to it, so no error counts
    /// it. `None` if this host or the preset has one core.
    pub(crate) handover: Option<CheckRow>,
    /// Whether `--as-preset` wrote the preset, and no `--set` changed it.
    pub(crate) is_own: bool,
    pub(crate) median_error: f64,
    pub(crate) worst_error: f64,
    /// A warning if other programs used the CPUs.
    pub(crate) disturbed: Option<String>,
}

/// A program in both worlds, in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CheckRow {
    pub(crate) program: String,
    pub(crate) native_ns: Summary,
    pub(crate) simulated_ns: f64,
    /// The simulated time divided by the native time.
    pub(crate) ratio: f64,
}

impl CheckRow {
    fn new(program: String, samples: Vec<f64>, simulated_ns: f64) -> anyhow::Result<Self> {
        let native_ns = Summary::of(samples).context("no native sample")?;
        Ok(Self {
            program,
            native_ns,
            simulated_ns,
            ratio: simulated_ns / native_ns.median,
        })
    }

    /// Whether the simulated time is outside of the middle 80% of the native times, and differs from their median by
    /// more than handovers of one distance do.
    pub(crate) fn is_beyond_spread(&self) -> bool {
        let native = &self.native_ns;
        let is_within = (native.p10..=native.p90).contains(&self.simulated_ns);
        !is_within && self.error() > ALIKE - 1.0
    }

    /// The distance of the ratio from 1. Half and double are the same error, 100%.
    pub(crate) fn error(&self) -> f64 {
        self.ratio.max(1.0 / self.ratio) - 1.0
    }
}

/// Runs the programs on as many threads as both this host and the preset have cores.
///
/// # Errors
///
/// Fails if a thread cannot be made or pinned, if a simulation fails, or after ctrl-C.
pub(crate) fn measure(
    config: &Config,
    quick: bool,
    progress: &mut dyn FnMut(&str),
) -> anyhow::Result<CheckReport> {
    interrupt::watch();
    let host = Topology::detect();
    let (here, there) = places(&host, config);
    let threads = here.len();
    let rounds = if quick { 3 } else { ROUNDS };
    let before = disturbance::seen();
    let mut samples = vec![Vec::with_capacity(rounds); Program::ALL.len()];
    let pair = here.get(..2).zip(there.get(..2));
    let pair = pair.filter(|(here, there)| are_apart(&host, config, here, there));
    let mut handovers = Vec::with_capacity(rounds);
    for round in 0..=rounds {
        progress(&format!("native round {round} of {rounds}"));
        for (program, samples) in Program::ALL.into_iter().zip(&mut samples) {
            interrupt::go_on()?;
            let ns = program
                .run::<Native>(&here)
                .with_context(|| program.name())?;
            // Round 0 warms up.
            if round > 0 {
                samples.push(ns);
            }
        }
        if let Some((here, _)) = pair {
            let ns = probe::handover::<Native>(here)?;
            if round > 0 {
                handovers.push(ns);
            }
        }
    }
    let after = disturbance::seen();
    let [waited, watched] = [0, 1].map(|at: usize| (after[at] - before[at]) as f64);
    let mut simulated = |name: &str, program: &dyn Fn() -> std::io::Result<f64>| {
        interrupt::go_on()?;
        progress(&format!("simulating {name}"));
        let run = instrument::run(Simulation::new(config), &name, || program().ok())?;
        run.value
            .with_context(|| format!("{name} on {}", config.name))
    };
    let mut rows = Vec::new();
    for (program, samples) in Program::ALL.into_iter().zip(samples) {
        let name = program.name();
        let ns = simulated(&name, &|| program.run::<Simulated>(&there))?;
        rows.push(CheckRow::new(name, samples, ns)?);
    }
    let handover = match pair {
        Some((_, there)) => {
            let ns = simulated("handover", &|| probe::handover::<Simulated>(there))?;
            Some(CheckRow::new("handover".into(), handovers, ns)?)
        }
        None => None,
    };
    Ok(CheckReport {
        machine: cpu_model(),
        preset: config.name.clone(),
        threads,
        rounds,
        median_error: median(rows.iter().map(CheckRow::error)),
        worst_error: rows.iter().map(CheckRow::error).fold(0.0, f64::max),
        rows,
        handover,
        is_own: own::is_written(config),
        disturbed: disturbance::warning(waited / watched),
    })
}

/// Returns the places of the threads on `host` and on the simulated machine. On both, threads first get a core each,
/// and then the second hardware threads of the cores. So threads that share a core here do so there, unless the machines
/// have different numbers of cores.
fn places(host: &Topology, config: &Config) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
    let core = |cpu: usize| host.cpu(cpu).map(|cpu| cpu.core);
    let order = host.compact_order();
    let earlier = |at: usize| {
        let same = order[..at]
            .iter()
            .filter(|&&cpu| core(cpu) == core(order[at]));
        same.count()
    };
    let mut here: Vec<(usize, usize)> = (0..order.len()).map(|at| (earlier(at), at)).collect();
    here.sort_unstable();
    let a_core = config.threads_per_core as usize;
    let cores = config.cores as usize / a_core;
    let there = (0..config.cores as usize).map(|thread| thread % cores * a_core + thread / cores);
    let threads = order.len().min(config.cores as usize);
    let here = here.into_iter().map(|(_, at)| vec![order[at]]);
    let there = there.map(|thread| vec![thread]);
    (here.take(threads).collect(), there.take(threads).collect())
}

/// Whether the first two places are on different cores, both on `host` and on the simulated machine.
fn are_apart(host: &Topology, config: &Config, here: &[Vec<usize>], there: &[Vec<usize>]) -> bool {
    let differ = |places: &[Vec<usize>], core: &dyn Fn(usize) -> usize| match places {
        [one, other] => core(one[0]) != core(other[0]),
        _ => false,
    };
    let core = |cpu: usize| host.cpu(cpu).map_or(cpu, |cpu| cpu.core);
    let core_there = |thread: usize| thread / config.threads_per_core as usize;
    differ(here, &core) && differ(there, &core_there)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::described::Files;

    #[test]
    fn half_and_double_are_the_same_error() {
        let row = |ratio| CheckRow {
            program: String::new(),
            native_ns: Summary::of(vec![1.0]).unwrap(),
            simulated_ns: ratio,
            ratio,
        };
        assert_eq!(row(2.0).error(), 1.0);
        assert_eq!(row(0.5).error(), 1.0);
        assert_eq!(row(1.0).error(), 0.0);
    }

    #[test]
    fn a_handover_is_another_one_beyond_spread_and_distance() {
        let beyond = |simulated: f64| {
            let native = [50.0, 50.0, 51.0, 52.0, 90.0].to_vec();
            CheckRow::new("handover".into(), native, simulated)
                .unwrap()
                .is_beyond_spread()
        };
        assert_eq!(
            [30.0, 45.0, 52.0, 70.0, 200.0].map(beyond),
            [true, false, false, false, true]
        );
    }

    /// For each rank, the first rank that is on the same core.
    fn first_on_core(places: &[Vec<usize>], core: impl Fn(usize) -> usize) -> Vec<usize> {
        let cores: Vec<usize> = places.iter().map(|place| core(place[0])).collect();
        let first = |one: &usize| cores.iter().position(|other| other == one).unwrap();
        cores.iter().map(first).collect()
    }

    #[test]
    fn threads_share_cores_alike_in_both_worlds() {
        let config = Config::preset("dahu-smt").unwrap();
        let a_core = config.threads_per_core as usize;
        let cores = config.cores as usize / a_core;
        // A host like the machine, one with a part of its cores in two groups, and one without siblings.
        for (host, alike) in [
            (Files::new([1, 1, cores], a_core, "0-63"), true),
            (Files::new([1, 2, cores / 2], a_core, "0-63"), true),
            (Files::new([1, 1, 4], 1, "0-3"), true),
            (Files::new([1, 1, 4], 2, "0-7"), false),
        ] {
            let host = host.topology();
            let (here, there) = places(&host, &config);
            assert_eq!(here.len(), there.len());
            let here = first_on_core(&here, |cpu| host.cpu(cpu).unwrap().core);
            let there = first_on_core(&there, |thread| thread / a_core);
            assert_eq!(here == there, alike, "{here:?} {there:?}");
            assert_eq!(here[..4], there[..4]);
        }
    }

    #[test]
    fn a_handover_is_between_two_cores_in_both_worlds() {
        let config = |cores: u32, a_core: u32| {
            let mut config = Config::preset("dahu-smt").unwrap();
            (config.cores, config.threads_per_core) = (cores, a_core);
            config
        };
        let host = |cores, a_core, cpus| Files::new([1, 1, cores], a_core, cpus).topology();
        for (host, config, expected) in [
            (host(2, 2, "0-3"), config(4, 2), true),
            (host(2, 1, "0-1"), config(2, 1), true),
            // One core with two hardware threads, here, there, and in both worlds.
            (host(1, 2, "0-1"), config(4, 2), false),
            (host(2, 1, "0-1"), config(2, 2), false),
            (host(1, 2, "0-1"), config(2, 2), false),
            (host(1, 1, "0"), config(4, 2), false),
        ] {
            let (here, there) = places(&host, &config);
            let pair = here.get(..2).zip(there.get(..2));
            let found = pair.is_some_and(|(here, there)| are_apart(&host, &config, here, there));
            assert_eq!(found, expected, "{here:?} {there:?}");
        }
    }

    #[test]
    fn a_simulated_program_takes_the_same_time_again() {
        let mut config = Config::preset("milan-7r13x2").unwrap();
        config.set("atomics.hold=400").unwrap();
        for program in Program::ALL {
            let places = [vec![0], vec![1]];
            let run = || Simulation::new(&config).run(|| program.run::<Simulated>(&places).ok());
            let [one, other] = [run(), run()].map(|run| run.unwrap().value.unwrap());
            assert!(one > 0.0 && one == other, "{program:?}: {one} {other}");
        }
    }
}
