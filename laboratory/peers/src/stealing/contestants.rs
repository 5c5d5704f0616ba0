//! The contestants: work-stealing runtimes, and the disciplines of `manycore-programs`.

use super::foreign::{TBB, Tbb};
use super::piles::Piles;
use crate::peer::{Manycore, Rayon};
use crate::runtime::Runtime;
use anyhow::{Context, Result};
use manycore_platform::Native;
use manycore_programs::stealing::{
    Discipline, DisciplineVisitor, Task, TaskDeque, disciplines, with_discipline,
};
use manycore_team::barrier::Placement;

/// A runtime or a discipline: one row of a table.
pub trait Contestant {
    /// Fills the piles and runs all tasks.
    ///
    /// # Errors
    ///
    /// If its threads cannot be started.
    fn run(&mut self, piles: &Piles) -> Result<()>;
}

/// The names of all contestants.
pub fn names() -> Vec<&'static str> {
    let mut names = vec!["manycore", "rayon", "tbb"];
    names.extend(disciplines());
    names
}

/// The reason why a contestant is missing here, if it is.
pub fn missing(name: &str) -> Option<String> {
    (name == "tbb").then(|| TBB.missing()).flatten()
}

/// The contestant of that name, with `threads` threads.
///
/// # Errors
///
/// If there is no such contestant, or it is not available here.
pub fn open(name: &str, threads: usize) -> Result<Box<dyn Contestant>> {
    Ok(match name {
        "manycore" => Box::new(Manycore::new(threads)?),
        "rayon" => Box::new(Rayon::new(threads)?),
        "tbb" => Box::new(Tbb::open(threads)?),
        _ => {
            let discipline = disciplines().into_iter().find(|&known| known == name);
            let discipline = discipline.with_context(|| format!("there is no peer `{name}`"))?;
            Box::new(ByDiscipline(discipline))
        }
    })
}

macro_rules! pools {
    ($($pool:ty),*) => {$(
        /// Each worker spawns its own tasks into a scope of the pool.
        impl Contestant for $pool {
            fn run(&mut self, piles: &Piles) -> Result<()> {
                self.pool.scope(|scope| {
                    scope.spawn_broadcast(|scope, worker| {
                        piles.fill(worker.index(), |own| {
                            own.for_each(|number| scope.spawn(move |_| piles.run(number)));
                        });
                    });
                });
                Ok(())
            }
        }
    )*};
}

pools!(Manycore, Rayon);

/// A discipline by name, on `std` threads.
struct ByDiscipline(&'static str);

impl Contestant for ByDiscipline {
    fn run(&mut self, piles: &Piles) -> Result<()> {
        Ok(with_discipline(self.0, piles)?)
    }
}

impl DisciplineVisitor<Native> for &Piles {
    type Output = ();

    fn visit<D: Discipline<Native>>(self) {
        let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get());
        let workers = self.workers();
        let placement = Placement::flat(workers).on_cores(workers.min(cpus));
        let discipline = D::new(&placement, 1);
        std::thread::scope(|scope| {
            for rank in 0..workers {
                let discipline = &discipline;
                scope.spawn(move || {
                    let mut pile = discipline.deque(rank);
                    self.fill(rank, |own| {
                        pile.fill(own.filter_map(|number| Task::new(number as u64 + 1)));
                    });
                    while let Some(task) = pile.get() {
                        self.run(task.get() as usize - 1);
                    }
                });
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_programs::stealing::Distribution;

    #[test]
    fn every_contestant_runs_each_task_once() {
        for name in names() {
            if let Some(why) = missing(name) {
                println!("skipped: {why}");
                continue;
            }
            let mut contestant = open(name, 3).expect("it is there");
            for shape in Distribution::ALL {
                let mut piles = Piles::new(shape, 3, 5, 100);
                for _ in 0..3 {
                    contestant.run(&piles).expect("three threads");
                    let took = piles
                        .outcome()
                        .unwrap_or_else(|error| panic!("{name}: {error}"));
                    assert!(took < 60e9, "{name}, {shape}: {took} ns");
                }
            }
        }
    }

    #[test]
    fn a_task_that_never_ran_is_reported() {
        let mut piles = Piles::new(Distribution::Even, 1, 2, 1);
        piles.run(0);
        let error = piles.outcome().expect_err("one is left");
        assert_eq!(error.to_string(), "task 1 was run 0 times");
    }
}
