//! Loops over owned items, of which a panic leaves none behind.
//!
//! A loop ends at the first panic of its body: what lies in blocks that nobody has claimed is never
//! looked at. That is right for borrowed items. Owned items must be dropped, and only the loop knows
//! which of them were claimed. So the body of such a loop catches its own panic, and the loop goes on:
//! from then on, a block is discarded in place of run.

use manycore_cores::sync::let_go;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// The first panic of a loop that goes on.
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

    /// Calls `block`, with whether the block is to be discarded; catches its panic.
    ///
    /// Not generic, and out of line: it is compiled once.
    #[inline(never)]
    pub(super) fn watch(&self, block: &mut dyn FnMut(bool)) {
        // Relaxed: a thread that misses it runs one more block, as in a loop that stops.
        let over = self.over.load(Relaxed);
        // Unwind safety: the caller of the loop learns of the panic, in `end`.
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
        // Nothing of the user's is dropped under the lock.
        drop(first);
        if let Some(later) = later {
            let_go(later);
        }
    }

    /// Goes on with the first panic, if there was one. All threads have left the loop.
    pub(super) fn end(self) {
        let payload = self.payload.into_inner();
        if let Some(payload) = payload.unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(payload);
        }
    }
}

/// `one`, after `other` was dropped.
///
/// If `other` went at the end of a function that returns `one`, and its destructor panicked, `one` would
/// be leaked: the compiler does not drop a result that is there already (rust-lang/rust#47949).
#[inline(always)]
pub(super) fn one_of<T, U>(one: T, other: U) -> T {
    drop(other);
    one
}
