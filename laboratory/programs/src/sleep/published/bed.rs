//! The word on which a worker sleeps, its "bed", and the worker's statistics.

use manycore::seam::Tally;
use manycore_platform::{Atomic, Futex, Ordering, Platform};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

const AWAKE: u32 = 0;
/// In bed. The worker is not yet counted among the sleepers, or does not know yet that it is counted.
const LYING: u32 = 1;
/// The worker is counted among the sleepers.
const ASLEEP: u32 = 2;
/// A waker is waking the worker and taking it off the count.
const TAKEN: u32 = 3;

/// One worker's bed. Its word replaces the published mutex, flag and condition variable.
///
/// * The worker lies down *before* it is counted. So a waker that sees the count finds the worker in bed.
///   In the published protocol the waker waits for the mutex.
/// * A waker takes a sleeper off the count *before* it lets the sleeper continue. So a worker that is up is never
///   counted: `sleeping <= inactive <= workers`. A worker that is roused (woken) while LYING takes itself off the
///   count.
/// * Either a waker takes the worker out of bed, or the worker gets up by itself, never both.
pub(super) struct Bed<P: Platform> {
    word: P::Futex,
    // These are the standard library's atomics, so counting is no step of a model check and takes no simulated time. A
    // thread that counts has just written the cache line.
    pub(super) sleeps: AtomicU64,
    pub(super) wakeups: AtomicU64,
    pub(super) recovered: AtomicU64,
}

impl<P: Platform> Bed<P> {
    pub(super) fn new() -> Self {
        Self {
            word: <P::Futex as Atomic<u32>>::new(AWAKE),
            sleeps: AtomicU64::new(0),
            wakeups: AtomicU64::new(0),
            recovered: AtomicU64::new(0),
        }
    }

    pub(super) fn lie_down(&self) {
        self.word.store(LYING, Ordering::Relaxed);
        // This is a fence and not a releasing store: a thread that reads the worker's next write (the count, a latch)
        // must find the worker in bed.
        P::fence(Ordering::Release);
    }

    /// The worker gets up again without having slept.
    pub(super) fn get_up(&self) {
        // Acquire: if a waker came first, its earlier work is visible.
        self.word.swap(AWAKE, Ordering::Acquire);
    }

    /// The counted worker falls asleep. Returns `false` if the worker was roused and must take itself off the count.
    pub(super) fn fall_asleep(&self) -> bool {
        // Release: a thread takes the worker off the count after it was counted. Acquire: as in `get_up`.
        (self.word)
            .compare_exchange(LYING, ASLEEP, Ordering::Release, Ordering::Acquire)
            .is_ok()
    }

    /// The sleeper gets up by itself. Returns `true` if the sleeper must take itself off the count, and `false` if a
    /// waker has done so.
    pub(super) fn rise(&self) -> bool {
        // Acquire: as in `get_up`, also if a waker came first.
        let rose = self
            .word
            .compare_exchange(ASLEEP, AWAKE, Ordering::Acquire, Ordering::Acquire);
        if rose.is_err() {
            while !self.sleep(None) {}
        }
        rose.is_ok()
    }

    /// Sleeps until the worker is roused, until `timeout` has passed, or for no reason. Returns whether the worker was
    /// roused.
    pub(super) fn sleep(&self, timeout: Option<Duration>) -> bool {
        // Acquire: the waker's earlier work is visible.
        match self.word.load(Ordering::Acquire) {
            AWAKE => true,
            // The futex compares the word again as the worker falls asleep, so a wake-up in between is not missed.
            // TAKEN lasts only a moment.
            state => {
                self.word.wait(state, timeout);
                self.word.load(Ordering::Acquire) == AWAKE
            }
        }
    }

    /// Wakes the worker if it is in bed. If the worker is counted, `uncount` takes it off the count. Returns whether
    /// the worker was in bed.
    pub(super) fn rouse(&self, uncount: impl FnOnce()) -> bool {
        // Relaxed: the caller has learned of the sleeper, and this orders the sleeper's lying down before the load. The
        // load avoids a write to the line if the bed is empty.
        let mut state = self.word.load(Ordering::Relaxed);
        loop {
            let next = match state {
                LYING => AWAKE,
                ASLEEP => TAKEN,
                _ => return false,
            };
            // Acquire pairs with `fall_asleep`. Release: the worker sees the reason for its wake-up.
            match (self.word).compare_exchange(state, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => break,
                // The worker has gone from LYING to ASLEEP, or has got up.
                Err(now) => state = now,
            }
        }
        if state == ASLEEP {
            uncount();
            // Release: as above. The worker also sees that it is off the count.
            self.word.store(AWAKE, Ordering::Release);
            self.word.wake(1);
        }
        count(&self.wakeups);
        true
    }

    /// Relaxed: as in [`count`].
    pub(super) fn tally(&self) -> Tally {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let mut tally = Tally::default();
        tally.sleeps = read(&self.sleeps);
        tally.wakeups = read(&self.wakeups);
        tally.recovered = read(&self.recovered);
        tally
    }
}

/// Relaxed: only statistics depend on it.
pub(super) fn count(events: &AtomicU64) {
    events.fetch_add(1, Ordering::Relaxed);
}
