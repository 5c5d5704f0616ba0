//! An event that happens once: the end of a call that a thread from outside the pool has queued. The event records its
//! time.

use super::job::Job;
use manycore_cores::sync::Parker;
use manycore_platform::{Atomic, Ordering, Platform};
use std::cell::Cell;
use std::time::Duration;

/// The parker's state when the waiting thread must run a job while it waits (`call_back.rs`).
const CALLED_BACK: u32 = 2;
/// The parker's state while the waiting thread runs something else and takes no job.
const CLOSED: u32 = 3;

/// The event for which a thread that is not a worker waits.
pub(super) struct Oneshot<P: Platform> {
    parker: Parker<P>,
    /// The time of the event, in ticks.
    at: P::AtomicU64,
    /// A job for the waiting thread. The thread that calls back writes the job before it rouses the waiting thread.
    job: Cell<Option<Job>>,
}

// SAFETY: `job` belongs to the only thread that calls back (`call_back`) until that thread has roused the waiting
// thread. Then `job` belongs to the waiting thread, until it waits again. The parker's word hands `job` over with
// acquire and release.
unsafe impl<P: Platform> Sync for Oneshot<P> {}
// SAFETY: as above. Jobs may be sent.
unsafe impl<P: Platform> Send for Oneshot<P> {}

impl<P: Platform> Oneshot<P> {
    pub(super) fn new() -> Self {
        Self {
            parker: Parker::asleep(),
            at: P::AtomicU64::new(0),
            job: Cell::new(None),
        }
    }

    /// Makes the waiting thread run `job` while it waits. Returns the job if that thread runs something else.
    ///
    /// # Safety
    ///
    /// No other thread calls `call_back` or `notify` until the job has run.
    pub(super) unsafe fn call_back(&self, job: Job) -> Result<(), Job> {
        self.job.set(Some(job));
        if self.parker.rouse(CALLED_BACK) {
            self.parker.wake();
            return Ok(());
        }
        // The waiting thread was not roused, so it has not taken the job.
        Err(self.job.take().expect("put there above"))
    }

    /// Takes the job that the waiting thread is to run. Called by that thread, which takes no other job until
    /// it [waits again](Self::open).
    pub(super) fn take_job(&self) -> Option<Job> {
        if self.parker.state() != CALLED_BACK {
            return None;
        }
        let job = self.job.take();
        // No other thread writes the word until the job has run.
        self.parker.set(CLOSED);
        job
    }

    /// The waiting thread begins to run something else. Returns `false` if the event has happened, or if there
    /// is a job.
    pub(super) fn close(&self) -> bool {
        self.parker.rouse(CLOSED)
    }

    /// The thread waits again.
    pub(super) fn open(&self) {
        // This changes nothing if the event has happened meanwhile.
        self.parker.lay_back(CLOSED);
    }

    /// Whether the waiting thread must act: the event has happened, or there is a job.
    pub(super) fn is_called(&self) -> bool {
        self.parker.glance() != Parker::<P>::ASLEEP
    }

    /// Makes the event happen, and wakes the waiting thread.
    pub(super) fn notify(&self) {
        // Relaxed: the later store of the word publishes it.
        self.at.store(P::now(), Ordering::Relaxed);
        // This is an exchange although a store would be enough, so that loom, too, orders it after the waiting
        // thread's exchanges in `close` and `open`.
        self.parker.rise();
        self.parker.wake();
    }

    /// The time of the event in ticks, if it has happened. Called by the waiting thread.
    pub(super) fn since(&self) -> Option<u64> {
        // Relaxed: the read of the parker's state acquires what `notify` has released.
        (self.parker.state() == Parker::<P>::AWAKE).then(|| self.at.load(Ordering::Relaxed))
    }

    /// Spins until the event has happened, there is a job, or the clock passes `until`.
    pub(super) fn spin(&self, until: u64) {
        self.parker.spin(Parker::<P>::ASLEEP, until);
    }

    /// Sleeps until the event has happened or there is a job.
    pub(super) fn sleep(&self) {
        self.parker.sleep_out();
    }

    /// As `sleep`, for `time` at most. May return spuriously.
    pub(super) fn sleep_for(&self, time: Duration) {
        self.parker.sleep(Parker::<P>::ASLEEP, Some(time));
    }
}
