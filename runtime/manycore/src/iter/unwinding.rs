//! Loops over owned items, which drop all items after a panic.
//!
//! Other loops end at the first panic of their body, and do not run the blocks that no thread has claimed.
//! Owned items must be dropped, and only the loop knows which blocks were claimed. So the body of a loop
//! over owned items catches its own panics, and discards each later block.

use manycore_cores::sync::let_go;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// The first panic in a loop that goes on after it.
#[derive(Debug)]
pub(super) struct Unwinding {
    over: AtomicBool,
    payload: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Unwinding {
    pub(super) const fn new() -> Self {
        Self {
            over: AtomicBool::new(false),
            payload: Mutex::new(None),
        }
    }

    /// Calls `block`, and catches a panic. The argument of `block` says whether to discard the block.
    ///
    /// This is not generic, and not inlined, so that it is compiled once.
    #[inline(never)]
    pub(super) fn watch(&self, block: &mut dyn FnMut(bool)) {
        // Relaxed: a thread that does not see the store yet runs one more block, as in a loop that stops.
        let over = self.over.load(Relaxed);
        // Unwind safety: `end` hands the panic to the caller of the loop.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| block(over))) {
            self.keep(payload);
        }
    }

    #[cold]
    fn keep(&self, payload: Box<dyn Any + Send>) {
        self.over.store(true, Relaxed);
        let mut first = self.payload.lock().unwrap_or_else(PoisonError::into_inner);
        let later = match *first {
            None => first.replace(payload),
            Some(_) => Some(payload),
        };
        // The payload is dropped after the lock is released.
        drop(first);
        if let Some(later) = later {
            let_go(later);
        }
    }

    /// Resumes the first panic, if there was one. Call it when all threads have left the loop.
    pub(super) fn end(self) {
        let payload = self.payload.into_inner();
        if let Some(payload) = payload.unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(payload);
        }
    }
}

/// Drops `other`, and returns `one`.
///
/// If a function drops a value after it has made its result, and the destructor panics, the compiler
/// leaks the result (rust-lang/rust#47949). Here the drop comes first.
#[inline(always)]
pub(super) fn one_of<T, U>(one: T, other: U) -> T {
    drop(other);
    one
}
