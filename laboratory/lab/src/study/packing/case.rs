//! One run of a program, and all that decides its result.

use super::account::Account;
use super::declared::{Declared, prelude};
use super::extent::{Extent, Horizon, STEADY, UntilSteady};
use super::load::Load;
use super::memory::{Bandwidth, DISK_BYTES_A_NS, Memory};
use super::mode::Mode;
use super::run::{PackingRan, Prepared, run};
use super::world::PackingWorld;
use crate::instrument;
use crate::study::trial::{Machines, Trial};
use anyhow::anyhow;
use manycore::Native;
use manycore::topology::Topology;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::Platform;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The number of cores that the program has from some time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Turn {
    /// The time since the program began.
    pub(super) at_ns: u64,
    pub(super) cores: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PackingCase {
    pub(super) load: Load,
    /// Threads at the program's start.
    pub(super) threads: usize,
    pub(super) mode: Mode,
    /// The barrier at which the threads meet.
    pub(super) barrier: String,
    /// The changes of the number of cores: at least one, the first at time 0.
    pub(super) turns: Vec<Turn>,
    /// How often a run is doubled again once it is steady.
    pub(super) doublings: u32,
    /// The most steps of thread packing that are skipped, while the system may still move threads to their final cores.
    pub(super) most_settling: usize,
    /// Changes to the machine, as for `--set`.
    pub(super) settings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PackingSample {
    /// The time of the counted part.
    pub(super) time_ns: f64,
    /// The number of barriers that a rank (thread of the team) passed in this time.
    pub(super) barriers: usize,
    /// The number of barriers in the steps before the counted part. The next fields have the time and the account of
    /// these steps. All three are 0 in a run of fixed length.
    pub(super) skipped: usize,
    pub(super) settling_ns: f64,
    pub(super) settling: Account,
    /// Half of the 95% interval of a step's mean time, divided by the mean. `None` if the run had a fixed length or
    /// reached the program's end.
    pub(super) margin: Option<f64>,
    /// If the number of cores changes: the time of each counted barrier since the first one.
    pub(super) passed_ns: Vec<f64>,
    pub(super) account: Account,
    /// The time before the first step.
    pub(super) prelude_ns: f64,
    pub(super) prelude: Account,
    /// The verified answer.
    pub(super) answer: String,
}

impl PackingSample {
    /// The mean time between two barriers.
    pub(super) fn interval_ns(&self) -> f64 {
        self.time_ns / self.barriers as f64
    }

    /// Whether the run became too long without being steady.
    pub(super) fn is_unsteady(&self) -> bool {
        self.margin.is_some_and(|margin| margin > STEADY)
    }
}

impl PackingCase {
    /// The numbers of cores of the turns, in order.
    pub(super) fn cores(&self) -> Vec<String> {
        let turns = self.turns.iter();
        turns.map(|turn| turn.cores.to_string()).collect()
    }

    fn most_cores(&self) -> usize {
        self.turns.iter().map(|turn| turn.cores).max().unwrap_or(1)
    }

    /// Prepares the program for cores that do `per_ns` work in a nanosecond.
    fn prepare<W: PackingWorld>(&self, per_ns: f64, bandwidth: Bandwidth) -> Prepared<W> {
        let intervals = |work: &[f64], mean_ns: f64, intervals| {
            let (extent, horizon) = self.extent::<W>(mean_ns, intervals, UntilSteady::endless);
            let least = W::LEAST_NS * per_ns;
            Prepared {
                program: Box::new(Declared::<W>::intervals(work, least, horizon)),
                extent,
                memory: None,
            }
        };
        match self.load {
            Load::Interval {
                benchmark,
                intervals: count,
            } => {
                let ns = benchmark.interval_ns();
                intervals(&vec![ns * per_ns; self.threads], ns, count)
            }
            Load::Sweep {
                ns,
                skew,
                intervals: count,
            } => {
                let last = (self.threads - 1).max(1) as f64;
                let work = |rank| {
                    let from_middle = 2.0 * rank as f64 / last - 1.0;
                    let share = 1.0 + f64::from(skew) / 100.0 * from_middle;
                    share * ns as f64 * per_ns
                };
                let work: Vec<f64> = (0..self.threads).map(work).collect();
                intervals(&work, ns as f64, count)
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
                let steady = |counted| {
                    let before = prelude(&*declared).len();
                    UntilSteady::program(before, phases.len(), declared.steps(), counted)
                };
                let counted = intervals.div_ceil(phases.len());
                let (extent, horizon) = self.extent::<W>(step_ns, counted, steady);
                let file_ns = declared.preparation().file_bytes / DISK_BYTES_A_NS;
                let program = Declared::<W>::program(&*declared, file_ns, horizon, &memory);
                Prepared {
                    program: Box::new(program),
                    extent,
                    memory: Some(memory),
                }
            }
            Load::Real { benchmark } => Prepared {
                program: benchmark.program::<W>(),
                extent: Extent::Rest { skipped: 0 },
                memory: None,
            },
        }
    }

    /// Returns which part of a run counts, and when the run ends. Its steps take about `step_ns`, and at least
    /// `counted` of them count.
    ///
    /// Without noise, the run ends when it is `steady`. Noise of a host would prevent that, so there the run has a
    /// fixed length: first some time in which the system spreads the threads, then the counted steps. The spread over
    /// rounds shows the precision. If the number of cores changes, all steps count.
    fn extent<W: PackingWorld>(
        &self,
        step_ns: f64,
        counted: usize,
        steady: impl Fn(usize) -> UntilSteady,
    ) -> (Extent, Arc<Horizon>) {
        // After this many steps, a runtime that learns the work has seen a step.
        const FEWEST: usize = 2;
        // If the intervals between barriers are very short, the runtime learns for this long.
        const LEARNED_NS: f64 = 5e6;
        let steps = |ns: f64| (ns / step_ns).ceil() as usize;
        if self.turns.len() > 1 {
            (Extent::Rest { skipped: 0 }, Horizon::after(counted))
        } else if W::HAS_NOISE {
            let skipped = steps(W::SETTLED_NS).max(FEWEST);
            (Extent::Rest { skipped }, Horizon::after(skipped + counted))
        } else {
            // The system takes some time to move threads to their final cores.
            let settled = match self.mode {
                Mode::Tp => steps(W::SETTLED_NS).min(self.most_settling),
                _ => steps(LEARNED_NS),
            };
            let steady = steady(counted.max(settled)).doubled(self.doublings);
            let horizon = Arc::clone(&steady.horizon);
            (Extent::Steady(steady), horizon)
        }
    }

    /// The number of barriers in all steps of the program, if known.
    pub(super) fn program_barriers(&self) -> Option<usize> {
        match self.load {
            Load::Declared { benchmark, .. } => {
                let declared = benchmark.declaration();
                Some(declared.step().len() * declared.steps())
            }
            _ => None,
        }
    }

    fn outcome(&self, ran: &PackingRan, per_ns: f64) -> PackingSample {
        let notes = &ran.notes;
        let passed = &notes.passed;
        let (first, last) = (passed[0], passed[passed.len() - 1]);
        let ns = |&at: &u64| (at - first) as f64 / per_ns;
        let (prelude, mut before) = notes.prelude;
        if let Load::Declared { benchmark, .. } = self.load {
            before.waited(benchmark.declaration().preparation().file_bytes / DISK_BYTES_A_NS);
        }
        PackingSample {
            time_ns: ns(&last),
            barriers: passed.len() - 1,
            skipped: notes.skipped,
            settling_ns: notes.settling.0 as f64 / per_ns,
            settling: notes.settling.1,
            margin: notes.margin,
            passed_ns: match self.turns.len() {
                1 => Vec::new(),
                _ => passed.iter().map(ns).collect(),
            },
            account: notes.account,
            prelude_ns: prelude as f64 / per_ns,
            prelude: before,
            // A copy, since the original would keep all of the simulated machine's memory.
            answer: ran.answer.as_str().to_owned(),
        }
    }
}

impl Trial for PackingCase {
    type Sample = PackingSample;

    fn cores(&self) -> usize {
        self.most_cores()
    }

    fn simulate(&self, machines: &Machines) -> anyhow::Result<(PackingSample, u64)> {
        let most = self.most_cores();
        let chip = machines.build(0, most.max(self.threads), &self.settings)?;
        let cpus: Vec<usize> = (0..most).map(|core| chip.on_core(core)).collect();
        let machine = &chip.0;
        let program = || {
            let per_ns = Simulated::per_ns(machine.core.cpi);
            let ready = self.prepare::<Simulated>(per_ns, Bandwidth::of(machine));
            run::<Simulated>(self, ready, &cpus)
        };
        let simulated = instrument::run(Simulation::new(&chip.0), self, program);
        let simulated = simulated.map_err(|error| anyhow!("{error}"))?;
        let (ran, statistics) = (simulated.value?, simulated.statistics);
        Ok((self.outcome(&ran, chip.0.ghz), statistics.hash))
    }

    fn run_here(&self, topology: &Topology, _: bool) -> anyhow::Result<PackingSample> {
        let cpus = &topology.compact_order()[..self.most_cores()];
        // Only declared programs need the bandwidth, and they do not run here.
        let ready = self.prepare::<Native>(Native::per_ns(1.0), Bandwidth::unknown());
        let ran = run::<Native>(self, ready, cpus)?;
        Ok(self.outcome(&ran, Native::ticks_per_ns()))
    }
}

impl fmt::Display for PackingCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (load, threads, mode) = (self.load, self.threads, self.mode);
        let cores = self.cores().join(", then ");
        write!(f, "{load}, {threads} threads on {cores} cores, {mode}")?;
        self.settings
            .iter()
            .try_for_each(|setting| write!(f, ", {setting}"))
    }
}
