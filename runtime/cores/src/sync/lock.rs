//! A lock over the platform, for paths that need not be fast.

use super::sleepers::{Asymmetric, Sleepers};
use manycore_platform::{Atomic, Futex, Native, Ordering, Platform};
use std::cell::UnsafeCell;

const FREE: u32 = 0;
const HELD: u32 = 1;

/// How often a thread looks at a held lock before it sleeps. The sections under the lock are shorter than these looks.
/// The number is 1 in tests, since a model checker tries each look.
const LOOKS: u32 = if cfg!(test) { 1 } else { 64 };

/// A mutex that simulators and model checkers can see. The sections under it are short and must not unwind. The owner
/// keeps the lock alive until `with` has returned.
///
/// Cost without a waiting thread: one locked instruction, and a store for the release. A thread that sleeps pays for
/// the fence after that store.
pub struct Lock<P: Platform, T> {
    word: Word<P>,
    value: UnsafeCell<T>,
}

// SAFETY: `with` hands out the value to one thread at a time.
unsafe impl<P: Platform, T: Send> Sync for Lock<P, T> {}
// SAFETY: as above.
unsafe impl<P: Platform, T: Send> Send for Lock<P, T> {}

impl<P: Platform, T> Lock<P, T> {
    /// Makes a free lock.
    pub fn new(value: T) -> Self {
        Self {
            word: Word {
                state: <P::Futex as Atomic<u32>>::new(FREE),
                waiting: Sleepers::new(),
            },
            value: UnsafeCell::new(value),
        }
    }

    /// Runs `section` with exclusive access to the value.
    pub fn with<R>(&self, section: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: `section` cannot keep the reference, which ends before `free` below.
        let result = section(unsafe { self.take() });
        // SAFETY: taken above, and the section is over.
        unsafe { self.free() };
        result
    }

    /// As [`with`](Self::with), but returns `None` at once if another thread has the lock.
    pub fn try_with<R>(&self, section: impl FnOnce(&mut T) -> R) -> Option<R> {
        // Relaxed: the exchange decides. A failed exchange would take the cache line away from the lock's holder.
        let looks_free = self.word.state.load(Ordering::Relaxed) == FREE;
        if !looks_free || !self.word.is_taken() {
            return None;
        }
        // SAFETY: this thread has changed the state from FREE to HELD. `section` cannot keep the reference.
        let result = section(unsafe { &mut *self.value.get() });
        // SAFETY: taken above, and the section is over.
        unsafe { self.free() };
        Some(result)
    }

    /// Takes the lock, for a section that ends in another function.
    ///
    /// # Safety
    ///
    /// The caller does not use the reference after [`free`](Self::free).
    #[expect(clippy::mut_from_ref, reason = "the lock makes it the only one")]
    #[inline]
    pub unsafe fn take(&self) -> &mut T {
        self.word.take();
        // SAFETY: this thread has changed the state from FREE to HELD. Only `free` changes it back.
        unsafe { &mut *self.value.get() }
    }

    /// Frees the lock.
    ///
    /// # Safety
    ///
    /// The current thread has taken the lock.
    #[inline]
    pub unsafe fn free(&self) {
        self.word.free();
    }
}

/// Compiles these functions in this crate, so that no crate that uses this one compiles them again. No code reads this.
#[expect(dead_code, reason = "it is only there to be compiled")]
static COMPILED_HERE: [fn(&Word<Native>); 2] = [Word::<Native>::wait, Word::<Native>::wake];

/// The lock without its value.
struct Word<P: Platform> {
    state: P::Futex,
    waiting: Sleepers<P, Asymmetric>,
}

impl<P: Platform> Word<P> {
    /// Takes the lock if it is free. Returns whether it was free.
    #[inline]
    fn is_taken(&self) -> bool {
        // Acquire pairs with the release in `free`: the last section is over. Relaxed if the lock is held: this thread
        // then reads nothing in it.
        (self.state)
            .compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    #[inline]
    fn take(&self) {
        if !self.is_taken() {
            self.wait();
        }
    }

    #[inline]
    fn free(&self) {
        // Release publishes the section's writes to the next section.
        self.state.store(FREE, Ordering::Release);
        // The published fact is that the lock is free. Each release wakes one thread, which wakes the next thread when
        // it releases the lock. If another thread takes the lock first, that thread wakes the next thread.
        if self.waiting.after_publishing() > 0 {
            self.wake();
        }
    }

    #[cold]
    #[inline(never)]
    fn wake(&self) {
        self.state.wake(1);
    }

    /// Waits until the lock is free, and takes it.
    #[cold]
    #[inline(never)]
    fn wait(&self) {
        for _ in 0..LOOKS {
            P::relax();
            if self.state.load(Ordering::Relaxed) == FREE && self.is_taken() {
                return;
            }
        }
        self.waiting.sleep(|| {
            while !self.is_taken() {
                self.state.wait(HELD, None);
            }
        });
    }
}
