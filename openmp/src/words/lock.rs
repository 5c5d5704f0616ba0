//! Locks of one word.

use super::Carried;
use super::bell::WORKERS;
use super::spin::spin;
use manycore_platform::{Futex, Native, Platform};
use std::cell::UnsafeCell;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Held, and a thread may sleep.
const AWAITED: u32 = 2;

/// Looks at a lock that is held before a thread waits as for anything else: some microseconds.
const BACKOFFS: u32 = 6;
/// How often a thread looks at a short lock before it sleeps.
const LOOKS: u32 = 100;

/// Whether a lock is held. All zeros is a free one.
///
/// This is not [`manycore_cores::sync::Lock`], which has two words on lines of their own and frees by a store: its sleepers
/// then need `membarrier`, and end the process where a program has entered a sandbox that refuses it.
/// Compiled programs have one word for a lock, and may enter any sandbox.
#[repr(transparent)]
struct Word(AtomicU32);

impl Word {
    #[inline]
    fn is_free(&self) -> bool {
        self.0.load(Relaxed) == FREE
    }

    #[inline]
    fn try_lock(&self) -> bool {
        // Acquire: what the last owner did.
        self.0
            .compare_exchange(FREE, HELD, Acquire, Relaxed)
            .is_ok()
    }

    /// Sleeps until the lock is this thread's. The word is awaited then, since others may sleep still.
    ///
    /// No wake-up is lost: a sleeper writes [`AWAITED`] before it sleeps, and the kernel compares the word as
    /// the thread falls asleep. The owner that finds it wakes one sleeper.
    fn sleep(&self) {
        // Acquire: what the last owner did.
        while self.0.swap(AWAITED, Acquire) != FREE {
            Futex::wait(&self.0, AWAITED, None);
        }
    }

    #[inline]
    fn unlock(&self) {
        // Release: what the owner did. Sequentially consistent for `WordLock`, which rings after it.
        if self.0.swap(FREE, SeqCst) == AWAITED {
            Futex::wake(&self.0, 1);
        }
    }
}

/// A lock in the word that a compiled program has for it.
#[repr(transparent)]
pub(crate) struct WordLock(Word);

impl WordLock {
    pub(crate) const fn new() -> Self {
        Self(Word(AtomicU32::new(FREE)))
    }

    #[inline]
    pub(crate) fn try_lock(&self) -> bool {
        self.0.try_lock()
    }

    #[inline]
    pub(crate) fn lock(&self, carried: &Carried) {
        if !self.try_lock() {
            self.lock_slowly(carried);
        }
        carried.takes_lock();
    }

    #[cold]
    fn lock_slowly(&self, carried: &Carried) {
        let free = || self.0.is_free();
        if let Some(rank) = carried.waits() {
            while !self.try_lock() {
                rank.wait_until(&free);
            }
            return;
        }
        if self.lock_with_backoff() {
            return;
        }
        while spin(&free) {
            if self.try_lock() {
                return;
            }
        }
        self.0.sleep();
    }

    /// Looks again, each time later: each look takes the line from the owner, which needs it to
    /// unlock.
    fn lock_with_backoff(&self) -> bool {
        (0..BACKOFFS).any(|round| {
            (0..1 << round).for_each(|_| Native::relax());
            self.0.is_free() && self.try_lock()
        })
    }

    #[inline]
    pub(crate) fn unlock(&self, carried: &Carried) {
        carried.frees_lock();
        self.0.unlock();
        // A carried rank that waits may be asleep with its worker.
        WORKERS.ring_after_rmw();
    }
}

/// Data behind a lock that is held for some instructions only, never while a program's code runs.
pub(crate) struct Guarded<T> {
    lock: Word,
    data: UnsafeCell<T>,
}

// SAFETY: a reference to the data lives in `owned` alone, which only the thread calls that has taken the lock; the next owner
// acquires what this one releases. So the data is one thread's at a time, as if it were sent from owner to owner.
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

    /// The same if the lock is free.
    pub(crate) fn try_with<R>(&self, body: impl FnOnce(&mut T) -> R) -> Option<R> {
        // A failed exchange would take the line from the owner.
        (self.lock.is_free() && self.lock.try_lock()).then(|| self.owned(body))
    }

    /// Runs `body` as the lock's owner, and lets it go.
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
