use super::Task;
use crate::mutex::Mutex;
use manycore_platform::{Atomic, Ordering, Platform};
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::slice;

/// A double-ended queue. A simulator sees accesses to the entries. The queue itself should be on the cache line
/// of its lock.
pub(super) struct TracedDeque<P> {
    tasks: VecDeque<Task>,
    platform: PhantomData<P>,
}

impl<P: Platform> TracedDeque<P> {
    pub(super) fn new() -> Self {
        Self {
            tasks: VecDeque::new(),
            platform: PhantomData,
        }
    }

    pub(super) fn push_back(&mut self, task: Task) {
        self.tasks.push_back(task);
        P::write(self.tasks.back_mut().map_or(&mut [], slice::from_mut));
    }

    pub(super) fn pop_back(&mut self) -> Option<Task> {
        P::read(self.tasks.back().map_or(&[], slice::from_ref));
        self.tasks.pop_back()
    }

    pub(super) fn pop_front(&mut self) -> Option<Task> {
        P::read(self.tasks.front().map_or(&[], slice::from_ref));
        self.tasks.pop_front()
    }
}

/// A worker's deque under a mutex. The owner works at the back, and thieves take from the front.
pub struct LockedDeque<P: Platform> {
    tasks: Mutex<P, TracedDeque<P>>,
    /// The number of tasks, for a look without the lock. It is written under the lock.
    length: P::AtomicUsize,
}

impl<P: Platform> LockedDeque<P> {
    pub(super) fn new() -> Self {
        Self {
            tasks: Mutex::new(TracedDeque::new()),
            length: Atomic::new(0),
        }
    }

    /// The number of tasks now, or a moment ago. Only the owner adds tasks. If the owner sees 0, it also sees the
    /// earlier work of the thief that took the last task.
    pub(super) fn length(&self) -> usize {
        // Acquire: an owner that sees 0 also sees that work.
        self.length.load(Ordering::Acquire)
    }

    pub(super) fn push(&self, task: Task) {
        self.change(|tasks| tasks.push_back(task));
    }

    pub(super) fn pop(&self) -> Option<Task> {
        self.unless_empty(TracedDeque::pop_back)
    }

    pub(super) fn steal(&self) -> Option<Task> {
        self.unless_empty(TracedDeque::pop_front)
    }

    /// Calls `pop` under the lock, unless the deque is empty.
    fn unless_empty(&self, pop: impl FnOnce(&mut TracedDeque<P>) -> Option<Task>) -> Option<Task> {
        (self.length() > 0).then(|| self.change(pop)).flatten()
    }

    fn change<R>(&self, change: impl FnOnce(&mut TracedDeque<P>) -> R) -> R {
        self.tasks.with(|tasks| {
            let result = change(tasks);
            // Release: see `length`.
            self.length.store(tasks.tasks.len(), Ordering::Release);
            result
        })
    }
}
