//! A core's run queue.

use super::ThreadId;
use std::collections::VecDeque;

/// The threads that wait for a core, sorted by vruntime (virtual run time) and then by number, in a ring. Queues are
/// short, threads are taken from the front, and new threads are inserted near the end.
///
/// Virtual time is signed, because a thread may be placed before time zero of its core.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    threads: VecDeque<(i64, ThreadId)>,
    min_vruntime: i64,
}

impl Queue {
    pub(crate) fn len(&self) -> u32 {
        self.threads.len() as u32
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    pub(crate) fn first(&self) -> Option<(i64, ThreadId)> {
        self.threads.front().copied()
    }

    pub(crate) fn second(&self) -> Option<(i64, ThreadId)> {
        self.threads.get(1).copied()
    }

    /// The virtual time of the core, from which a new thread starts. It never decreases.
    pub(crate) fn min_vruntime(&self) -> i64 {
        self.min_vruntime
    }

    pub(crate) fn insert(&mut self, vruntime: i64, thread: ThreadId) {
        let at = self
            .threads
            .partition_point(|&queued| queued < (vruntime, thread));
        self.threads.insert(at, (vruntime, thread));
    }

    pub(crate) fn remove(&mut self, vruntime: i64, thread: ThreadId) {
        let at = self.threads.binary_search(&(vruntime, thread));
        self.threads
            .remove(at.expect("a queued thread is in its queue"));
    }

    /// The threads in the order in which they will run.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ThreadId> {
        self.threads.iter().map(|&(_, thread)| thread)
    }

    /// Advances the core's virtual time to the least vruntime of its threads. `running` is the
    /// vruntime of the running thread, which is not in the queue.
    pub(crate) fn advance(&mut self, running: i64) {
        let least = self
            .first()
            .map_or(running, |(first, _)| first.min(running));
        self.min_vruntime = self.min_vruntime.max(least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_vruntime_first_then_least_thread() {
        let mut queue = Queue::default();
        for (vruntime, thread) in [(5, 1), (-3, 2), (5, 0), (9, 3)] {
            queue.insert(vruntime, thread);
        }
        assert_eq!(queue.iter().collect::<Vec<_>>(), [2, 0, 1, 3]);
        assert_eq!(queue.second(), Some((5, 0)));
        queue.remove(-3, 2);
        assert_eq!((queue.first(), queue.len()), (Some((5, 0)), 3));
    }

    #[test]
    fn time_follows_the_slowest_and_never_goes_back() {
        let mut queue = Queue::default();
        queue.insert(10, 0);
        queue.advance(20);
        assert_eq!(queue.min_vruntime(), 10);
        queue.insert(4, 1);
        queue.advance(20);
        assert_eq!(queue.min_vruntime(), 10);
        queue.remove(4, 1);
        queue.remove(10, 0);
        queue.advance(20);
        assert_eq!(queue.min_vruntime(), 20);
    }
}
