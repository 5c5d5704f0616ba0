//! An order to a sleeping thread to do one action.
//!
//! | thread | action |
//! |---|---|
//! | the caller | writes 1, and wakes the called thread |
//! | the called thread | sleeps while it reads 0; then writes 0, and does the action |
//!
//! The caller gives the next order only after the called thread has accepted the last one. The caller knows this when
//! it takes the rank (the thread that the order concerns: see [`home`](super::home)): the called thread lets the rank
//! go after it has accepted the order.
//!
//! No order is missed: the kernel compares the word as the thread falls asleep, and the caller writes the word before
//! it wakes the thread. The thread sees what the caller did before the order, since it reads the word by an acquire,
//! and the caller writes it by a release.

use manycore_platform::{Atomic, Futex, Ordering, Platform};

#[repr(transparent)]
pub(super) struct Order<P: Platform>(P::Futex);

impl<P: Platform> Order<P> {
    pub(super) fn new() -> Self {
        Self(P::Futex::new(0))
    }

    /// Gives the order to the thread.
    pub(super) fn give(&self) {
        // Release publishes what the caller did to the rank that it hands over.
        self.0.store(1, Ordering::Release);
        self.0.wake(1);
    }

    /// Sleeps until an order comes.
    pub(super) fn wait(&self) {
        // Acquire makes visible what `give` publishes.
        while self.0.load(Ordering::Acquire) == 0 {
            self.0.wait(0, None);
        }
    }

    /// Accepts the order. The called thread begins the action after this.
    pub(super) fn accept(&self) {
        // Relaxed: this thread releases the rank after this store. The caller acquires that before its next order.
        self.0.store(0, Ordering::Relaxed);
    }
}

impl Order<manycore_platform::Native> {
    /// The word itself, for a thread that may not use its thread-locals.
    pub(super) const fn word(&self) -> *const u32 {
        std::ptr::from_ref(self).cast()
    }
}

#[cfg(test)]
mod checked {
    use super::Order;
    use crate::carry::ownership::RankWord;
    use manycore_check::{Deaf, Fault, Faulty, Loom, Plain, Relaxed, caught, loom_model, team};
    use manycore_cores::sync::Bell;
    use manycore_platform::Platform;

    /// The watchdog gives the rank to the rank's own thread, two times. Both threads change the rank's stack.
    fn twice<P: Platform>() {
        let bell = Bell::<P>::new();
        let (word, order, stack) = (RankWord::<P>::running(), Order::<P>::new(), Plain::new(0));
        word.leave(&bell);
        team::<P>(2, |index| {
            for time in 0..2 {
                if index == 0 {
                    while !word.claim() {
                        P::relax();
                    }
                    assert_eq!(stack.read(), time);
                    stack.write(2 * time + 1);
                    order.give();
                } else {
                    order.wait();
                    order.accept();
                    stack.write(stack.read() - time);
                    word.leave(&bell);
                }
            }
        });
    }

    /// A worker gives the rank that it executes to the rank's home, two times. The rank stays taken while it is handed
    /// over.
    fn goes_home<P: Platform>() {
        let bell = Bell::<P>::new();
        let (word, order, stack) = (RankWord::<P>::running(), Order::<P>::new(), Plain::new(0));
        team::<P>(2, |index| {
            for time in 0..2 {
                if index == 0 {
                    assert_eq!(stack.read(), time);
                    stack.write(2 * time + 1);
                    order.give();
                    while !word.claim() {
                        P::relax();
                    }
                } else {
                    order.wait();
                    order.accept();
                    stack.write(stack.read() - time);
                    word.leave(&bell);
                }
            }
        });
        assert_eq!(stack.read(), 2);
    }

    #[test]
    fn each_order_is_accepted_once() {
        loom_model(Some(3), twice::<Loom>);
    }

    #[test]
    fn a_rank_that_goes_home_by_itself_is_executed_once() {
        loom_model(Some(3), goes_home::<Loom>);
    }

    #[test]
    fn faults_are_caught() {
        fn fails<F: Fault>() {
            caught(|| loom_model(Some(3), twice::<Faulty<Loom, F>>));
            caught(|| loom_model(Some(3), goes_home::<Faulty<Loom, F>>));
        }
        fails::<Deaf>();
        fails::<Relaxed>();
    }
}
