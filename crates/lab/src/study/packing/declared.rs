//! A program that is told, not run: its phases take the time that they are declared to.

use super::memory::Memory;
use super::world::PackingWorld;
use manycore_kernels::spmd::{
    Cost, Declaration, Phase, Program, Verified, Worksharing, WrongAnswer,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Grains that a phase is divided into at most: a simulation pays for each. A number
/// that nearly all counts of ranks up to 16 divide (11 and 13 are 0.2% from it).
const GRAINS: usize = 5040;

/// A phase, and how long its items take.
struct Timed {
    phase: Phase,
    /// The work for an item in the k-th of so many equal parts of the items. Empty for a
    /// phase that says what its items cost.
    work: Vec<f64>,
    /// How often each grain has been run; tallies that take no simulated time, and natively
    /// little: neighbours on a line are mostly a rank's own.
    runs: Vec<AtomicU32>,
}

/// Such a program.
pub(super) struct Declared<W: PackingWorld> {
    phases: Vec<Timed>,
    steps: usize,
    /// Where bytes come from, if there are any.
    memory: Option<Arc<Memory<W>>>,
}

impl<W: PackingWorld> Declared<W> {
    /// `intervals` phases in which rank i of as many as there are in `work` works that
    /// much; by other numbers of ranks the sum is divided anew, where it stands. Grains are
    /// `least` work, if not more.
    pub(super) fn intervals(work: &[f64], least: f64, intervals: usize) -> Self {
        // So that each rank has as many grains, none of them too short.
        let mean = work.iter().sum::<f64>() / work.len() as f64;
        let most = (mean / least).max(1.0) as usize;
        let each = (GRAINS / work.len()).clamp(1, most);
        let phase = Phase {
            name: "interval",
            items: each * work.len(),
            grain: 1,
            cost: Cost::default(),
        };
        let work = work.iter().map(|work| work / each as f64).collect();
        Self {
            phases: vec![Timed::new(phase, work)],
            steps: intervals,
            memory: None,
        }
    }

    /// So many steps of a program, whose bytes come from `memory`.
    pub(super) fn steps(of: &dyn Declaration, steps: usize, memory: &Arc<Memory<W>>) -> Self {
        let timed = |phase: Phase| {
            let grain = phase.grain.max(phase.items.div_ceil(GRAINS));
            Timed::new(Phase { grain, ..phase }, Vec::new())
        };
        Self {
            phases: of.step().into_iter().map(timed).collect(),
            steps,
            memory: Some(Arc::clone(memory)),
        }
    }

    fn items(&self) -> u64 {
        let items = self.phases.iter().map(|timed| timed.phase.items as u64);
        self.steps as u64 * items.sum::<u64>()
    }
}

impl Timed {
    fn new(phase: Phase, work: Vec<f64>) -> Self {
        let grains = phase.items.div_ceil(phase.grain);
        Self {
            phase,
            work,
            runs: (0..grains).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Work for the items of a grain, which are in one part, beside what the phase says.
    fn of<W: PackingWorld>(&self, start: usize, count: usize, memory: Option<&Memory<W>>) -> u64 {
        let item = match memory {
            Some(memory) => self.phase.cost.bytes * memory.work_a_byte(),
            None => self.work[start * self.work.len() / self.phase.items],
        };
        (item * count as f64).round() as u64
    }
}

impl<W: PackingWorld> Program for Declared<W> {
    fn grains(&self) -> usize {
        // Nothing is summed.
        0
    }

    unsafe fn run(&self, sharing: &mut dyn Worksharing) {
        for _ in 0..self.steps {
            for timed in &self.phases {
                sharing.share(&timed.phase, &|items| {
                    W::work(timed.of(items.start, items.len(), self.memory.as_deref()));
                    // Relaxed: a number, looked at when all have ended.
                    timed.runs[items.start / timed.phase.grain].fetch_add(1, Ordering::Relaxed);
                });
            }
        }
    }

    /// That every item was run as often as there are steps.
    fn verify(&self) -> Result<Verified, WrongAnswer> {
        let runs = self.phases.iter().flat_map(|timed| &timed.runs);
        let wrong = runs
            .map(|runs| runs.load(Ordering::Relaxed))
            .find(|&runs| runs as usize != self.steps);
        match wrong {
            None => Ok(Verified(format!("{} items", self.items()))),
            Some(runs) => Err(WrongAnswer {
                what: "the number of times that some items were run".into(),
                found: f64::from(runs),
                expected: self.steps as f64,
                tolerance: 0.0,
            }),
        }
    }
}
