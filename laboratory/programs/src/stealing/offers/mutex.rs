use super::super::Task;
use super::super::deque::LockedDeque;
use super::queue::OfferedQueue;
use manycore_platform::{CachePadded, Platform};
use std::marker::PhantomData;

/// The number of tasks that the owner keeps for itself.
const RESERVED: usize = 1;

/// A deque under a mutex (Park 2013, section 5.2.1). An offer names the victim and its number of tasks. The
/// thief takes a task from the longest deque, under the victim's mutex.
pub struct MutexQueue<P> {
    rank: usize,
    /// The number of offers that may still be made: one for each spare task.
    spare: usize,
    platform: PhantomData<fn() -> P>,
}

/// The deque's length and the owner's rank (its number).
fn offer(rank: usize, length: usize) -> u64 {
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    u64::from(length) << 32 | rank as u64
}

fn length(offer: u64) -> u64 {
    offer >> 32
}

fn victim(offer: u64) -> usize {
    offer as u32 as usize
}

impl<P: Platform> OfferedQueue<P> for MutexQueue<P> {
    const NAME: &'static str = "offer-mutex";
    type Shared = CachePadded<LockedDeque<P>>;

    fn shared() -> Self::Shared {
        CachePadded::new(LockedDeque::new())
    }

    fn new(rank: usize, all: &[Self::Shared]) -> Self {
        P::name(&all[rank], "deque");
        Self {
            rank,
            spare: 0,
            platform: PhantomData,
        }
    }

    fn put(&mut self, mine: &Self::Shared, task: Task) {
        mine.push(task);
    }

    fn pop(&mut self, mine: &Self::Shared) -> Option<Task> {
        mine.pop()
    }

    fn length(&self, mine: &Self::Shared) -> usize {
        mine.length()
    }

    fn begin_offering(&mut self, mine: &Self::Shared) {
        self.spare = mine.length().saturating_sub(RESERVED);
    }

    fn offer(&mut self, mine: &Self::Shared) -> Option<u64> {
        self.spare = self.spare.checked_sub(1)?;
        Some(offer(self.rank, mine.length()))
    }

    fn worth(offer: u64) -> u64 {
        length(offer)
    }

    unsafe fn take(all: &[Self::Shared], offer: u64) -> Option<Task> {
        all[victim(offer)].steal()
    }
}
