//! Locks that have one word.

use super::Carried;
use super::bell::WORKERS;
use super::spin::spin_at_lock;
use manycore_platform::{Futex, Native, Platform};
use std::cell::UnsafeCell;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};

const FREE: u32 = 0;
const HELD: u32 = 1;
/// The lock is held, and a thread may sleep until it is free.
const AWAITED: u32 = 2;

/// The rounds of [`WordLock::lock_with_backoff`], which take some microseconds in all. After them the thread spins, and
/// at last sleeps.
const BACKOFFS: u32 = 6;
/// How often a thread looks at the lock of a [`Guarded`] before it sleeps.
const LOOKS: u32 = 100;

/// The state of a lock, in one word. A zeroed word is a free lock.
///
/// This is not [`manycore_cores::sync::Lock`], which has two words on separate cache lines and is freed by a plain
/// store. A thread that sleeps at that lock calls `membarrier`. If the process has entered a sandbox that refuses this
/// call, the process is aborted. Compiled programs have one word for a lock and may enter any sandbox.
#[repr(transparent)]
struct Word(AtomicU32);

impl Word {
    #[inline]
    fn is_free(&self) -> bool {
        self.0.load(Relaxed) == FREE
    }

    #[inline]
    fn try_lock(&self) -> bool {
        // Acquire makes visible what the last owner did.
        self.0
            .compare_exchange(FREE, HELD, Acquire, Relaxed)
            .is_ok()
    }

    /// Sleeps until this thread holds the lock. The word is then [`AWAITED`], since other threads may still sleep.
    ///
    /// No wake-up is lost: a sleeper writes [`AWAITED`] before it sleeps, and the kernel compares the word as the
    /// thread falls asleep. An owner that finds `AWAITED` as it unlocks wakes one sleeper.
    fn sleep(&self) {
        // Acquire makes visible what the last owner did.
        while self.0.swap(AWAITED, Acquire) != FREE {
            Futex::wait(&self.0, AWAITED, None);
        }
    }

    #[inline]
    fn unlock(&self) {
        // Release publishes what the owner did. The swap is sequentially consistent because `WordLock` then rings a
        // bell, which needs that order.
        if self.0.swap(FREE, SeqCst) == AWAITED {
            Futex::wake(&self.0, 1);
        }
    }
}

/// A lock of a compiled program, in the word that the program has for the lock.
#[repr(transparent)]
pub(crate) struct WordLock(Word);

impl WordLock {
    pub(crate) const fn new() -> Self {
        Self(Word(AtomicU32::new(FREE)))
    }

    #[inline]
    pub(crate) fn try_lock(&self, carried: &Carried) -> bool {
        let is_taken = self.0.try_lock();
        if is_taken {
            carried.takes_lock();
        }
        is_taken
    }

    #[inline]
    pub(crate) fn lock(&self, carried: &Carried) {
        if !self.0.try_lock() {
            self.lock_slowly(carried);
        }
        carried.takes_lock();
    }

    #[cold]
    fn lock_slowly(&self, carried: &Carried) {
        let free = || self.0.is_free();
        if let Some(rank) = carried.waits() {
            while !self.0.try_lock() {
                rank.wait_until(&free);
            }
            return;
        }
        if self.lock_with_backoff() {
            return;
        }
        while spin_at_lock(&free) {
            if self.0.try_lock() {
                return;
            }
        }
        self.0.sleep();
    }

    /// Looks at the lock again, with longer and longer pauses: each look takes the cache line from the owner, which
    /// needs the line to unlock. Returns whether this thread has taken the lock.
    fn lock_with_backoff(&self) -> bool {
        (0..BACKOFFS).any(|round| {
            (0..1 << round).for_each(|_| Native::relax());
            self.0.is_free() && self.0.try_lock()
        })
    }

    #[inline]
    pub(crate) fn unlock(&self, carried: &Carried) {
        carried.frees_lock();
        self.0.unlock();
        // A rank (a thread that workers execute) may wait for the lock while the workers sleep.
        WORKERS.ring_after_rmw();
    }
}

/// Data behind a lock that is held for some instructions only, and never while code of the program runs.
pub(crate) struct Guarded<T> {
    lock: Word,
    data: UnsafeCell<T>,
}

// SAFETY: a reference to the data lives only in `owned`, and only the owner of the lock calls `owned`. The next owner
// acquires what this owner releases. So one thread at a time uses the data, as if it were sent from owner to owner.
unsafe impl<T: Send> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    pub(crate) const fn new(data: T) -> Self {
        Self {
            lock: Word(AtomicU32::new(FREE)),
            data: UnsafeCell::new(data),
        }
    }

    pub(crate) fn with<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        if !self.lock.try_lock() {
            self.contended();
        }
        self.owned(body)
    }

    /// Like [`with`](Self::with) if the lock is free. Otherwise returns `None` at once.
    pub(crate) fn try_with<R>(&self, body: impl FnOnce(&mut T) -> R) -> Option<R> {
        // `is_free` comes first, since a failed exchange would take the cache line from the owner.
        (self.lock.is_free() && self.lock.try_lock()).then(|| self.owned(body))
    }

    /// Runs `body` and unlocks. The caller holds the lock.
    fn owned<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: this thread owns the lock.
        let result = body(unsafe { &mut *self.data.get() });
        self.lock.unlock();
        result
    }

    #[cold]
    fn contended(&self) {
        for _ in 0..LOOKS {
            Native::relax();
            if self.lock.is_free() && self.lock.try_lock() {
                return;
            }
        }
        self.lock.sleep();
    }
}
