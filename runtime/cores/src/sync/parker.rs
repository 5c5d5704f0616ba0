//! Where one thread sleeps: the one word by which all blocking waits of pools are made, but for
//! those that wait for any of many threads ([`EventCount`](super::EventCount)) and for a lock.

use manycore_platform::{Atomic, Futex, Ordering, Platform};
use std::time::Duration;

/// The word of one thread that parks, and of those that unpark it.
///
/// The thread *lies down* before it tells anybody that it sleeps, so that whoever learns of a
/// sleeper finds one; then it [sleeps](Self::sleep) while the word says so. Others take it out
/// for a *reason*, any number but [`ASLEEP`](Self::ASLEEP) ([`AWAKE`](Self::AWAKE): for none
/// in particular):
///
/// * [`rouse`](Self::rouse): several may try, and exactly one succeeds for each time the thread
///   lies down: the one whose exchange finds `ASLEEP`. The thread may get up by
///   itself meanwhile ([`rise`](Self::rise), [`rise_unroused`](Self::rise_unroused)): then nobody
///   succeeds.
/// * [`tell`](Self::tell): one does, who need not know whether the thread lies down.
///
/// No wake-up is lost: both change the word before they wake, and the futex compares the word and
/// falls asleep in one step. Checked by `sync::checked`.
pub struct Parker<P: Platform> {
    word: P::Futex,
}

impl<P: Platform> Parker<P> {
    /// The thread is up, and nobody has given it a reason.
    pub const AWAKE: u32 = 0;
    /// The thread lies down, and nobody has taken it out yet.
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

    /// The thread lies down; it tells others next.
    pub fn lie_down(&self) {
        // Release: who learns of the sleeper otherwise than by a count (a latch) must find
        // it lying.
        self.word.store(Self::ASLEEP, Ordering::Release);
    }

    /// The thread gets up; returns what it was taken out for, or `ASLEEP`.
    pub fn rise(&self) -> u32 {
        // Acquire pairs with `rouse` and `tell`: what was done before is visible. Release pairs
        // with `rouse`: who comes late finds the thread up.
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

    /// The thread, which was told and is on nobody's list, is up. Relaxed: nobody looks.
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

    /// Sleeps while the state is `seen`, for `time` at most; may return for no reason.
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

    /// Takes the thread out for `reason`; `true`: it lay down, nobody else has taken it, and the
    /// caller [wakes](Self::wake) it next.
    pub fn rouse(&self, reason: u32) -> bool {
        // Acquire pairs with `lie_down`, release with `rise`. Relaxed if it did not lie there:
        // whether the caller may rely on that is a matter of its fences.
        (self.word)
            .compare_exchange(Self::ASLEEP, reason, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    /// Has the system run the thread.
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
