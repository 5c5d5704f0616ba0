//! Ranges, termination detection and parking under loom. `stealing/checked.rs` runs them under shuttle with
//! many workers.

use super::parking::Parking;
use super::termination::TerminationTree;
use super::{RangeDeque, RangeStealing};
use crate::stealing::{Discipline, Task, TaskDeque};
use crate::wireless::{Faulty, Loom};
use manycore_check::{
    Deaf, Fault, NoFence, Plain, Relaxed, TornAdd, TornCas, caught, loom_model, team,
};
use manycore_chip::Broadcast;
use manycore_platform::{
    Atomic, AtomicInteger, Ordering::AcqRel, Ordering::Acquire, Ordering::Release, Platform,
};
use manycore_team::barrier::Placement;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The tasks of a model, by number from 0.
struct Book {
    pages: Vec<Page>,
}

struct Page {
    /// Written before the task is put, and read by its taker.
    input: Plain<u64>,
    /// Written by the task's taker, and read by all at the end.
    output: Plain<u64>,
    /// This is an atomic of the standard library, so bookkeeping is no step of the model. It orders nothing, because
    /// the checkers run one thread at a time.
    taken: AtomicBool,
}

impl Book {
    fn new(tasks: usize) -> Self {
        let page = |_| Page {
            input: Plain::new(0),
            output: Plain::new(0),
            taken: false.into(),
        };
        Self {
            pages: (0..tasks).map(page).collect(),
        }
    }

    fn task(&self, number: usize) -> Task {
        self.pages[number].input.write(number as u64);
        Task::new(number as u64 + 1).unwrap()
    }

    /// Does a task. Returns its number.
    fn run(&self, task: Task) -> usize {
        let number = task.get() - 1;
        let page = &self.pages[number as usize];
        let again = page.taken.swap(true, Ordering::Relaxed);
        assert!(!again, "a task is got twice");
        assert_eq!(page.input.read(), number);
        page.output.write(number + 1);
        number as usize
    }

    fn is_done(&self) {
        for (number, page) in self.pages.iter().enumerate() {
            assert!(
                page.taken.load(Ordering::Relaxed),
                "it is over before all is done"
            );
            assert_eq!(page.output.read(), number as u64 + 1);
        }
    }
}

/// Worker 0 puts `tasks` tasks, pops one, puts one more, and pops until no task is left. Each thief steals once and
/// pops its loot. There is no termination detection, and no worker sleeps.
fn race<P: Broadcast>(tasks: usize, thieves: usize, stolen: &AtomicU32) {
    let discipline = RangeStealing::<P>::new(&Placement::flat(1 + thieves), 1);
    let book = Book::new(tasks + 1);
    team::<P>(1 + thieves, |rank| {
        let mut deque = discipline.deque(rank);
        let drain = |deque: &mut RangeDeque<P>| {
            while let Some(task) = deque.pop() {
                book.run(task);
            }
        };
        if rank > 0 {
            if let Some(task) = deque.steal(0) {
                stolen.fetch_add(1, Ordering::Relaxed);
                book.run(task);
                drain(&mut deque);
            }
            return;
        }
        for number in 0..tasks {
            deque.put(book.task(number));
        }
        if let Some(task) = deque.pop() {
            book.run(task);
        }
        deque.put(book.task(tasks));
        drain(&mut deque);
    });
    book.is_done();
}

/// Checks that every task is done, in models with and without a theft.
fn check(preemptions: Option<usize>, tasks: usize, thieves: usize) {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(std::collections::BTreeSet::new()));
    let noted = std::sync::Arc::clone(&seen);
    loom_model(preemptions, move || {
        let stolen = AtomicU32::new(0);
        race::<Loom>(tasks, thieves, &stolen);
        noted.lock().unwrap().insert(stolen.into_inner());
    });
    let seen = seen.lock().unwrap();
    assert!(
        (0..=thieves as u32).all(|stolen| seen.contains(&stolen)),
        "{seen:?}"
    );
}

#[test]
fn a_range_is_halved_while_its_owner_takes_from_it() {
    check(None, 1, 1);
    check(Some(3), 3, 1);
}

#[test]
fn two_thieves_halve_a_range() {
    check(Some(2), 2, 2);
}

/// The ring has four places. The fifth task finds its place taken, or claimed but not yet read, or free.
#[test]
fn a_place_is_used_again_only_when_it_is_empty() {
    check(Some(2), 4, 1);
}

