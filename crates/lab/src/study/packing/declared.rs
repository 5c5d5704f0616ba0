//! A program that is told, not run: its phases take the time that they are declared to.

use super::memory::Memory;
use super::world::World;
use manycore_kernels::spmd::{
    Cost, Declaration, Phase, Program, Verified, Worksharing, WrongAnswer,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Grains that a phase is divided into at most: a simulation pays for each. A number
/// that nearly all counts of ranks up to 16 divide (11 and 13 are 0.2% from it).
const GRAINS: usize = 5040;

/// A phase, and how long its items take.
struct Timed {
    phase: Phase,
    /// Of the k-th of so many equal parts of the items: work for an item. Empty for a
    /// phase that says what its items cost.
    work: Vec<f64>,
}

/// Such a program.
pub(super) struct Declared<W: World> {
    phases: Vec<Timed>,
    steps: usize,
    /// Where bytes come from, if there are any.
    memory: Option<Arc<Memory<W>>>,
    /// Items that have been run; a tally that takes no simulated time.
    done: AtomicU64,
}

impl<W: World> Declared<W> {
    /// `intervals` phases in which rank i of as many as there are in `work` works that
    /// much; by other numbers of ranks the sum is divided anew, where it stands.
    pub(super) fn intervals(work: &[f64], intervals: usize) -> Self {
        // So that each rank has as many grains.
        let each = (GRAINS / work.len()).max(1);
        let phase = Phase {
            name: "interval",
            items: each * work.len(),
            grain: 1,
            cost: Cost::default(),
        };
        let work = work.iter().map(|work| work / each as f64).collect();
        Self {
            phases: vec![Timed { phase, work }],
            steps: intervals,
            memory: None,
            done: AtomicU64::new(0),
        }
    }

    /// So many steps of a program, whose bytes come from `memory`.
    pub(super) fn steps(of: &dyn Declaration, steps: usize, memory: &Arc<Memory<W>>) -> Self {
        let timed = |phase: Phase| Timed {
            work: Vec::new(),
            phase: Phase {
                grain: phase.grain.max(phase.items.div_ceil(GRAINS)),
                ..phase
            },
        };
        Self {
            phases: of.step().into_iter().map(timed).collect(),
            steps,
            memory: Some(Arc::clone(memory)),
            done: AtomicU64::new(0),
        }
    }

    fn items(&self) -> u64 {
        let items = self.phases.iter().map(|timed| timed.phase.items as u64);
        self.steps as u64 * items.sum::<u64>()
    }
}

impl Timed {
    /// Work for the items of a grain, which are in one part, beside what the phase says.
    fn of<W: World>(&self, start: usize, count: usize, memory: Option<&Memory<W>>) -> u64 {
        let item = match memory {
            Some(memory) => self.phase.cost.bytes * memory.work_a_byte(),
            None => self.work[start * self.work.len() / self.phase.items],
        };
        (item * count as f64).round() as u64
    }
}

impl<W: World> Program for Declared<W> {
    fn grains(&self) -> usize {
        // Nothing is summed.
        0
    }

    unsafe fn run(&self, sharing: &mut dyn Worksharing) {
        for _ in 0..self.steps {
            for timed in &self.phases {
                sharing.share(&timed.phase, &|items| {
                    W::work(timed.of(items.start, items.len(), self.memory.as_deref()));
                    self.done.fetch_add(items.len() as u64, Ordering::Relaxed);
                });
            }
        }
    }

    /// That every item was run, and none twice.
    fn verify(&self) -> Result<Verified, WrongAnswer> {
        let (done, expected) = (self.done.load(Ordering::Relaxed), self.items());
        match done == expected {
            true => Ok(Verified(format!("{done} items"))),
            false => Err(WrongAnswer {
                what: "the number of items that were run".into(),
                found: done as f64,
                expected: expected as f64,
                tolerance: 0.0,
            }),
        }
    }
}
