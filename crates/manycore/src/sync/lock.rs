//! A lock over the platform, for what is not on a fast path.

use manycore_platform::{Atomic, Futex, Ordering, Platform};
use std::cell::UnsafeCell;

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Held, and somebody may sleep.
const AWAITED: u32 = 2;

/// A mutex whose waiting a simulator and a model checker can see. Sections are
/// short and must not unwind.
pub struct Lock<P: Platform, T> {
    state: P::Futex,
    value: UnsafeCell<T>,
}

// SAFETY: `with` hands out the value to one thread at a time.
unsafe impl<P: Platform, T: Send> Sync for Lock<P, T> {}
// SAFETY: as above.
unsafe impl<P: Platform, T: Send> Send for Lock<P, T> {}

impl<P: Platform, T> Lock<P, T> {
    pub fn new(value: T) -> Self {
        Self {
            state: <P::Futex as Atomic<u32>>::new(FREE),
            value: UnsafeCell::new(value),
        }
    }

    /// Runs `section` with the value.
    pub fn with<R>(&self, section: impl FnOnce(&mut T) -> R) -> R {
        // Acquire pairs with the release below: the last section is over. Relaxed if
        // it is held: the swap decides.
        let taken = (self.state).compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed);
        if taken.is_err() {
            // From here on as AWAITED: whoever frees it wakes one sleeper, who
            // may not be the last. Comparing and sleeping are one step of the
            // futex, so a freeing in between is not slept through.
            while self.state.swap(AWAITED, Ordering::Acquire) != FREE {
                self.state.wait(AWAITED, None);
            }
        }
        // SAFETY: the state went from FREE to ours, and goes back below.
        let result = section(unsafe { &mut *self.value.get() });
        // Release publishes what the section did to the next one.
        if self.state.swap(FREE, Ordering::Release) == AWAITED {
            self.state.wake(1);
        }
        result
    }
}
