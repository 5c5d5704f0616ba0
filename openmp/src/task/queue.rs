//! The queue of ready tasks of a member.
//!
//! The owner of the queue pushes and pops at the end. Other threads take tasks from the front, or from the middle,
//! where they leave a hole. So the position of a task never changes. If a position was once the end (a `mark`), the
//! tasks from there on were pushed later. Thieves drop holes at the front, so an empty queue has none. Positions count
//! from the end, so this moves no task.

use super::Task;
use crate::words::lock::Guarded;
use manycore_platform::{Native, Platform};
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

pub(super) struct Queue {
    items: Guarded<Items>,
    /// The number of tasks, without holes. Other threads use this as a hint.
    count: AtomicUsize,
    /// The position after the last task. Only the owner changes this.
    end: AtomicUsize,
}

/// The most tasks that a thread takes at once.
const BATCH: usize = 16;

/// The number of times that a thief relaxes before it takes the only task of a queue.
const LEFT_ALONE: u32 = 8;

/// Tasks that a thread took at once, the oldest first.
#[derive(Default)]
pub(super) struct Batch {
    tasks: [Option<NonNull<Task>>; BATCH],
    count: usize,
}

impl Batch {
    /// The first task, and the others.
    pub(super) fn split(self) -> Option<(NonNull<Task>, impl Iterator<Item = NonNull<Task>>)> {
        let mut tasks = self.tasks.into_iter().flatten();
        Some((tasks.next()?, tasks))
    }
}

/// Tasks, and holes where other threads have taken a task.
#[derive(Default)]
struct Items(VecDeque<Option<NonNull<Task>>>);

// SAFETY: any thread may run a task that is in a queue.
unsafe impl Send for Items {}

impl Items {
    /// Drops the holes at the front, so that the next thief does not walk over them.
    fn trim(&mut self) {
        while self.0.front().is_some_and(Option::is_none) {
            self.0.pop_front();
        }
    }
}

impl Queue {
    pub(super) fn new() -> Self {
        Self {
            items: Guarded::new(Items::default()),
            count: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
        }
    }

    #[inline]
    pub(super) fn count(&self) -> usize {
        self.count.load(Relaxed)
    }

    #[inline]
    pub(super) fn end(&self) -> usize {
        self.end.load(Relaxed)
    }

    /// Adds tasks. Only the owner calls this. If the queue was empty, calls `edge` with the lock held.
    pub(super) fn push(&self, tasks: impl IntoIterator<Item = NonNull<Task>>, edge: impl FnOnce()) {
        self.items.with(|items| {
            let holes = items.0.len();
            items.0.extend(tasks.into_iter().map(Some));
            let more = items.0.len() - holes;
            self.end.store(self.end() + more, Relaxed);
            let before = self.count.load(Relaxed);
            self.count.store(before + more, Relaxed);
            if before == 0 && more != 0 {
                edge();
            }
        });
    }

    /// Takes the newest task above `mark`. Only the owner calls this. If that task was the only one, calls `edge` with
    /// the lock held.
    pub(super) fn pop(&self, mark: usize, edge: impl FnOnce()) -> Option<NonNull<Task>> {
        if self.end() <= mark || self.count() == 0 {
            return None;
        }
        self.items.with(|items| {
            while self.end() > mark {
                let last = items.0.pop_back()?;
                self.end.store(self.end() - 1, Relaxed);
                if last.is_some() {
                    self.taken(edge);
                    return last;
                }
            }
            None
        })
    }

    /// Takes the oldest half of the tasks, at most [`BATCH`]. If another thread has the lock, takes none. If the queue
    /// is empty afterwards, calls `edge` with the lock held.
    pub(super) fn steal(&self, edge: impl FnOnce()) -> Batch {
        let mut batch = Batch::default();
        match self.count() {
            0 => return batch,
            // Waits, since the only task may be new: the owner may push more, or take it.
            1 => (0..LEFT_ALONE).for_each(|_| Native::relax()),
            _ => (),
        }
        self.items.try_with(|items| {
            let before = self.count.load(Relaxed);
            let wanted = before.div_ceil(2).min(BATCH);
            while batch.count < wanted {
                let Some(first) = items.0.pop_front() else {
                    break;
                };
                if first.is_some() {
                    batch.tasks[batch.count] = first;
                    batch.count += 1;
                }
            }
            items.trim();
            self.count.store(before - batch.count, Relaxed);
            if before == batch.count && before != 0 {
                edge();
            }
        });
        batch
    }

    /// Takes the oldest task that `fits`. If that task was the only one, calls `edge` with the lock held.
    pub(super) fn steal_one(
        &self,
        fits: impl Fn(&Task) -> bool,
        edge: impl FnOnce(),
    ) -> Option<NonNull<Task>> {
        if self.count() == 0 {
            return None;
        }
        self.items.with(|items| {
            // SAFETY: tasks in a queue have not begun, so they live.
            let found = items
                .0
                .iter_mut()
                .find(|item| item.is_some_and(|task| fits(unsafe { task.as_ref() })))?;
            let task = found.take();
            items.trim();
            self.taken(edge);
            task
        })
    }

    fn taken(&self, edge: impl FnOnce()) {
        let before = self.count.load(Relaxed);
        self.count.store(before - 1, Relaxed);
        if before == 1 {
            edge();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::settings;

    fn length(queue: &Queue) -> usize {
        queue.items.with(|items| items.0.len())
    }

    #[test]
    fn thieves_leave_no_holes_behind() {
        let mut tasks = [(); 3].map(|()| Task::implicit(settings().icv));
        let queue = Queue::new();
        for round in 0..1000 {
            queue.push(tasks.each_mut().map(NonNull::from), || ());
            // One hole at the front, and one in the middle that the owner pops.
            let first = queue.steal_one(|_| true, || ());
            let middle = queue.steal_one(|_| true, || ());
            assert!(first.is_some() && middle.is_some() && first != middle);
            assert_eq!(length(&queue), 1, "round {round}");
            assert!(queue.pop(0, || ()).is_some());
            assert_eq!((length(&queue), queue.count()), (0, 0), "round {round}");
        }
        // The batch is `a`. The hole behind `a` is dropped.
        let [a, b, c] = tasks.each_mut().map(NonNull::from);
        queue.push([a, b, c], || ());
        assert_eq!(
            queue.steal_one(|task| std::ptr::eq(task, b.as_ptr()), || ()),
            Some(b)
        );
        assert_eq!(length(&queue), 3);
        assert_eq!(queue.steal(|| ()).split().map(|(first, _)| first), Some(a));
        assert_eq!(length(&queue), 1);
        assert_eq!(queue.pop(0, || ()), Some(c));
    }
}
