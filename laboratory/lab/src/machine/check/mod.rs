//! Compares a preset with this host, by programs that were not used to measure the preset.

mod program;
mod text;

use super::summary::Summary;
use crate::failure::Interrupted;
use crate::instrument;
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
    let order = Topology::detect().compact_order();
    let threads = order.len().min(config.cores as usize);
    let here: Vec<Vec<usize>> = order[..threads].iter().map(|&cpu| vec![cpu]).collect();
    let there: Vec<Vec<usize>> = (0..threads).map(|core| vec![core]).collect();
    let rounds = if quick { 3 } else { ROUNDS };
    let (began, waited) = (std::time::Instant::now(), disturbance::waited());
    let mut samples = vec![Vec::with_capacity(rounds); Program::ALL.len()];
    for round in 0..=rounds {
        progress(&format!("native round {round} of {rounds}"));
        for (program, samples) in Program::ALL.into_iter().zip(&mut samples) {
            if interrupt::asked() {
                return Err(Interrupted("interrupted; nothing is kept".into()).into());
            }
            let ns = program
                .run::<Native>(&here)
                .with_context(|| program.name())?;
            // Round 0 warms up.
            if round > 0 {
                samples.push(ns);
            }
        }
    }
    let waited = disturbance::waited().zip(waited).map(|(now, before)| {
        now.saturating_sub(before).as_secs_f64() / began.elapsed().as_secs_f64()
    });
    let mut rows = Vec::new();
    for (program, samples) in Program::ALL.into_iter().zip(samples) {
        let name = program.name();
        progress(&format!("simulating {name}"));
        let run = instrument::run(Simulation::new(config), &name, || {
            program.run::<Simulated>(&there).ok()
        })?;
        let simulated_ns = run
            .value
            .with_context(|| format!("{name} on {}", config.name))?;
        let native_ns = Summary::of(samples).context("no native sample")?;
        rows.push(CheckRow {
            program: name,
            native_ns,
            simulated_ns,
            ratio: simulated_ns / native_ns.median,
        });
    }
    Ok(CheckReport {
        machine: cpu_model(),
        preset: config.name.clone(),
        threads,
        rounds,
        median_error: median(rows.iter().map(CheckRow::error)),
        worst_error: rows.iter().map(CheckRow::error).fold(0.0, f64::max),
        rows,
        disturbed: waited.and_then(disturbance::warning),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
