//! The parker: a word that one thread sleeps on. All blocking waits of pools use it, except waits of several threads
//! for one event ([`EventCount`](super::EventCount)) and waits for a lock.

use manycore_platform::{Atomic, Futex, Ordering, Platform};
use std::time::Duration;

/// The word of one thread that parks, and of the threads that unpark it.
///
/// The thread *lies down* (marks itself as asleep) before it announces that it sleeps. So a thread that learns of the
/// sleeper finds it marked. The thread then [sleeps](Self::sleep) while the word is [`ASLEEP`](Self::ASLEEP). Other
/// threads unpark it with a *reason*, which is any number except `ASLEEP` ([`AWAKE`](Self::AWAKE) stands for no
/// particular reason):
///
/// * [`rouse`](Self::rouse): several threads may try. Each time the thread lies down, exactly one succeeds: its
///   exchange finds `ASLEEP`. If the parked thread gets up by itself before that ([`rise`](Self::rise),
///   [`rise_unroused`](Self::rise_unroused)), no thread succeeds.
/// * [`notify`](Self::notify): only one thread calls this. It need not know whether the parked thread lies down.
///
/// No wake-up is lost: both calls change the word before they wake, and the futex compares the word and falls
/// asleep in one step. `sync::checked` checks this.
pub struct Parker<P: Platform> {
    word: P::Futex,
}

impl<P: Platform> Parker<P> {
    /// The thread is up, without a reason.
    pub const AWAKE: u32 = 0;
    /// The thread lies down, and no thread has unparked it yet.
    pub const ASLEEP: u32 = 1;

    /// Makes the parker of a thread that is up.
    pub fn awake() -> Self {
        Self::of(Self::AWAKE)
    }

    /// Makes the parker of a thread that lies down from the start.
    pub fn asleep() -> Self {
        Self::of(Self::ASLEEP)
    }

    fn of(state: u32) -> Self {
        Self {
            word: <P::Futex as Atomic<u32>>::new(state),
        }
    }

    /// Marks the thread as asleep, before the thread announces its sleep.
    pub fn lie_down(&self) {
        // Release: a thread that learns of the sleeper by other means than a count (by a latch) must find it
        // parked.
        self.word.store(Self::ASLEEP, Ordering::Release);
    }

    /// Marks the thread as up. Returns the reason for which it was unparked, or `ASLEEP`.
    pub fn rise(&self) -> u32 {
        // Acquire pairs with `rouse` and `notify`: their earlier writes are visible. Release pairs with `rouse`: a
        // later `rouse` finds this thread up.
        self.word.swap(Self::AWAKE, Ordering::AcqRel)
    }

    /// Marks the thread as up unless another thread has unparked it. Returns `true` if no thread had.
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

    /// As [`rise`](Self::rise), but the thread first sleeps while the state is `held`. If the state then changes to
    /// `ASLEEP`, the thread sleeps until another thread unparks it.
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
                    // As in `rise`. The exchange fails if the thread is held again, or unparked.
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

    /// Changes the state of a thread that is `held` back to `ASLEEP`. Returns `false` if the thread was unparked
    /// meanwhile.
    pub fn lay_back(&self, held: u32) -> bool {
        // Release as in `lie_down`. Relaxed on failure: the thread acquires when it gets up.
        (self.word)
            .compare_exchange(held, Self::ASLEEP, Ordering::Release, Ordering::Relaxed)
            .is_ok()
    }

    /// Marks the thread as up. The thread has its reason and is on no list, so no other thread looks at this word.
    /// Therefore relaxed.
    pub fn reset(&self) {
        self.word.store(Self::AWAKE, Ordering::Relaxed);
    }

    /// Changes the state of this thread, which is up. No other thread writes the state meanwhile.
    pub fn set(&self, state: u32) {
        // Relaxed: the store publishes nothing.
        self.word.store(state, Ordering::Relaxed);
    }

    /// Returns the state, or the reason. The parked thread itself calls this.
    pub fn state(&self) -> u32 {
        // Acquire pairs with `rouse` and `notify`.
        self.word.load(Ordering::Acquire)
    }

    /// Returns the state. Other threads call this. The state is a hint unless a lock orders the read. Relaxed: the
    /// parked thread itself acquires the data that it acts on.
    pub fn glance(&self) -> u32 {
        self.word.load(Ordering::Relaxed)
    }

    /// Spins while the state is `seen`, until the clock passes `until`. Returns the state.
    pub fn spin(&self, seen: u32, until: u64) -> u32 {
        P::spin_while(&self.word, seen, until)
    }

    /// Sleeps while the state is `seen`, for at most `time`. May return spuriously.
    pub fn sleep(&self, seen: u32, time: Option<Duration>) {
        self.word.wait(seen, time);
    }

    /// Sleeps until another thread unparks this thread. Returns the reason.
    pub fn sleep_out(&self) -> u32 {
        loop {
            match self.state() {
                Self::ASLEEP => self.sleep(Self::ASLEEP, None),
                reason => return reason,
            }
        }
    }

    /// Unparks the thread for `reason`. Returns `true` if the thread lay down and no other thread had unparked it.
    /// The caller then [wakes](Self::wake) it.
    pub fn rouse(&self, reason: u32) -> bool {
        // Acquire pairs with `lie_down`, release with `rise`. Relaxed if the thread was not asleep: fences of the
        // caller must ensure that it may rely on this answer.
        (self.word)
            .compare_exchange(Self::ASLEEP, reason, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    /// Wakes the thread from its futex, after [`rouse`](Self::rouse).
    pub fn wake(&self) {
        self.word.wake(1);
    }

    /// Gives the thread `reason`, whatever its state, and wakes it.
    pub fn notify(&self, reason: u32) {
        // Release publishes the data for which the thread waited.
        self.word.store(reason, Ordering::Release);
        self.wake();
    }
}
