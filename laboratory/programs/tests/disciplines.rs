//! The disciplines of work stealing on more threads than this machine has cores.

use manycore::Native;
use manycore_programs::stealing::{
    Discipline, DisciplineVisitor, Task, TaskDeque, disciplines, with_discipline,
};
use manycore_team::barrier::Placement;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

const THREADS: usize = 6;
const TASKS: u64 = 20_000;

/// The tasks with numbers below `roots` begin on the first `owners` deques in turn. Task t puts the tasks
/// `roots + 2t` and `roots + 2t + 1` on the deque of its worker.
struct Forest {
    owners: usize,
    roots: u64,
    seed: u64,
}

impl DisciplineVisitor<Native> for Forest {
    type Output = ();

    fn visit<D: Discipline<Native>>(self) {
        let discipline = D::new(&Placement::flat(THREADS).on_cores(2), self.seed);
        let runs: Vec<_> = (0..TASKS).map(|_| AtomicU32::new(0)).collect();
        let task = |number| Task::new(number + 1).unwrap();
        let work = |rank| {
            let mut deque = discipline.deque(rank);
            let mine = (0..self.roots).filter(|n| *n as usize % self.owners == rank);
            deque.fill(mine.map(task));
            while let Some(got) = deque.get() {
                let number = got.get() - 1;
                let first = self.roots + 2 * number;
                (first..TASKS.min(first + 2)).for_each(|next| deque.put(task(next)));
                runs[number as usize].fetch_add(1, Relaxed);
            }
            // `None` means that all tasks are done and visible.
            let wrong = runs.iter().position(|runs| runs.load(Relaxed) != 1);
            assert_eq!(wrong, None, "{}: not run once by the end", D::NAME);
        };
        std::thread::scope(|scope| {
            for rank in 0..THREADS {
                let work = &work;
                scope.spawn(move || work(rank));
            }
        });
    }
}

#[test]
fn each_task_runs_once() {
    for name in disciplines() {
        for (owners, roots) in [(1, TASKS), (3, TASKS), (THREADS, TASKS), (1, 1), (2, 100)] {
            for seed in 0..3 {
                let forest = Forest {
                    owners,
                    roots,
                    seed,
                };
                with_discipline(name, forest).unwrap();
            }
        }
    }
}
