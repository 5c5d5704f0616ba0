//! How a worker sleeps: it parks, is counted in `callable`, and takes a last look for work.

use super::super::Latch;
use super::super::oversubscription::{Next, Oversubscription, WatchdogTimer};
use super::super::parking_slots::{CALLED, ParkingSlots};
use super::super::policy::{Left, Scan};
use super::Nearest;
#[cfg(test)]
use super::calling::FenceFault;
use super::calling::{FREE, SLEEPERS, WAITER, absent};
use manycore_cores::sync::Parker;
use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};
use std::time::Duration;

/// How a sleep ended.
#[derive(Clone, Copy)]
pub(super) struct Slept {
    /// Whether the worker slept, because its last look found nothing.
    pub(super) blocked: bool,
    /// Why the worker was roused, or `Parker::ASLEEP` if it got up by itself.
    reason: u32,
}

impl Slept {
    /// Whether the worker was roused for a job.
    pub(super) fn was_called(self) -> bool {
        self.reason == CALLED
    }
}

impl<P: Platform> Nearest<P> {
    /// Like [`sleep`](Self::sleep), for a free worker in a pool with more threads than cores. A called worker gets up
    /// only if a core is free for it. A watchdog (the sleeper that keeps watch) gets up if it finds a free core, or a
    /// job that has waited too long.
    pub(super) fn sleep_in(
        &self,
        oversubscription: &Oversubscription<P>,
        worker: usize,
        latch: &Latch<P>,
        scan: &dyn Scan,
    ) -> Slept {
        let mut watch = None;
        let mut is_weary = false;
        loop {
            if watch.is_none() && !is_weary {
                watch = oversubscription.keep_watch();
            }
            is_weary = false;
            let sleep = self.sleep(worker, latch, scan, watch.as_ref().map(WatchdogTimer::nap));
            let roused = sleep.reason == Parker::<P>::AWAKE || latch.is_set();
            if !sleep.blocked || roused || (sleep.was_called() && !self.is_overfull()) {
                return self.get_up(oversubscription, watch, sleep);
            }
            let left = scan.look_again();
            if left == Left::ForIt {
                return self.get_up(oversubscription, watch, sleep);
            }
            if sleep.was_called() {
                // No core is free for the worker: it was called to keep watch.
                continue;
            }
            let Some(mut kept) = watch.take() else {
                continue;
            };
            match oversubscription.after_nap(&mut kept, left == Left::Jobs, scan) {
                Next::Up => return self.get_up(oversubscription, Some(kept), sleep),
                Next::Nap => watch = Some(kept),
                Next::Sleep => {
                    self.end_watch(oversubscription, kept);
                    is_weary = true;
                }
            }
        }
    }

    /// Gets a worker up in a pool with more threads than cores. If the worker kept watch, ends the watch and marks
    /// the worker as called. A called worker searches for the jobs that were left to the watchdog, and calls the
    /// next worker.
    fn get_up(
        &self,
        oversubscription: &Oversubscription<P>,
        watch: Option<WatchdogTimer>,
        sleep: Slept,
    ) -> Slept {
        let Some(watch) = watch else {
            return sleep;
        };
        self.end_watch(oversubscription, watch);
        Slept {
            reason: CALLED,
            ..sleep
        }
    }

    pub(super) fn end_watch(&self, oversubscription: &Oversubscription<P>, watch: WatchdogTimer) {
        oversubscription.leave(watch, || {
            // The `fetch_or` of 0 keeps the value. Release: a thread that reads its value, or a later value, with
            // Acquire does not see the watchdog any more. Acquire pairs with the thread that has set SETTLED.
            #[cfg(test)]
            if self.fault == Some(FenceFault::LeavesUnnoticed) {
                return self.fence_against_posters(self.callable.load(Ordering::Acquire));
            }
            let word = self.callable.fetch_or(0, Ordering::AcqRel);
            self.fence_against_posters(word);
        });
    }

