//! The parker: the word of a thread that sleeps. All blocking waits of pools use it, except waits
//! for any of many threads ([`EventCount`](super::EventCount)) and for a lock.

use manycore_platform::{Atomic, Futex, Ordering, Platform};
use std::time::Duration;

/// The word of one thread that parks, and of the threads that unpark it.
///
/// The thread *lies down* before it announces that it sleeps, so a thread that learns of a sleeper
/// finds it parked. Then it [sleeps](Self::sleep) while the word says so. Other threads unpark it
/// with a *reason*, any number except [`ASLEEP`](Self::ASLEEP) ([`AWAKE`](Self::AWAKE) is no
/// particular reason):
///
/// * [`rouse`](Self::rouse): several threads may try, and exactly one succeeds each time the thread
///   lies down: the thread whose exchange finds `ASLEEP`. If the parked thread gets up by itself
///   first ([`rise`](Self::rise), [`rise_unroused`](Self::rise_unroused)), none succeeds.
/// * [`tell`](Self::tell): one thread does this, and need not know whether the other lies down.
///
/// No wake-up is lost: both change the word before they wake, and the futex compares the word and
/// falls asleep in one step. Checked by `sync::checked`.
pub struct Parker<P: Platform> {
    word: P::Futex,
}

impl<P: Platform> Parker<P> {
    /// The thread is up, and has no reason.
    pub const AWAKE: u32 = 0;
    /// The thread lies down, and no thread has unparked it yet.
    pub const ASLEEP: u32 = 1;

    /// The parker of a thread that is up.
    pub fn awake() -> Self {
        Self::of(Self::AWAKE)
    }

    /// The parker of a thread that lies down from the start.
    pub fn asleep() -> Self {
        Self::of(Self::ASLEEP)
    }

    fn of(state: u32) -> Self {
        Self {
            word: <P::Futex as Atomic<u32>>::new(state),
        }
    }

    /// Lies down. The thread announces its sleep next.
    pub fn lie_down(&self) {
        // Release: a thread that learns of the sleeper by other means than a count (by a latch)
        // must find it parked.
        self.word.store(Self::ASLEEP, Ordering::Release);
    }

    /// The thread gets up; returns what it was taken out for, or `ASLEEP`.
    pub fn rise(&self) -> u32 {
        // Acquire pairs with `rouse` and `tell`: their earlier writes are visible. Release pairs
        // with `rouse`: a late thread finds this one up.
        self.word.swap(Self::AWAKE, Ordering::AcqRel)
    }

    /// The thread gets up unless it was roused; whether it did so by itself.
    pub fn rise_unroused(&self) -> bool {
        // As in `rise`.
        (self.word)
            .compare_exchange(
                Self::ASLEEP,
                Self::AWAKE,
                Ordering::AcqRel,
                Ordering::Acquire,
            )
            .is_ok()
    }

    /// As [`rise`](Self::rise), once the state is not `held`: the thread sleeps until then. If the state
    /// was `held` and is `ASLEEP` after that, the thread sleeps on until it is taken out.
    pub fn rise_after(&self, held: u32) -> u32 {
        let mut was_held = false;
        loop {
            match self.state() {
                state if state == held => {
                    was_held = true;
                    self.sleep(held, None);
                }
                Self::ASLEEP if was_held => self.sleep(Self::ASLEEP, None),
                state => {
                    // As in `rise`. It fails if the thread is held again, or taken out.
                    let up = (self.word).compare_exchange(
                        state,
                        Self::AWAKE,
                        Ordering::AcqRel,
                        Ordering::Relaxed,
                    );
                    if up.is_ok() {
                        return state;
                    }
                }
            }
        }
    }

    /// The thread, which is `held`, lies again as if it had just lain down. `false`: it was taken out meanwhile.
    pub fn lay_back(&self, held: u32) -> bool {
        // Release: as in `lie_down`. Relaxed if it fails: the thread acquires when it gets up.
        (self.word)
            .compare_exchange(held, Self::ASLEEP, Ordering::Release, Ordering::Relaxed)
            .is_ok()
    }

    /// Marks the thread, which has its reason and is on no list, as up. Relaxed: no other thread
    /// looks.
    pub fn reset(&self) {
        self.word.store(Self::AWAKE, Ordering::Relaxed);
    }

    /// The thread, which is up, changes the state. No other thread writes it meanwhile.
    pub fn set(&self, state: u32) {
        // Relaxed: it publishes nothing.
        self.word.store(state, Ordering::Relaxed);
    }

    /// The state, or the reason, for the thread itself.
    pub fn state(&self) -> u32 {
        // Acquire pairs with `rouse` and `tell`.
        self.word.load(Ordering::Acquire)
    }

    /// The same for others: a hint, unless a lock orders it. Relaxed: what the thread acts on it
    /// acquires itself.
    pub fn glance(&self) -> u32 {
        self.word.load(Ordering::Relaxed)
    }

    /// Spins while the state is `seen`, until the clock passes `until`; returns the state.
    pub fn spin(&self, seen: u32, until: u64) -> u32 {
        P::spin_while(&self.word, seen, until)
    }

    /// Sleeps while the state is `seen`, for `time` at most; may return spuriously.
    pub fn sleep(&self, seen: u32, time: Option<Duration>) {
        self.word.wait(seen, time);
    }

    /// Sleeps until taken out; returns the reason.
    pub fn sleep_out(&self) -> u32 {
        loop {
            match self.state() {
                Self::ASLEEP => self.sleep(Self::ASLEEP, None),
                reason => return reason,
            }
        }
    }

    /// Unparks the thread for `reason`. Returns `true` if it lay down and no other thread has
    /// unparked it; the caller then [wakes](Self::wake) it.
    pub fn rouse(&self, reason: u32) -> bool {
        // Acquire pairs with `lie_down`, release with `rise`. Relaxed if it did not lie there:
        // whether the caller may rely on that is a matter of its fences.
        (self.word)
            .compare_exchange(Self::ASLEEP, reason, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    /// Wakes the thread from its futex, after [`rouse`](Self::rouse).
    pub fn wake(&self) {
        self.word.wake(1);
    }

    /// Gives the thread `reason`, whatever its state, and wakes it.
    pub fn tell(&self, reason: u32) {
        // Release publishes what the thread waited for.
        self.word.store(reason, Ordering::Release);
        self.wake();
    }
}
