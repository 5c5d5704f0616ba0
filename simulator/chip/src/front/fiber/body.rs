//! A simulated thread's coroutine.

use super::super::arena::Stack;
use super::context;
use crate::engine::{Body, Engine, Progress};
use corosensei::{Coroutine, CoroutineResult};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A closure on a stack of its own.
pub(super) struct Fiber {
    coroutine: Coroutine<(), (), (), Stack>,
}

impl Fiber {
    /// A panic of `body` ends the thread and nothing else, as on a host.
    pub(super) fn new(stack: Stack, body: Box<dyn FnOnce()>) -> Self {
        let coroutine = Coroutine::with_stack(stack, move |yielder, ()| {
            context::running(yielder);
            // The hook has printed the message, and code that needs the panic has caught it before.
            let _ = catch_unwind(AssertUnwindSafe(body));
        });
        Self { coroutine }
    }
}

impl Body for Fiber {
    /// Simulated code finds the engine by way of its host thread.
    fn resume(&mut self, _: *mut Engine, _: u32) -> Progress {
        match self.coroutine.resume(()) {
            CoroutineResult::Yield(()) => Progress::Suspended,
            CoroutineResult::Return(()) => Progress::Ended,
        }
    }

    fn abandon(mut self: Box<Self>) {
        // SAFETY: nothing on the stack is used again. A thread is abandoned when its run is over,
        // or before it began, when its stack is empty (a core that does not exist). Destructors do
        // not run, which leaks what they would free: memory in the arena, or in the host, which is
        // lost. Only threads of the same run use values that other threads borrow from this stack
        // (a scope). They are over too, and the stack's memory stays mapped until all of them are
        // gone.
        unsafe { self.coroutine.force_reset() };
    }
}
