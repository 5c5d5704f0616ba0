//! An event that happens once: the end of a call that an external thread has handed in, and since
//! when it is over.

use super::job::Job;
use manycore_cores::sync::Parker;
use manycore_platform::{Atomic, Ordering, Platform};
use std::cell::Cell;
use std::time::Duration;

/// The parker's state when the thread is to run a job meanwhile (`call_back.rs`).
const CALLED_BACK: u32 = 2;
/// The parker's state while the thread runs something else, and takes no job.
const CLOSED: u32 = 3;

/// The event that a thread which is no worker waits for.
pub(super) struct Oneshot<P: Platform> {
    parker: Parker<P>,
    /// When it was notified, in ticks.
    at: P::AtomicU64,
    /// A job for the waiting thread. The thread that calls back writes it before it rouses the waiting thread.
    job: Cell<Option<Job>>,
}

// SAFETY: `job` belongs to the one thread that calls back (`call_back`), until that has roused the thread that
// waits; then to that thread, until it waits again. The parker's word hands it over with acquire and
// release.
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

    /// Has the thread that waits run `job` meanwhile. Gives the job back if the thread runs something else.
    ///
    /// # Safety
    ///
    /// No other thread calls back, and none notifies, until the job has run.
    pub(super) unsafe fn call_back(&self, job: Job) -> Result<(), Job> {
        self.job.set(Some(job));
        if self.parker.rouse(CALLED_BACK) {
            self.parker.wake();
            return Ok(());
        }
        // The thread takes it only when it is roused.
        Err(self.job.take().expect("put there above"))
    }

    /// The job that the thread is to run, for the thread itself. It takes no other job until it
    /// [waits again](Self::open).
    pub(super) fn take_job(&self) -> Option<Job> {
        if self.parker.state() != CALLED_BACK {
            return None;
        }
        let job = self.job.take();
        // Until the job has run no other thread writes the word.
        self.parker.set(CLOSED);
        job
    }

    /// The thread runs something else from here on. `false`: it is over, or there is a job.
    pub(super) fn close(&self) -> bool {
        self.parker.rouse(CLOSED)
    }

    /// The thread waits again.
    pub(super) fn open(&self) {
        // It fails if the call is over meanwhile.
        self.parker.lay_back(CLOSED);
    }

    /// Whether the thread must do something: it is over, or there is a job.
    pub(super) fn is_called(&self) -> bool {
        self.parker.glance() != Parker::<P>::ASLEEP
    }

    /// Says that it is over, and wakes the thread.
    pub(super) fn notify(&self) {
        // Relaxed: the later store of the word publishes it.
        self.at.store(P::now(), Ordering::Relaxed);
        // An exchange, where a store would do: it comes after the thread's exchanges in `close` and `open` also in
        // loom's eyes.
        self.parker.rise();
        self.parker.wake();
    }

    /// Since when it is over, in ticks, for the thread itself.
    pub(super) fn since(&self) -> Option<u64> {
        // The word's state acquires what `notify` has released.
        (self.parker.state() == Parker::<P>::AWAKE).then(|| self.at.load(Ordering::Relaxed))
    }

    /// Spins until it is over, there is a job, or the clock passes `until`.
    pub(super) fn spin(&self, until: u64) {
        self.parker.spin(Parker::<P>::ASLEEP, until);
    }

    /// Sleeps until it is over, or there is a job.
    pub(super) fn sleep(&self) {
        self.parker.sleep_out();
    }

    /// Sleeps until it is over, or there is a job, for `time` at most; may return spuriously.
    pub(super) fn sleep_for(&self, time: Duration) {
        self.parker.sleep(Parker::<P>::ASLEEP, Some(time));
    }
}