    /// Whether more workers are awake than there are cores.
    pub(super) fn is_overfull(&self) -> bool {
        // Relaxed: only time depends on this decision.
        let overfull = |oversubscription: &Oversubscription<P>| {
            oversubscription.is_overfull(absent(self.callable.load(Ordering::Relaxed)))
        };
        self.oversubscription.as_ref().is_some_and(overfull)
    }

    /// Whether the parked `worker`, which has seen jobs, may leave these jobs to other workers. This is so if each core
    /// has an awake worker and a watchdog keeps watch.
    pub(super) fn leaves_it(&self, worker: usize, scan: &dyn Scan) -> bool {
        let Some(oversubscription) = &self.oversubscription else {
            return false;
        };
        if scan.wants_it() {
            return false;
        }
        let word = self.callable.load(Ordering::Relaxed);
        if !scan.is_free() && !oversubscription.is_full(absent(word)) {
            // A waiter must not run the job that it has seen. It calls a free sleeper, which gets the core of this
            // worker.
            let nobody = word & SLEEPERS < FREE || self.call(worker);
            if nobody {
                return false;
            }
        }
        // This fence orders the look that saw the jobs before the look for a watchdog. If the watchdog clears
        // `watched` after the second look, it makes a fence too, and then sees the same jobs.
        P::fence(Ordering::SeqCst);
        oversubscription.is_full(absent(self.callable.load(Ordering::Relaxed)))
            && oversubscription.is_watched()
    }

    /// Whether each worker can have its own core. If not, no wake-up moves a worker to another core, since several
    /// workers could end up on the same core.
    fn has_core_for_each(&self) -> bool {
        self.idle.scarce_cores().is_none()
    }

    /// Records that the holder of permit `worker` (a right to run jobs) runs on this core, so that other workers are
    /// woken elsewhere.
    pub(super) fn claim_core(&self, worker: usize) {
        if self.has_core_for_each() {
            self.slots.claim_core(worker);
        }
    }

    /// Sleeps until roused, or for at most `time`.
    ///
    /// The worker lies down, counts itself, makes a fence, and takes a last look: see the README.
    pub(super) fn sleep(
        &self,
        worker: usize,
        latch: &Latch<P>,
        scan: &dyn Scan,
        time: Option<Duration>,
    ) -> Slept {
        let mut sleep = Slept {
            blocked: false,
            reason: Parker::<P>::AWAKE,
        };
        if latch.is_set() {
            return sleep;
        }
        let parker = self.slots.parker(worker);
        let free = scan.is_free();
        let moves = self.has_core_for_each();
        self.slots.lie_down(worker, free && time.is_none(), moves);
        if !latch.announce_sleep() {
            sleep.reason = ParkingSlots::rise(parker);
            if sleep.was_called() {
                self.end_call();
            }
            return sleep;
        }
        let kind = if free { FREE } else { WAITER };
        self.slots.mark(worker, free);
        // Release pairs with `call`. Acquire pairs with the thread that has set SETTLED. The fence below orders this
        // exchange before the last look.
        let word = self.callable.fetch_add(kind, Ordering::AcqRel);
        self.fence_against_posters(word);
        sleep.blocked = !scan.anything() || self.leaves_it(worker, scan);
        if sleep.blocked {
            match time {
                Some(time) => parker.sleep(Parker::<P>::ASLEEP, Some(time)),
                None => {
                    parker.sleep_out();
                }
            }
        }
        sleep.reason = ParkingSlots::rise(parker);
        self.claim_core(worker);
        self.slots.unmark(worker, free);
        // Relaxed: a called worker makes a fence before its second search (see `Looking::unfenced`).
        self.callable.fetch_sub(kind, Ordering::Relaxed);
        if sleep.was_called() {
            self.end_call();
        }
        latch.withdraw();
        sleep
    }
}
