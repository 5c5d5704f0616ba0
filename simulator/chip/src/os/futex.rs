//! The threads that wait on futexes.

use super::ThreadId;
use std::collections::{BTreeMap, VecDeque};

/// The wait queues of futexes by simulated address.
#[derive(Debug, Default)]
pub(crate) struct FutexTable {
    queues: BTreeMap<u64, VecDeque<ThreadId>>,
}

impl FutexTable {
    pub(crate) fn wait(&mut self, address: u64, thread: ThreadId) {
        self.queues.entry(address).or_default().push_back(thread);
    }

    /// Removes up to `count` threads, those with the longest wait first.
    pub(crate) fn wake(&mut self, address: u64, count: u32) -> Vec<ThreadId> {
        let Some(queue) = self.queues.get_mut(&address) else {
            return Vec::new();
        };
        let woken = queue.drain(..queue.len().min(count as usize)).collect();
        if queue.is_empty() {
            self.queues.remove(&address);
        }
        woken
    }

    /// Removes a thread. Returns `false` if the thread was woken before.
    pub(crate) fn remove(&mut self, address: u64, thread: ThreadId) -> bool {
        let Some(queue) = self.queues.get_mut(&address) else {
            return false;
        };
        let Some(at) = queue.iter().position(|&waiting| waiting == thread) else {
            return false;
        };
        queue.remove(at);
        if queue.is_empty() {
            self.queues.remove(&address);
        }
        true
    }

    /// All waiting threads, by address, then in the order of their waits.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, ThreadId)> {
        self.queues
            .iter()
            .flat_map(|(&address, queue)| queue.iter().map(move |&t| (address, t)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_in_first_out_by_address() {
        let mut table = FutexTable::default();
        for (address, thread) in [(64, 3), (8, 1), (64, 0), (64, 2)] {
            table.wait(address, thread);
        }
        assert_eq!(
            table.iter().collect::<Vec<_>>(),
            [(8, 1), (64, 3), (64, 0), (64, 2)]
        );
        assert!(table.remove(64, 0) && !table.remove(64, 0) && !table.remove(9, 0));
        assert_eq!(table.wake(64, 1), [3]);
        assert_eq!(table.wake(64, u32::MAX), [2]);
        assert!(table.wake(64, 1).is_empty());
        assert!(table.wake(8, 0).is_empty());
        assert!(table.remove(8, 1));
        assert!(table.queues.is_empty());
    }
}
