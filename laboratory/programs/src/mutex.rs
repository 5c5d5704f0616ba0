//! The mutex of designs that manycore is compared with.

use manycore_platform::{Atomic, Futex, Ordering, Platform};
use std::cell::UnsafeCell;

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Held, and a thread may be asleep.
const AWAITED: u32 = 2;

/// A mutex as in the C library: one word with three states. A thread that finds the mutex held sleeps at once.
/// The published baselines use such a mutex. The pool's own lock differs: its threads spin first, and a store releases
/// it. Sections must not unwind.
pub(crate) struct Mutex<P: Platform, T> {
    state: P::Futex,
    value: UnsafeCell<T>,
}

// SAFETY: `with` hands out the value to one thread at a time.
unsafe impl<P: Platform, T: Send> Sync for Mutex<P, T> {}
// SAFETY: as above.
unsafe impl<P: Platform, T: Send> Send for Mutex<P, T> {}

impl<P: Platform, T> Mutex<P, T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            state: <P::Futex as Atomic<u32>>::new(FREE),
            value: UnsafeCell::new(value),
        }
    }

    pub(crate) fn with<R>(&self, section: impl FnOnce(&mut T) -> R) -> R {
        // Acquire pairs with the release below: the previous section is over. Relaxed on failure: the swap
        // below acquires.
        let taken = (self.state).compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed);
        if taken.is_err() {
            // From here on the state is AWAITED, since the thread that releases the mutex wakes only one sleeper, and
            // there may be more. The futex compares and sleeps in one step, so no release in between is missed.
            while self.state.swap(AWAITED, Ordering::Acquire) != FREE {
                self.state.wait(AWAITED, None);
            }
        }
        // SAFETY: this thread changed the state from FREE, so only it has the value until the swap below.
        let result = section(unsafe { &mut *self.value.get() });
        // Release publishes what the section did to the next one.
        if self.state.swap(FREE, Ordering::Release) == AWAITED {
            self.state.wake(1);
        }
        result
    }
}
