//! Checks every discipline (algorithm of work stealing) under random schedules: each task is taken once, and `None`
//! means that all tasks are done.

use super::{Discipline, DisciplineVisitor, Task, TaskDeque, disciplines, with_discipline};
use crate::wireless::{Faulty, Loom, Shuttle};
use manycore_check::{
    TornCas, TornSwap, caught_apart, loom_model, shuttle_pct, shuttle_random, team,
};
use manycore_platform::Platform;
use manycore_team::barrier::Placement;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A forest of tasks. The first `roots` tasks are on the deques of the first `owners` workers in turn. A
/// worker that gets task t puts the next tasks, `roots + 2t` and `roots + 2t + 1`, if they are below `tasks`.
#[derive(Clone, Copy)]
struct Forest {
    workers: usize,
    owners: usize,
    roots: u64,
    tasks: u64,
}

fn task(number: u64) -> Task {
    Task::new(number + 1).unwrap()
}

impl Forest {
    fn run<P: Platform, D: Discipline<P>>(self, seed: u64) {
        let discipline = D::new(&Placement::flat(self.workers), seed);
        // These are atomics of the standard library, so bookkeeping is no step of the model.
        let runs: Vec<_> = (0..self.tasks).map(|_| AtomicU32::new(0)).collect();
        let mine = |rank| (0..self.roots).filter(move |n| *n as usize % self.owners == rank);
        team::<P>(self.workers, |rank| {
            let mut deque = discipline.deque(rank);
            if rank < self.owners {
                deque.fill(mine(rank).map(task));
            }
            while let Some(got) = deque.get() {
                let number = got.get() - 1;
                let first = self.roots + 2 * number;
                for next in (first..first + 2).filter(|next| *next < self.tasks) {
                    deque.put(task(next));
                }
                P::yield_now();
                let before = runs[number as usize].fetch_add(1, Relaxed);
                assert_eq!(before, 0, "task {number} is got twice");
            }
            let left = runs.iter().position(|runs| runs.load(Relaxed) == 0);
            assert_eq!(left, None, "{}: `None` before this task is done", D::NAME);
            assert_eq!(deque.get(), None);
        });
    }
}

impl<P: Platform> DisciplineVisitor<P> for (Forest, u64) {
    type Output = ();

    fn visit<D: Discipline<P>>(self) {
        self.0.run::<P, D>(self.1);
    }
}

const FORESTS: [Forest; 5] = [
    // No tasks, and fewer tasks than workers.
    Forest {
        workers: 3,
        owners: 1,
        roots: 0,
        tasks: 0,
    },
    Forest {
        workers: 4,
        owners: 4,
        roots: 2,
        tasks: 2,
    },
    // All tasks on one worker, and evenly on half of the workers.
    Forest {
        workers: 4,
        owners: 1,
        roots: 24,
        tasks: 24,
    },
    Forest {
        workers: 4,
        owners: 2,
        roots: 24,
        tasks: 24,
    },
    // A task that becomes many.
    Forest {
        workers: 8,
        owners: 1,
        roots: 1,
        tasks: 30,
    },
];

#[test]
fn each_task_is_got_once_and_none_is_the_end() {
    for name in disciplines() {
        println!("{name}");
        for (seed, forest) in (0..).zip(FORESTS) {
            let model = move || with_discipline::<Shuttle, _>(name, (forest, seed)).unwrap();
            shuttle_random(60, model);
            shuttle_pct(60, 3, model);
        }
    }
}

#[test]
fn a_torn_platform_is_caught() {
    for name in disciplines() {
        println!("{name}");
        // With a torn lock, two threads change one list at the same time.
        caught_apart(name, move || {
            for forest in FORESTS {
                with_discipline::<Faulty<Shuttle, TornSwap>, _>(name, (forest, 1)).unwrap();
                with_discipline::<Faulty<Shuttle, TornCas>, _>(name, (forest, 1)).unwrap();
            }
        });
    }
}

/// A task that is put again and again, until a worker ends the run.
struct Endless;

impl<P: Platform> DisciplineVisitor<P> for Endless {
    type Output = ();

    fn visit<D: Discipline<P>>(self) {
        let discipline = D::new(&Placement::flat(3), 1);
        let runs = AtomicU32::new(0);
        team::<P>(3, |rank| {
            let mut deque = discipline.deque(rank);
            deque.fill((rank == 0).then(|| task(0)));
            while let Some(task) = deque.get() {
                // If the task is not put again, the other workers wait for it.
                if runs.fetch_add(1, Relaxed) >= 10 {
                    deque.finish();
                } else {
                    deque.put(task);
                }
            }
        });
        assert!(runs.load(Relaxed) > 10, "{}", D::NAME);
    }
}

#[test]
fn a_worker_can_end_it() {
    for name in disciplines() {
        println!("{name}");
        let model = move || with_discipline::<Shuttle, _>(name, Endless).unwrap();
        shuttle_random(100, model);
        shuttle_pct(100, 3, model);
    }
}

/// Two workers and two tasks, where the first task puts the second, in every interleaving with few
/// preemptions. Larger cases need too many steps.
#[test]
fn a_pair_exhaustively() {
    for name in ["global-queue", "random"] {
        println!("{name}");
        let forest = Forest {
            workers: 2,
            owners: 1,
            roots: 1,
            tasks: 2,
        };
        loom_model(Some(2), move || {
            with_discipline::<Loom, _>(name, (forest, 1)).unwrap();
        });
    }
}
