//! Locks in the words that compiled programs have for them.

use crate::context::Context;
use crate::spin::spin;
use manycore_platform::{Futex, Native, Platform};
use std::cell::UnsafeCell;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Held, and somebody may sleep.
const AWAITED: u32 = 2;

/// Looks at a lock that is held before a thread waits as for anything else: some microseconds.
const BACKOFFS: u32 = 6;

/// A lock of one word. All zeros is a free one.
#[repr(transparent)]
pub(crate) struct WordLock(AtomicU32);

impl WordLock {
    pub(crate) const fn new() -> Self {
        Self(AtomicU32::new(FREE))
    }

    #[inline]
    pub(crate) fn try_lock(&self) -> bool {
        // Acquire: what the last owner did.
        self.0
            .compare_exchange(FREE, HELD, Acquire, Relaxed)
            .is_ok()
    }

    #[inline]
    pub(crate) fn lock(&self, context: &Context) {
        if !self.try_lock() {
            self.lock_slowly(context);
        }
        if let Some(rank) = context.carried.get() {
            rank.holds();
        }
    }

    #[cold]
    fn lock_slowly(&self, context: &Context) {
        let free = || self.0.load(Relaxed) == FREE;
        if let Some(rank) = context.carried.get() {
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
        // Acquire: as above. A thread that has slept takes the lock as awaited: others may sleep
        // still.
        while self.0.swap(AWAITED, Acquire) != FREE {
            Futex::wait(&self.0, AWAITED, None);
        }
    }

    /// Looks again, each time later: each look takes the line from the owner, who wants it to unlock.
    fn lock_with_backoff(&self) -> bool {
        (0..BACKOFFS).any(|round| {
            (0..1 << round).for_each(|_| Native::relax());
            self.0.load(Relaxed) == FREE && self.try_lock()
        })
    }

    #[inline]
    pub(crate) fn unlock(&self) {
        if let Some(rank) = crate::context::context().carried.get() {
            rank.holds_no_more();
        }
        // Sequentially consistent: a carried rank that waits may be asleep with its worker.
        if self.0.swap(FREE, SeqCst) == AWAITED {
            Futex::wake(&self.0, 1);
        }
        crate::carry::notify();
    }
}

/// Data behind a lock that is held for some instructions only, never while a program's code runs.
pub(crate) struct Guarded<T> {
    lock: AtomicU32,
    data: UnsafeCell<T>,
}

// SAFETY: the data is touched by the lock's owner only.
unsafe impl<T: Send> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    pub(crate) const fn new(data: T) -> Self {
        Self {
            lock: AtomicU32::new(FREE),
            data: UnsafeCell::new(data),
        }
    }

    pub(crate) fn with<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        if self
            .lock
            .compare_exchange(FREE, HELD, Acquire, Relaxed)
            .is_err()
        {
            self.contended();
        }
        self.owned(body)
    }

    /// The same if the lock is free.
    pub(crate) fn try_with<R>(&self, body: impl FnOnce(&mut T) -> R) -> Option<R> {
        // Acquire: what the last owner did.
        self.lock
            .compare_exchange(FREE, HELD, Acquire, Relaxed)
            .is_ok()
            .then(|| self.owned(body))
    }

    /// Runs `body` as the lock's owner, and lets it go.
    fn owned<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: this thread owns the lock.
        let result = body(unsafe { &mut *self.data.get() });
        if self.lock.swap(FREE, Release) == AWAITED {
            Futex::wake(&self.lock, 1);
        }
        result
    }

    /// In a child after `fork`: the data as new, the lock free. What was there is forgotten.
    ///
    /// # Safety
    ///
    /// No other thread is there.
    pub(crate) unsafe fn break_open(&self)
    where
        T: Default,
    {
        // SAFETY: by the caller's word; what was there may be half changed, and is not looked at.
        unsafe { self.data.get().write(T::default()) };
        self.lock.store(FREE, Release);
    }

    #[cold]
    fn contended(&self) {
        for _ in 0..100 {
            Native::relax();
            if self.lock.load(Relaxed) == FREE
                && self
                    .lock
                    .compare_exchange(FREE, HELD, Acquire, Relaxed)
                    .is_ok()
            {
                return;
            }
        }
        while self.lock.swap(AWAITED, Acquire) != FREE {
            Futex::wait(&self.lock, AWAITED, None);
        }
    }
}
