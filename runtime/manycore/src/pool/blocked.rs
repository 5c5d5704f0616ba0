//! How a caller waits for a call that it has handed to another thread of a pool.

use super::Shared;
use super::context::Context;
use super::naps::Naps;
use super::oneshot::Oneshot;
#[cfg(test)]
use crate::conserving::fault::{self, Fault};
use manycore_platform::Platform;

/// While a thread spins for the time `Shared::blocking_spin`, it looks at the oneshot (the event for which it waits)
/// this many times.
const SLICES: u64 = 10;
/// The wait before the first look is shorter by this factor. After that look a spinning caller yields once: the system
/// may have put the worker on the caller's core, although another core is idle.
const FIRST: u64 = 4;

impl<P: Platform> Context<P> {
    /// Blocks until `oneshot` is notified. The calling thread is no worker of `pool`, and has handed a call to that
    /// pool. If the thread is a worker of other pools, those pools may need its permits (rights to run jobs) during the
    /// wait, and the call may call back into those pools (`call_back.rs`).
    #[cold]
    pub(super) fn block_on(pool: &Shared<P>, oneshot: &Oneshot<P>, is_room: impl Fn() -> bool) {
        loop {
            Self::wait_for(pool, oneshot, &is_room);
            let Some(job) = oneshot.take_job() else {
                return;
            };
            job.run(true);
            oneshot.open();
        }
    }

    /// Waits until `oneshot` is notified or holds a job.
    ///
    /// For the time of `blocking_spin` the thread looks repeatedly whether the call is over. If `is_room` finds a
    /// core that the pool does not need, the thread spins. Otherwise the thread yields its core between two
    /// looks. If other callers wait as well, the thread sleeps at once: after a yield, those callers could keep
    /// it from running for long.
    fn wait_for(pool: &Shared<P>, oneshot: &Oneshot<P>, is_room: &dyn Fn() -> bool) {
        let (mut now, slice) = (P::now(), pool.blocking_spin() / SLICES);
        let until = now + pool.blocking_spin();
        // The closure returns `true`, so a long yield does not count as a sign of other processes: the threads that run
        // the call may use all cores.
        let yield_core = || pool.idle().yield_core(|_| true);
        let mut is_first = true;
        while now < until && !pool.idle().other_processes_run(now) {
            if is_room() {
                oneshot.spin(now + if is_first { slice / FIRST } else { slice });
                if is_first && !oneshot.is_called() {
                    yield_core();
                }
            } else if pool.idle().waiting_callers() > 1 || !yield_core() {
                break;
            }
            is_first = false;
            now = P::now();
            if let Some(since) = oneshot.since() {
                (pool.idle())
                    .notice_other_processes(since, now, |since| pool.has_filled_cores(since));
                return;
            }
            if oneshot.is_called() {
                return;
            }
        }
        pool.check_wait();
        if !Self::is_taken() {
            oneshot.sleep();
            return;
        }
        oneshot.sleep_for(super::permits::PATIENCE);
        if !oneshot.is_called() {
            Self::without_permits(|| Self::await_beside_others(oneshot));
        }
    }

    /// Sleeps until `oneshot` is notified or holds a job. While this thread still holds permits, it runs jobs of
    /// the pools of those permits (`run_others.rs`).
    fn await_beside_others(oneshot: &Oneshot<P>) {
        let mut naps = Naps::new();
        while !oneshot.is_called() {
            if !Self::holds_any() {
                return oneshot.sleep();
            }
            // While the oneshot is closed, it accepts no job from a call back: such a job would have to wait until the
            // other job ends.
            if !oneshot.close() {
                return;
            }
            let has_run = Self::run_other_elsewhere(std::ptr::null());
            oneshot.open();
            if has_run {
                naps = Naps::new();
            } else {
                oneshot.sleep_for(naps.next());
            }
            Self::offer_again();
        }
    }

    /// Offers once more this thread's permits that no other thread took before. Since the last offer, a thread may have
    /// ended its wait and need a permit.
    fn offer_again() {
        #[cfg(test)]
        if fault::is(Fault::OneOffer) {
            return;
        }
        Self::leave_all();
    }
}
