//! `omp_lock_t` and `omp_nest_lock_t`.

use super::export;
use crate::task::Task;
use crate::team::context::context;
use crate::words::lock::WordLock;
use std::ffi::{c_int, c_uint};
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI32, AtomicPtr};

/// A nestable lock. A program's variable for the lock contains only the lock's address: GCC's header has room for two
/// words, but LLVM's header and Fortran for one.
pub(super) struct NestLock {
    lock: WordLock,
    /// How often the owner has taken the lock.
    count: AtomicI32,
    /// The task that has the lock.
    owner: AtomicPtr<Task>,
}

fn word(lock: *mut WordLock) -> &'static WordLock {
    // SAFETY: the lock of the program has at least the size of a word.
    unsafe { &*lock }
}

fn nest(lock: *mut *mut NestLock) -> &'static NestLock {
    // SAFETY: `omp_init_nest_lock` has stored the address there.
    unsafe { &**lock }
}

impl NestLock {
    const fn new() -> Self {
        Self {
            lock: WordLock::new(),
            count: AtomicI32::new(0),
            owner: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Takes the lock once more if the task already owns it. Relaxed: only the owner can find itself in `owner`.
    fn again(&self, task: *const Task) -> Option<c_int> {
        (self.owner.load(Relaxed).cast_const() == task)
            .then(|| self.count.fetch_add(1, Relaxed) + 1)
    }

    fn own(&self, task: *const Task) -> c_int {
        self.owner.store(task.cast_mut(), Relaxed);
        self.count.store(1, Relaxed);
        1
    }
}

export! {
    pub(super) fn omp_init_lock(lock: *mut WordLock) {
        // SAFETY: the program passes memory for a lock.
        unsafe { lock.write(WordLock::new()) };
    }

    fn omp_init_lock_with_hint(lock: *mut WordLock, _hint: c_uint) {
        omp_init_lock(lock);
    }

    fn omp_destroy_lock(_lock: *mut WordLock) {}

    pub(super) fn omp_set_lock(lock: *mut WordLock) {
        word(lock).lock(&context().carried);
    }

    pub(super) fn omp_unset_lock(lock: *mut WordLock) {
        word(lock).unlock(&context().carried);
    }

    pub(super) fn omp_test_lock(lock: *mut WordLock) -> c_int {
        crate::carry::ask();
        c_int::from(word(lock).try_lock(&context().carried))
    }

    pub(super) fn omp_init_nest_lock(lock: *mut *mut NestLock) {
        // SAFETY: the program passes room for an address.
        unsafe { lock.write(Box::into_raw(Box::new(NestLock::new()))) };
    }

    fn omp_init_nest_lock_with_hint(lock: *mut *mut NestLock, _hint: c_uint) {
        omp_init_nest_lock(lock);
    }

    pub(super) fn omp_destroy_nest_lock(lock: *mut *mut NestLock) {
        // SAFETY: `omp_init_nest_lock` made the lock, and the program does not use it any more.
        drop(unsafe { Box::from_raw(lock.replace(ptr::null_mut())) });
    }

    pub(super) fn omp_set_nest_lock(lock: *mut *mut NestLock) {
        let (context, lock) = (context(), nest(lock));
        let task = context.seat.task.get();
        if lock.again(task).is_none() {
            lock.lock.lock(&context.carried);
            lock.own(task);
        }
    }

    pub(super) fn omp_unset_nest_lock(lock: *mut *mut NestLock) {
        let lock = nest(lock);
        if lock.count.fetch_sub(1, Relaxed) == 1 {
            lock.owner.store(ptr::null_mut(), Relaxed);
            lock.lock.unlock(&context().carried);
        }
    }

    pub(super) fn omp_test_nest_lock(lock: *mut *mut NestLock) -> c_int {
        crate::carry::ask();
        let (context, lock) = (context(), nest(lock));
        let task = context.seat.task.get();
        if let Some(count) = lock.again(task) {
            return count;
        }
        if lock.lock.try_lock(&context.carried) { lock.own(task) } else { 0 }
    }

    // Locks are the same in Fortran and in C.
    fn omp_init_lock_(lock: *mut WordLock) { omp_init_lock(lock) }
    fn omp_init_lock_with_hint_(lock: *mut WordLock, _hint: *const c_int) { omp_init_lock(lock) }
    fn omp_destroy_lock_(lock: *mut WordLock) { omp_destroy_lock(lock) }
    fn omp_set_lock_(lock: *mut WordLock) { omp_set_lock(lock) }
    fn omp_unset_lock_(lock: *mut WordLock) { omp_unset_lock(lock) }
    fn omp_test_lock_(lock: *mut WordLock) -> c_int { omp_test_lock(lock) }

    fn omp_init_nest_lock_(lock: *mut *mut NestLock) { omp_init_nest_lock(lock) }
    fn omp_init_nest_lock_with_hint_(lock: *mut *mut NestLock, _hint: *const c_int) {
        omp_init_nest_lock(lock);
    }
    fn omp_destroy_nest_lock_(lock: *mut *mut NestLock) { omp_destroy_nest_lock(lock) }
    fn omp_set_nest_lock_(lock: *mut *mut NestLock) { omp_set_nest_lock(lock) }
    fn omp_unset_nest_lock_(lock: *mut *mut NestLock) { omp_unset_nest_lock(lock) }
    fn omp_test_nest_lock_(lock: *mut *mut NestLock) -> c_int { omp_test_nest_lock(lock) }
}
