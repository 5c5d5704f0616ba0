//! The queue under loom: an owner, and two thieves with offers (addresses of items to take).

use super::super::queue::OfferedQueue;
use super::{CasQueue, Slots};
use crate::stealing::Task;
use manycore_check::{Faulty, Loom, Plain, Relaxed, TornCas, caught, loom_model, team};
use manycore_platform::Platform;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Records whether each task was taken once, and after the work that came before its put.
struct Books {
    runs: Vec<AtomicU32>,
    before: Vec<Plain<u32>>,
}

impl Books {
    fn new(tasks: usize) -> Self {
        Self {
            runs: (0..tasks).map(|_| AtomicU32::new(0)).collect(),
            before: (0..tasks).map(|_| Plain::new(0)).collect(),
        }
    }

    fn put<P: Platform>(&self, queue: &mut CasQueue<P>, slots: &Slots<P>, number: usize) {
        self.before[number].write(number as u32);
        queue.put(slots, Task::new(number as u64 + 1).unwrap());
    }

    fn got(&self, task: Task) {
        let number = task.get() as usize - 1;
        assert_eq!(self.before[number].read(), number as u32);
        let before = self.runs[number].fetch_add(1, SeqCst);
        assert_eq!(before, 0, "task {number} is got twice");
    }

    fn all_got(&self) {
        let left = self.runs.iter().position(|runs| runs.load(SeqCst) == 0);
        assert_eq!(left, None, "no thread got this task");
    }
}

/// Each of two thieves has one offer: either of the two top items, or both of the top item. Meanwhile the owner gets
/// `gets` tasks, puts `more` tasks in their places, makes offers, which removes taken items, and gets the remaining
/// tasks.
fn owner_and_thieves<P: Platform>(tasks: usize, same: bool, gets: usize, more: usize) {
    let books = Books::new(tasks + more);
    let slots = [Slots::<P>::new()];
    let mut queue = CasQueue::new(0, &slots);
    (0..tasks).for_each(|task| books.put(&mut queue, &slots[0], task));
    queue.begin_offering(&slots[0]);
    let first = queue.offer(&slots[0]).unwrap();
    let second = if same {
        first
    } else {
        queue.offer(&slots[0]).unwrap()
    };
    let owner = std::sync::Mutex::new(queue);
    team::<P>(3, |rank| {
        if rank > 0 {
            // SAFETY: a queue of `slots` made the offer.
            let task = unsafe { CasQueue::<P>::take(&slots, [first, second][rank - 1]) };
            return task.into_iter().for_each(|task| books.got(task));
        }
        let queue = &mut *owner.lock().unwrap();
        for _ in 0..gets {
            let task = queue.pop(&slots[0]);
            task.into_iter().for_each(|task| books.got(task));
        }
        (tasks..tasks + more).for_each(|task| books.put(queue, &slots[0], task));
        queue.begin_offering(&slots[0]);
        while queue.offer(&slots[0]).is_some() {}
        while let Some(task) = queue.pop(&slots[0]) {
            books.got(task);
        }
        assert_eq!(queue.length(&slots[0]), 0);
    });
    books.all_got();
}

#[test]
fn each_item_is_taken_once() {
    for (tasks, same, gets, more) in [(3, false, 1, 0), (2, true, 0, 0), (2, true, 2, 1)] {
        loom_model(Some(3), move || {
            owner_and_thieves::<Loom>(tasks, same, gets, more)
        });
    }
}

#[test]
fn each_fault_is_caught() {
    let torn = || {
        loom_model(Some(3), || {
            owner_and_thieves::<Faulty<Loom, TornCas>>(2, true, 2, 1)
        })
    };
    assert!(caught(torn).contains("got twice"));
    // A task is put while a thief still has an old offer.
    let unordered = || {
        loom_model(Some(3), || {
            owner_and_thieves::<Faulty<Loom, Relaxed>>(2, true, 2, 1)
        })
    };
    assert!(caught(unordered).contains("Causality violation"));
}
