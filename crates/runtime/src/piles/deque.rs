use super::Task;
use manycore_platform::Platform;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::slice;

/// A double-ended queue whose entries a simulator sees read and written. Its own few
/// words are meant to be on the line of the lock around it.
pub(super) struct Deque<P> {
    tasks: VecDeque<Task>,
    platform: PhantomData<P>,
}

impl<P: Platform> Deque<P> {
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

    pub(super) fn pop_front(&mut self) -> Option<Task> {
        P::read(self.tasks.front().map_or(&[], slice::from_ref));
        self.tasks.pop_front()
    }
}
