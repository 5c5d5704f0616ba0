//! One run of a program, and all that decides it.

use super::account::Account;
use super::declared::Declared;
use super::load::Load;
use super::mode::Mode;
use super::run::{Ran, run};
use super::world::World;
use crate::study::trial::{Machines, Trial};
use anyhow::anyhow;
use manycore::Native;
use manycore::topology::Topology;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::Platform;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// From a time on, a number of cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Turn {
    /// From the program's begin.
    pub(super) at_ns: u64,
    pub(super) cores: usize,
}

/// All that decides it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Case {
    pub(super) load: Load,
    /// What the program was written for.
    pub(super) threads: usize,
    pub(super) mode: Mode,
    /// At which barrier the threads meet.
    pub(super) barrier: String,
    /// At least one; the first at once.
    pub(super) turns: Vec<Turn>,
    /// Changes to the machine, as for `--set`.
    pub(super) settings: Vec<String>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Outcome {
    /// From when it had settled to its end.
    pub(super) time_ns: f64,
    /// Barriers that a rank passed in this time.
    pub(super) barriers: usize,
    /// When, from the first on, if the cores change meanwhile.
    pub(super) passed_ns: Vec<f64>,
    pub(super) account: Account,
    /// The verified answer.
    pub(super) answer: String,
}

impl Case {

    /// Barriers until it counts: from the first on if the cores change.
    pub(super) fn unsettled(&self) -> usize {
        match self.turns.len() {
            1 => self.load.unsettled(),
            _ => 0,
        }
    }

    fn most_cores(&self) -> usize {
        self.turns.iter().map(|turn| turn.cores).max().unwrap_or(1)
    }

    fn prepare<W: World>(&self, cpi: f64) -> Declared<W> {
        let per_ns = W::per_ns(cpi);
        match self.load {
            Load::Interval {
                benchmark,
                intervals,
            } => {
                let work = vec![benchmark.interval_ns() * per_ns; self.threads];
                Declared::intervals(&work, self.unsettled() + intervals)
            }
            Load::Sweep {
                ns,
                skew,
                intervals,
            } => {
                let last = (self.threads - 1).max(1) as f64;
                let share = |rank: usize| {
                    let from_middle = 2.0 * rank as f64 / last - 1.0;
                    1.0 + f64::from(skew) / 100.0 * from_middle
                };
                let work: Vec<f64> = (0..self.threads)
                    .map(|rank| share(rank) * ns as f64 * per_ns)
                    .collect();
                Declared::intervals(&work, self.unsettled() + intervals)
            }
        }
    }

    fn outcome(&self, ran: &Ran, per_ns: f64) -> Outcome {
        let passed = &ran.notes.passed;
        let (first, last) = (passed[0], passed[passed.len() - 1]);
        let ns = |&at: &u64| (at - first) as f64 / per_ns;
        Outcome {
            time_ns: ns(&last),
            barriers: passed.len() - 1,
            passed_ns: match self.turns.len() {
                1 => Vec::new(),
                _ => passed.iter().map(ns).collect(),
            },
            account: ran.notes.account,
            // A copy: what was allocated in a simulated machine's memory keeps all of
            // that.
            answer: ran.answer.as_str().to_owned(),
        }
    }
}

impl Trial for Case {
    type Outcome = Outcome;

    fn cores(&self) -> usize {
        self.most_cores()
    }

    fn simulate(&self, machines: &Machines) -> anyhow::Result<(Outcome, u64)> {
        let most = self.most_cores();
        let chip = machines.build(0, most.max(self.threads), &self.settings)?;
        let cpus: Vec<usize> = (0..most).map(|core| chip.on_core(core)).collect();
        let cpi = chip.0.core.cpi;
        let program = || run::<Simulated>(self, Arc::new(self.prepare::<Simulated>(cpi)), &cpus);
        let simulated = Simulation::new(&chip.0).run(program);
        let simulated = simulated.map_err(|error| anyhow!("{error}"))?;
        let (ran, statistics) = (simulated.value?, simulated.statistics);
        Ok((self.outcome(&ran, chip.0.ghz), statistics.hash))
    }

    fn run_here(&self, topology: &Topology, _: bool) -> anyhow::Result<Outcome> {
        let cpus = &topology.compact_order()[..self.most_cores()];
        let program = Arc::new(self.prepare::<Native>(1.0));
        let ran = run::<Native>(self, program, cpus)?;
        Ok(self.outcome(&ran, Native::ticks_per_ns()))
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cores: Vec<String> = self
            .turns
            .iter()
            .map(|turn| turn.cores.to_string())
            .collect();
        let (load, threads, mode) = (self.load, self.threads, self.mode);
        let cores = cores.join(", then ");
        write!(f, "{load}, {threads} threads on {cores} cores, {mode}")?;
        self.settings
            .iter()
            .try_for_each(|setting| write!(f, ", {setting}"))
    }
}
