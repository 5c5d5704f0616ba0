//! A declared program. It is not executed, but its phases take their declared time.

use super::extent::Horizon;
use super::memory::Memory;
use super::world::PackingWorld;
use manycore_programs::spmd::{
    Cost, Declaration, Phase, Program, Verified, Worksharing, WrongAnswer,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The most grains (calls of the body) of a phase. A simulation takes time for each grain. All numbers of ranks
/// (threads) up to 16 divide this number, except 11 and 13, with which ranks differ by 0.2%.
const GRAINS: usize = 5040;

/// A phase, and the time that its items take.
struct Timed {
    phase: Phase,
    /// The work of an item in each of several equal parts of the items. Empty if the phase declares its cost.
    work: Vec<f64>,
    /// The wait for a device before each grain, and (`alone`) the work after the wait.
    rest_ns: f64,
    alone: u64,
    /// How often each grain ran. Counting takes no simulated time, and little native time, since neighbouring counts
    /// mostly belong to one rank.
    runs: Vec<AtomicU32>,
}

/// A declared program.
pub(super) struct Declared<W: PackingWorld> {
    /// The phases before the first step.
    prelude: Vec<Timed>,
    /// The phases of a step.
    phases: Vec<Timed>,
    horizon: Arc<Horizon>,
    /// The memory, if the program declares bytes.
    memory: Option<Arc<Memory<W>>>,
}

impl<W: PackingWorld> Declared<W> {
    /// Makes equal phases, in which rank i has the work `work[i]`. If the number of ranks differs, the sum is divided
    /// among all. A grain has at least the work `least`.
    pub(super) fn intervals(work: &[f64], least: f64, horizon: Arc<Horizon>) -> Self {
        // All ranks have equally many grains, and no grain is too short.
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

    /// The program that `of` declares. Reading its file takes `file_ns`.
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
            // Relaxed: only the count matters, and it is read after all ranks have ended.
            timed.runs[items.start / timed.phase.grain].fetch_add(1, Ordering::Relaxed);
        });
    }

    /// Returns an error if a grain did not run `expected` times.
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

/// The phases before the first step: one thread's work alone, as one item, and then the work of all.
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

    /// The work of a grain in addition to the declared instructions. All items of a grain are in one part of `work`.
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

    /// Checks that every item ran once, and every item of a step once in each step.
    fn verify(&self) -> Result<Verified, WrongAnswer> {
        let of_steps = Self::wrong(&self.phases, self.horizon.steps());
        match Self::wrong(&self.prelude, 1).or(of_steps) {
            None => Ok(Verified(format!("{} items", self.items()))),
            Some(wrong) => Err(wrong),
        }
    }
}