/// The whole discipline (stealing algorithm): worker 0 begins with a task, and this task puts another. Every worker
/// finds that all tasks are done.
fn whole<P: Broadcast>(workers: usize, tasks: usize) {
    let discipline = RangeStealing::<P>::new(&Placement::flat(workers), 1);
    let book = Book::new(tasks);
    team::<P>(workers, |rank| {
        let mut deque = discipline.deque(rank);
        if rank == 0 && tasks > 0 {
            deque.put(book.task(0));
        }
        while let Some(task) = deque.get() {
            let next = book.run(task) + 1;
            if next < tasks {
                deque.put(book.task(next));
            }
        }
        book.is_done();
    });
}

#[test]
fn all_end_when_all_is_done() {
    loom_model(Some(2), || whole::<Loom>(2, 1));
    loom_model(Some(1), || whole::<Loom>(2, 2));
}

/// Three members in two nodes. A task is handed on: its holder has joined, and a taker joins before it
/// takes the task.
fn termination<P: Platform>() {
    let termination = TerminationTree::<P>::new(3);
    // The member that owns the task. 3 means that member 1 has taken the task.
    let task = P::AtomicU32::new(0);
    let done = AtomicBool::new(false);
    let ends = AtomicU32::new(0);
    let leave = |member| {
        if termination.leave(member) {
            assert!(
                done.load(Ordering::Relaxed),
                "it is over before all is done"
            );
            ends.fetch_add(1, Ordering::Relaxed);
        }
    };
    team::<P>(3, |member| match member {
        0 => {
            if task.compare_exchange(0, 4, AcqRel, Acquire).is_ok() {
                done.store(true, Ordering::Relaxed);
            }
            leave(0);
        }
        2 => {
            leave(2);
            termination.join(2);
            if task.compare_exchange(0, 3, AcqRel, Acquire).is_ok() {
                P::yield_now();
                done.store(true, Ordering::Relaxed);
            }
            leave(2);
        }
        _ => leave(1),
    });
    let ends = ends.into_inner();
    assert!(ends > 0, "all have left, and nobody knows");
}

#[test]
fn the_last_to_leave_knows_it() {
    loom_model(Some(3), termination::<Loom>);
}

/// A checker's message for production code on a platform with a fault.
fn fails<F: Fault>(model: fn()) -> String {
    let why = caught(model);
    println!("{}: {why}", std::any::type_name::<F>());
    why
}

#[test]
fn each_fault_is_caught() {
    fn of_race<F: Fault>() -> String {
        fails::<F>(|| {
            loom_model(Some(3), || {
                race::<Faulty<Loom, F>>(2, 1, &AtomicU32::new(0))
            });
        })
    }
    let twice = "got twice";
    let unordered = "Causality violation";
    assert!(of_race::<TornCas>().contains(twice));
    assert!(of_race::<Relaxed>().contains(unordered));
    fn of_census<F: Fault>() -> String {
        fails::<F>(|| {
            loom_model(Some(3), termination::<Faulty<Loom, F>>);
        })
    }
    assert!(of_census::<TornAdd>().contains("have left"));
}

/// One thread publishes an item twice. The others sleep until each has found an item.
fn rest<P: Platform>() {
    let rest = Parking::<P>::new();
    let there = P::AtomicU32::new(0);
    team::<P>(3, |rank| {
        if rank == 0 {
            for _ in 0..2 {
                there.fetch_add(1, Release);
                rest.published();
            }
            return;
        }
        let look = || {
            let mut seen = there.load(Acquire);
            while seen > 0 {
                match there.compare_exchange(seen, seen - 1, AcqRel, Acquire) {
                    Ok(_) => return Some(()),
                    Err(now) => seen = now,
                }
            }
            None
        };
        while rest.sleep(look).is_none() {}
    });
}

#[test]
fn no_wake_up_is_lost() {
    loom_model(Some(3), rest::<Loom>);
}

#[test]
fn each_lost_wake_up_is_caught() {
    fn of_rest<F: Fault>() -> String {
        fails::<F>(|| {
            loom_model(Some(3), rest::<Faulty<Loom, F>>);
        })
    }
    assert!(of_rest::<Deaf>().contains("deadlock"));
    assert!(of_rest::<NoFence>().contains("deadlock"));
}
