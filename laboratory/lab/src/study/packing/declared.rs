//! A declared program, which is not run: its phases take their declared time.

use super::extent::Horizon;
use super::memory::Memory;
use super::world::PackingWorld;
use manycore_programs::spmd::{
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
    /// The work for an item, for equal parts of the items in order. Empty for a phase that says
    /// what its items cost.
    work: Vec<f64>,
    /// The wait for a device before a grain, and the work after it.
    rest_ns: f64,
    alone: u64,
    /// How often each grain has been run; tallies that take no simulated time, and natively
    /// little: neighbours on a line are mostly a rank's own.
    runs: Vec<AtomicU32>,
}

/// Such a program.
pub(super) struct Declared<W: PackingWorld> {
    /// The phases before the first step.
    prelude: Vec<Timed>,
    /// The phases of a step.
    phases: Vec<Timed>,
    horizon: Arc<Horizon>,
    /// The source of bytes, if there are any.
    memory: Option<Arc<Memory<W>>>,
}

impl<W: PackingWorld> Declared<W> {
    /// Phases, up to the horizon, in which rank i has `work[i]`. For another number of ranks the
    /// sum is divided anew. Grains have at least `least` work.
    pub(super) fn intervals(work: &[f64], least: f64, horizon: Arc<Horizon>) -> Self {
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
            prelude: Vec::new(),
            phases: vec![Timed::new(phase, work)],
            horizon,
            memory: None,
        }
    }

    /// A program up to the horizon. Its bytes come from `memory`, and its file takes `file_ns`.
    pub(super) fn program(
        of: &dyn Declaration,
        file_ns: f64,
        horizon: Arc<Horizon>,
        memory: &Arc<Memory<W>>,
    ) -> Self {
        let timed = |phase: Phase| {
            let grain = phase.grain.max(phase.items.div_ceil(GRAINS));
            Timed::new(Phase { grain, ..phase }, Vec::new())
        };
        let mut prelude: Vec<Timed> = prelude(of).into_iter().map(timed).collect();
        prelude[0].rest_ns = file_ns;
        prelude[0].alone = of.preparation().instructions as u64;
        Self {
            prelude,
            phases: of.step().into_iter().map(timed).collect(),
            horizon,
            memory: Some(Arc::clone(memory)),
        }
    }

    fn items(&self) -> u64 {
        let of = |phases: &[Timed]| {
            let items = phases.iter().map(|timed| timed.phase.items as u64);
            items.sum::<u64>()
        };
        of(&self.prelude) + self.horizon.steps() as u64 * of(&self.phases)
    }

    fn share(&self, timed: &Timed, sharing: &mut dyn Worksharing) {
        sharing.share(&timed.phase, &|items| {
            if timed.rest_ns > 0.0 {
                W::rest(timed.rest_ns);
            }
            W::work(timed.alone);
            W::work(timed.of(items.start, items.len(), self.memory.as_deref()));
            // Relaxed: a number, looked at when all have ended.
            timed.runs[items.start / timed.phase.grain].fetch_add(1, Ordering::Relaxed);
        });
    }

    /// How often a grain was run that should have been run so often, if that is something else.
    fn wrong(phases: &[Timed], expected: usize) -> Option<WrongAnswer> {
        let runs = phases.iter().flat_map(|timed| &timed.runs);
        let mut runs = runs.map(|runs| runs.load(Ordering::Relaxed) as usize);
        runs.find(|&runs| runs != expected).map(|runs| WrongAnswer {
            what: "the number of times that some items were run".into(),
            found: runs as f64,
            expected: expected as f64,
            tolerance: 0.0,
        })
    }
}

/// A program's work before its first step: the work of one thread alone, which is the item of a
/// phase of its own, and the work of all.
pub(super) fn prelude(of: &dyn Declaration) -> Vec<Phase> {
    let alone = Phase {
        name: "preparation",
        items: 1,
        grain: 1,
        cost: Cost::default(),
    };
    [vec![alone], of.before()].concat()
}

impl Timed {
    fn new(phase: Phase, work: Vec<f64>) -> Self {
        let grains = phase.items.div_ceil(phase.grain);
        Self {
            phase,
            work,
            rest_ns: 0.0,
            alone: 0,
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
        self.prelude
            .iter()
            .for_each(|timed| self.share(timed, sharing));
        let mut step = 0;
        while step < self.horizon.steps() {
            self.phases
                .iter()
                .for_each(|timed| self.share(timed, sharing));
            step += 1;
        }
    }

    /// That every item was run once, and each of a step as often as there are steps.
    fn verify(&self) -> Result<Verified, WrongAnswer> {
        let of_steps = Self::wrong(&self.phases, self.horizon.steps());
        match Self::wrong(&self.prelude, 1).or(of_steps) {
            None => Ok(Verified(format!("{} items", self.items()))),
            Some(wrong) => Err(wrong),
        }
    }
}
