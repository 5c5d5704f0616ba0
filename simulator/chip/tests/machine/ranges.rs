//! Ranges that are halved, with a broadcast network and without.

use crate::support::{machine, spawn};
use manycore_chip::config::Config;
use manycore_chip::{Run, Simulated, Simulation};
use manycore_platform::Platform;
use manycore_programs::stealing::{Discipline, RangeStealing, Task, TaskDeque};
use manycore_team::barrier::Placement;
use std::sync::{Arc, Mutex};

/// Worker 0 begins with tasks 0 to `roots` - 1. Task t puts tasks `roots` + 2t and `roots` + 2t + 1, if they are less
/// than `tasks`. Returns how often each task ran, and how many workers ran tasks.
fn forest(machine: &Config, workers: usize, roots: u64, tasks: u64) -> Run<(Vec<u32>, usize)> {
    let program = move || {
        let discipline = Arc::new(RangeStealing::<Simulated>::new(
            &Placement::flat(workers),
            1,
        ));
        let runs = Arc::new(Mutex::new((vec![0; tasks as usize], 0)));
        let member = |rank| {
            let (discipline, runs) = (Arc::clone(&discipline), Arc::clone(&runs));
            spawn(rank, move || {
                let mut pile = discipline.deque(rank);
                if rank == 0 {
                    pile.fill((1..=roots).filter_map(Task::new));
                }
                let mut mine = 0;
                while let Some(task) = pile.get() {
                    let number = task.get() - 1;
                    Simulated::compute(200 + number % 1_000);
                    let first = roots + 2 * number;
                    let next = first..tasks.min(first + 2);
                    next.filter_map(|next| Task::new(next + 1))
                        .for_each(|next| pile.put(next));
                    runs.lock().unwrap().0[number as usize] += 1;
                    mine += 1;
                }
                let mut runs = runs.lock().unwrap();
                assert!(
                    runs.0.iter().all(|runs| *runs == 1),
                    "over before all is done"
                );
                runs.1 += usize::from(mine > 0);
            })
        };
        let team: Vec<_> = (0..workers).map(member).collect();
        team.into_iter().for_each(Simulated::join);
        std::mem::take(&mut *runs.lock().unwrap())
    };
    Simulation::new(machine)
        .limit(1 << 36)
        .run(program)
        .unwrap()
}

#[test]
fn each_task_runs_once_and_again_the_same() {
    for preset in ["atac-64", "kunpeng-920"] {
        let machine = machine(preset, &[]);
        for (workers, roots, tasks) in [(1, 5, 100), (16, 1, 3_000), (64, 1_000, 9_000)] {
            let run = || forest(&machine, workers, roots, tasks);
            let (first, second) = (run(), run());
            let what = format!("{preset}, {workers} workers");
            assert!(first.value.0.iter().all(|runs| *runs == 1), "{what}");
            assert_eq!(first.value.1, workers, "{what}: all had some");
            assert_eq!(first.value, second.value, "{what}");
            assert_eq!(first.statistics.hash, second.statistics.hash, "{what}");
        }
    }
}

/// Tasks that do not fit in the ring wait in private, and are shared later.
#[test]
fn an_overflow_is_shared_in_the_end() {
    let machine = machine("atac-64", &[]);
    let run = forest(&machine, 16, 20_000, 20_000);
    assert!(run.value.0.iter().all(|runs| *runs == 1));
    let ideal = 20_000 * (200 + 499) / 16;
    assert!(
        run.statistics.cycles < ideal * 12 / 10,
        "{}",
        run.statistics.cycles
    );
}
