//! The barrier's word. Members wait at it by [`meet`](crate::tasking::meet).
//!
//! It says how many members have arrived, in the low half, and how often all have, in the high
//! half. The thread that finds all members arrived and no task left opens the barrier, by one
//! exchange, which succeeds once. A member looks for that after its arrival, and a thread after each task that
//! was the last: arrivals and the count of tasks are sequentially consistent, so that of the last
//! arrival and the last task's end at least one sees the other.

use crate::task::Tasks;
use crate::words::bell::Bell;
use manycore_platform::{Native, Platform};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

pub(crate) struct Barrier(AtomicU64);

const ARRIVED: u64 = 0xffff_ffff;

impl Barrier {
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// For the next region: nobody has arrived.
    pub(crate) fn reset(&self) {
        self.0.store(0, SeqCst);
    }

    /// How often all have arrived.
    pub(crate) fn phase(&self) -> u32 {
        (self.0.load(SeqCst) >> 32) as u32
    }

    /// Whether the barrier has opened since an arrival that returned `before`.
    #[inline]
    pub(crate) fn is_opened_since(&self, before: u64) -> bool {
        self.0.load(SeqCst) >> 32 != before >> 32
    }

    /// The member arrives. Returns the word before that, and whether all other members had arrived.
    #[inline]
    pub(crate) fn arrive(&self, size: u32) -> (u64, bool) {
        let before = self.0.fetch_add(1, SeqCst);
        (before, before & ARRIVED == u64::from(size) - 1)
    }

    /// Opens it if all have arrived and nothing is left to do.
    #[inline]
    pub(crate) fn try_open(&self, size: u32, tasks: &Tasks, bell: &Bell) {
        self.open_from(u64::from(size), tasks, bell);
    }

    /// Arrives and opens it by one exchange, if all others have arrived and nothing is left to do:
    /// between two, those who wait would take the line away. Threads only.
    #[inline]
    pub(crate) fn open_at_once(&self, size: u32, tasks: &Tasks, bell: &Bell) -> bool {
        Native::prefetch_write(std::ptr::from_ref(self).cast());
        self.open_from(u64::from(size) - 1, tasks, bell)
    }

    #[inline]
    fn open_from(&self, arrived: u64, tasks: &Tasks, bell: &Bell) -> bool {
        let now = self.0.load(SeqCst);
        if now & ARRIVED != arrived || tasks.live() != 0 {
            return false;
        }
        let next = ((now >> 32) + 1) << 32;
        let opened = self.0.compare_exchange(now, next, SeqCst, SeqCst).is_ok();
        if opened {
            bell.ring_after_rmw();
        }
        opened
    }
}
