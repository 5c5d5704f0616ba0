//! A lock over the platform, for what is not on a fast path.

use super::sleepers::{Asymmetric, Sleepers};
use manycore_platform::{Atomic, Futex, Native, Ordering, Platform};
use std::cell::UnsafeCell;

const FREE: u32 = 0;
const HELD: u32 = 1;

/// Looks at a lock that is held before the thread sleeps: sections are shorter than that. One in
/// tests, since a model checker tries each.
const LOOKS: u32 = if cfg!(test) { 1 } else { 64 };

/// A mutex that a simulator and a model checker can see. Sections are short and must not unwind.
/// Its owner keeps it alive until `with` has returned.
///
/// Cost without a waiting thread: one locked instruction. Releasing the lock is a store; a thread
/// that sleeps pays for the fence that this needs.
pub struct Lock<P: Platform, T> {
    word: Word<P>,
    value: UnsafeCell<T>,
}

// SAFETY: `with` hands out the value to one thread at a time.
unsafe impl<P: Platform, T: Send> Sync for Lock<P, T> {}
// SAFETY: as above.
unsafe impl<P: Platform, T: Send> Send for Lock<P, T> {}

impl<P: Platform, T> Lock<P, T> {
    /// A free lock.
    pub fn new(value: T) -> Self {
        Self {
            word: Word {
                state: <P::Futex as Atomic<u32>>::new(FREE),
                waiting: Sleepers::new(),
            },
            value: UnsafeCell::new(value),
        }
    }

    /// Runs `section` with the value.
    pub fn with<R>(&self, section: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: freed below.
        let result = section(unsafe { self.take() });
        // SAFETY: taken above, and the section is over.
        unsafe { self.free() };
        result
    }

    /// Takes the lock, for what begins in one function and ends in another.
    ///
    /// # Safety
    ///
    /// The reference is not used after [`free`](Self::free).
    #[expect(clippy::mut_from_ref, reason = "the lock makes it the only one")]
    #[inline]
    pub unsafe fn take(&self) -> &mut T {
        self.word.take();
        // SAFETY: the state went from FREE to HELD by this thread, and goes back in `free`.
        unsafe { &mut *self.value.get() }
    }

    /// Frees the lock.
    ///
    /// # Safety
    ///
    /// The current thread has taken it.
    #[inline]
    pub unsafe fn free(&self) {
        self.word.free();
    }
}

/// Compiled in this crate, so that no crate above compiles it again. No code reads it.
#[expect(dead_code, reason = "to have it compiled is all")]
static COMPILED_HERE: [fn(&Word<Native>); 2] = [Word::<Native>::wait, Word::<Native>::wake];

/// The lock without its value: whether it is held, and the threads that wait.
struct Word<P: Platform> {
    state: P::Futex,
    /// Threads that wait.
    waiting: Sleepers<P, Asymmetric>,
}

impl<P: Platform> Word<P> {
    /// Takes the lock if it is free.
    #[inline]
    fn is_taken(&self) -> bool {
        // Acquire pairs with the release in `free`: the last section is over. Relaxed if it
        // is held: nothing is read on its strength.
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

    /// Frees the lock.
    #[inline]
    fn free(&self) {
        // Release publishes what the section did to the next one.
        self.state.store(FREE, Ordering::Release);
        // The published fact is that the lock is free. The release wakes one thread, which wakes
        // the next when it releases the lock in turn. If another thread takes the lock first, that
        // thread wakes the next.
        if self.waiting.after_publishing() > 0 {
            self.wake();
        }
    }

    #[cold]
    #[inline(never)]
    fn wake(&self) {
        self.state.wake(1);
    }

    /// Takes the lock when it is free.
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
