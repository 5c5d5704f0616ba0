//! A simulated thread's coroutine.

use super::super::arena::Stack;
use super::context;
use crate::engine::{Body, Engine, Progress};
use corosensei::{Coroutine, CoroutineResult};
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(super) struct Fiber {
    coroutine: Coroutine<(), (), (), Stack>,
}

impl Fiber {
    /// A panic of `body` ends only this thread, as on a host.
    pub(super) fn new(stack: Stack, body: Box<dyn FnOnce()>) -> Self {
        let coroutine = Coroutine::with_stack(stack, move |yielder, ()| {
            context::running(yielder);
            // The panic hook has printed the message. Code that needs the panic catches it inside
            // `body`.
            let _ = catch_unwind(AssertUnwindSafe(body));
        });
        Self { coroutine }
    }
}

impl Body for Fiber {
    /// Ignores the engine, because simulated code finds the engine in a thread-local variable.
    fn resume(&mut self, _: *mut Engine, _: u32) -> Progress {
        match self.coroutine.resume(()) {
            CoroutineResult::Yield(()) => Progress::Suspended,
            CoroutineResult::Return(()) => Progress::Ended,
        }
    }

    fn abandon(mut self: Box<Self>) {
        // SAFETY: nothing on the stack is used again. A thread is abandoned in two cases: its run is over, or its core
        // does not exist. In the second case, its stack is still empty. Destructors do not run, so the memory that they
        // would free leaks. Other threads may borrow values from this stack (in a scope), but only threads of the same
        // run do so. These threads do not run again either, and the stack's memory stays mapped until all these threads
        // are gone.
        unsafe { self.coroutine.force_reset() };
    }
}
