//! The study's checked settings, with their defaults.

use super::super::case::{PackingCase, Turn};
use super::super::config::{barrier, cores};
use super::super::load::Load;
use super::super::mode::Mode;
use crate::failure::bad_input;
use crate::study::settings::bounded;
use crate::study::trial::Setup;
use crate::study::{Request, order};
use serde::Serialize;
use std::fmt;

/// The number of ranks (threads of the program) on a machine with at least as many cores.
const THREADS: u64 = 16;
/// Barriers that count.
const INTERVALS: u64 = 12;
/// The most barriers that are skipped under tp. The system takes a while to balance threads. With the shortest intervals
/// the threads would pass 200,000 barriers in this while, and their simulation would take minutes. A run ends when it is
/// steady.
const SETTLING: usize = 500;
/// The work of a rank between two barriers, in us.
const LENGTHS: [u64; 11] = [2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000];

/// Everything that decides what is measured. Its hash names the journal (the file of measurements).
#[derive(Clone, Debug, Serialize)]
pub(super) struct IntervalsConfig {
    #[serde(flatten)]
    pub(super) setup: Setup,
    pub(super) threads: usize,
    /// Numbers of cores below the number of threads.
    pub(super) cores: Vec<usize>,
    /// The work of a rank between two barriers, in us.
    pub(super) lengths: Vec<u64>,
    barriers: Vec<String>,
    intervals: usize,
    /// The orders of events (seeds of the machine's random delays).
    pub(super) orders: Vec<u64>,
}

/// A way to run the ranks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct IntervalsWay {
    pub(super) mode: Mode,
    /// The barrier of threads. `None` for ranks on a team.
    pub(super) barrier: Option<String>,
}

impl IntervalsConfig {
    pub(super) fn new(request: &Request) -> anyhow::Result<Self> {
        let mut setup = Setup::new("intervals", request)?;
        let Some(chip) = setup.machines.0.first_mut() else {
            return Err(bad_input(
                "--on native: this study runs on simulated machines; expected --on PRESET, or study packing",
            ));
        };
        if let Some(name) = request.only.first() {
            return Err(bad_input(format!(
                "--only {name}: this study always compares all ways; expected no --only"
            )));
        }
        let orders = order::requested(request.orders, Some(chip))?;
        let most = chip.cores();
        let set = &request.settings;
        let threads = set
            .number("threads")?
            .unwrap_or(THREADS.min(most as u64).max(2)) as usize;
        let cores = match request.cores[..] {
            [] => {
                let mut fewer = vec![(threads * 3 / 4).min(most), (threads - 1).min(most)];
                fewer.dedup();
                fewer
            }
            _ => cores(request, most, 0)?,
        };
        if let Some(wrong) = cores
            .iter()
            .find(|&&cores| cores >= threads || cores > most)
        {
            return Err(bad_input(format!(
                "--cores {wrong}: expected at most {most}, and fewer than the {threads} threads"
            )));
        }
        let barriers = set.list("barriers", |name| barrier(Some(name)))?;
        let mut config = Self {
            threads,
            cores,
            lengths: set.numbers("lengths").unwrap_or_else(|| LENGTHS.to_vec()),
            barriers: barriers.unwrap_or_else(|| vec!["default".into()]),
            intervals: set.number("intervals")?.unwrap_or(INTERVALS) as usize,
            orders,
            setup,
        };
        config.lengths.sort_unstable();
        bounded(&[config.cases().len()])?;
        Ok(config)
    }

    /// Thread reduction, ranks on a team, and thread packing with each barrier.
    pub(super) fn ways(&self) -> Vec<IntervalsWay> {
        let of = |mode, barrier: Option<&String>| IntervalsWay {
            mode,
            barrier: barrier.cloned(),
        };
        let packed = self
            .barriers
            .iter()
            .map(|barrier| of(Mode::Tp, Some(barrier)));
        [of(Mode::Tr, self.barriers.first()), of(Mode::Wrap, None)]
            .into_iter()
            .chain(packed)
            .collect()
    }

    pub(super) fn case(
        &self,
        cores: usize,
        length: u64,
        way: &IntervalsWay,
        order: u64,
    ) -> PackingCase {
        PackingCase {
            load: Load::Sweep {
                ns: length * 1_000,
                skew: 0,
                intervals: self.intervals,
            },
            threads: self.threads,
            mode: way.mode,
            barrier: way.barrier.clone().unwrap_or_default(),
            turns: vec![Turn { at_ns: 0, cores }],
            doublings: 0,
            most_settling: SETTLING,
            settings: order::settings(order),
        }
    }

    pub(super) fn cases(&self) -> Vec<PackingCase> {
        let mut cases = Vec::new();
        for &cores in &self.cores {
            for &length in &self.lengths {
                for way in &self.ways() {
                    let orders = self.orders.iter();
                    cases.extend(orders.map(|&order| self.case(cores, length, way, order)));
                }
            }
        }
        cases
    }
}

impl IntervalsWay {
    /// The name of the mode in this study.
    pub(super) fn name(&self) -> &'static str {
        match self.mode {
            Mode::Wrap => "ours",
            mode => mode.name(),
        }
    }
}

impl fmt::Display for IntervalsWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name())?;
        match &self.barrier {
            Some(barrier) => write!(f, " {barrier}"),
            None => Ok(()),
        }
    }
}
