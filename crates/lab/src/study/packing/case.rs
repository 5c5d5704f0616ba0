//! One run of a program, and all that decides it.

use super::account::Account;
use super::declared::Declared;
use super::load::Load;
use super::memory::{Bandwidth, Memory};
use super::mode::Mode;
use super::run::{PackingRan, Prepared, run};
use super::world::PackingWorld;
use crate::study::trial::{Machines, Trial};
use anyhow::anyhow;
use manycore::Native;
use manycore::topology::Topology;
use manycore_chip::{Simulated, Simulation};
use manycore_kernels::spmd::Program;
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
pub(super) struct PackingCase {
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
pub(super) struct PackingOutcome {
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

impl PackingCase {
    fn most_cores(&self) -> usize {
        self.turns.iter().map(|turn| turn.cores).max().unwrap_or(1)
    }

    /// The program, for a machine whose cores work so much in a nanosecond.
    fn prepare<W: PackingWorld>(&self, per_ns: f64, bandwidth: Bandwidth) -> Prepared<W> {
        let equal = |ns: f64, intervals| {
            let unsettled = self.unsettled::<W>(ns);
            let work = vec![ns * per_ns; self.threads];
            ready(
                Declared::<W>::intervals(&work, W::LEAST_NS * per_ns, unsettled + intervals),
                unsettled,
            )
        };
        match self.load {
            Load::Interval {
                benchmark,
                intervals,
            } => equal(benchmark.interval_ns(), intervals),
            Load::Sweep {
                ns,
                skew: 0,
                intervals,
            } => equal(ns as f64, intervals),
            Load::Sweep {
                ns,
                skew,
                intervals,
            } => {
                let last = (self.threads - 1).max(1) as f64;
                let work = (0..self.threads).map(|rank| {
                    let from_middle = 2.0 * rank as f64 / last - 1.0;
                    let share = 1.0 + f64::from(skew) / 100.0 * from_middle;
                    share * ns as f64 * per_ns
                });
                let (work, unsettled) =
                    (work.collect::<Vec<f64>>(), self.unsettled::<W>(ns as f64));
                ready(
                    Declared::<W>::intervals(&work, W::LEAST_NS * per_ns, unsettled + intervals),
                    unsettled,
                )
            }
            Load::Declared {
                benchmark,
                intervals,
            } => {
                let declared = benchmark.declaration();
                let memory = Arc::new(Memory::new(bandwidth, self.most_cores()));
                let phases = declared.step();
                let work_a_byte = memory.work_a_byte();
                let work = phases
                    .iter()
                    .map(|one| one.instructions() + one.bytes() * work_a_byte);
                let step_ns = work.sum::<f64>() / per_ns / self.threads as f64;
                let early = self.unsettled::<W>(step_ns);
                let steps = early + (intervals / phases.len()).max(1);
                let program = Declared::<W>::steps(&*declared, steps, &memory);
                Prepared {
                    memory: Some(memory),
                    ..ready(program, early * phases.len())
                }
            }
            Load::Real { benchmark } => Prepared {
                program: benchmark.program::<W>(),
                unsettled: 0,
                memory: None,
            },
        }
    }

    /// Times of a length that pass before anything is counted: threads start where they
    /// can, and the system needs some rounds of balancing to spread them. None if the
    /// cores change: that is looked at from the first on.
    fn unsettled<W: PackingWorld>(&self, ns: f64) -> usize {
        const MOST: f64 = 200.0;
        // A runtime that learns what ranks have to do has seen it once.
        const FEWEST: f64 = 2.0;
        match self.turns.len() {
            1 => (W::SETTLED_NS / ns).round().clamp(FEWEST, MOST) as usize,
            _ => 0,
        }
    }

    fn outcome(&self, ran: &PackingRan, per_ns: f64) -> PackingOutcome {
        let passed = &ran.notes.passed;
        let (first, last) = (passed[0], passed[passed.len() - 1]);
        let ns = |&at: &u64| (at - first) as f64 / per_ns;
        PackingOutcome {
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

fn ready<W: PackingWorld>(program: impl Program + 'static, unsettled: usize) -> Prepared<W> {
    Prepared {
        program: Box::new(program),
        unsettled,
        memory: None,
    }
}

impl Trial for PackingCase {
    type Outcome = PackingOutcome;

    fn cores(&self) -> usize {
        self.most_cores()
    }

    fn simulate(&self, machines: &Machines) -> anyhow::Result<(PackingOutcome, u64)> {
        let most = self.most_cores();
        let chip = machines.build(0, most.max(self.threads), &self.settings)?;
        let cpus: Vec<usize> = (0..most).map(|core| chip.on_core(core)).collect();
        let machine = &chip.0;
        let program = || {
            let per_ns = Simulated::per_ns(machine.core.cpi);
            let ready = self.prepare::<Simulated>(per_ns, Bandwidth::of(machine));
            run::<Simulated>(self, ready, &cpus)
        };
        let simulated = Simulation::new(&chip.0).run(program);
        let simulated = simulated.map_err(|error| anyhow!("{error}"))?;
        let (ran, statistics) = (simulated.value?, simulated.statistics);
        Ok((self.outcome(&ran, chip.0.ghz), statistics.hash))
    }

    fn run_here(&self, topology: &Topology, _: bool) -> anyhow::Result<PackingOutcome> {
        let cpus = &topology.compact_order()[..self.most_cores()];
        // Programs are not told here.
        let ready = self.prepare::<Native>(Native::per_ns(1.0), Bandwidth::unknown());
        let ran = run::<Native>(self, ready, cpus)?;
        Ok(self.outcome(&ran, Native::ticks_per_ns()))
    }
}

impl fmt::Display for PackingCase {
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
