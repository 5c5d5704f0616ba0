//! Simulated code finds the engine and the core that runs it through a thread-local variable of the host thread.

use super::super::arena;
use crate::engine::{Engine, Port};
use corosensei::Yielder;
use std::cell::Cell;
use std::ptr;

/// The pointers that simulated code needs. All are null outside of a simulation.
struct Context {
    engine: Cell<*mut Engine>,
    port: Cell<*mut Port>,
    yielder: Cell<*const Yielder<(), ()>>,
}

thread_local! {
    static CONTEXT: Context = const {
        Context {
            engine: Cell::new(ptr::null_mut()),
            port: Cell::new(ptr::null_mut()),
            yielder: Cell::new(ptr::null()),
        }
    };
}

/// Sets the context while a coroutine is resumed.
pub(super) struct Entered;

impl Entered {
    /// Until the guard is dropped, calls of the platform are requests to `engine` by the thread on
    /// `core`.
    ///
    /// # Safety
    ///
    /// The engine does not move, and no other reference to it exists, while the guard lives.
    pub(super) unsafe fn new(engine: *mut Engine, core: u32) -> Self {
        // SAFETY: the caller says that no other reference exists, and this reference ends with the statement. Ports are
        // in a box that the engine never replaces.
        let port = unsafe { &raw mut (&mut (*engine).ports)[core as usize] };
        CONTEXT.with(|context| {
            context.engine.set(engine);
            context.port.set(port);
        });
        Self
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        CONTEXT.with(|context| {
            context.engine.set(ptr::null_mut());
            context.port.set(ptr::null_mut());
            context.yielder.set(ptr::null());
        });
    }
}

/// Sets the running coroutine. A coroutine calls this function when it starts and after each
/// suspension.
pub(super) fn running(yielder: *const Yielder<(), ()>) {
    CONTEXT.with(|context| context.yielder.set(yielder));
}

#[cold]
#[inline(never)]
fn not_simulated() -> ! {
    panic!(
        "an operation of the platform `Simulated` outside of a simulation; run the program with \
         `Simulation::run`"
    )
}

/// Calls `ask` with the engine and the running core's number. `ask` must not suspend or run simulated code. Its
/// allocations come from the host's memory, not from the arena (the memory of the simulated machine).
#[inline]
pub(super) fn with<R>(ask: impl FnOnce(&mut Engine, u32) -> R) -> R {
    let _outside = arena::outside();
    with_inside(ask)
}

/// Like [`with`], if `ask` allocates nothing.
#[inline(always)]
pub(super) fn with_inside<R>(ask: impl FnOnce(&mut Engine, u32) -> R) -> R {
    CONTEXT.with(|context| {
        let (engine, port) = (context.engine.get(), context.port.get());
        if engine.is_null() {
            not_simulated();
        }
        // SAFETY: the pointer is not null, so an `Entered` lives, and its maker has lent the engine to this coroutine.
        // No other reference exists during `ask`, since `ask` neither suspends nor calls simulated code, and only
        // simulated code calls `with`.
        unsafe { ask(&mut *engine, (*port).core) }
    })
}

/// Returns the number, the name and the core of the running thread. A signal handler calls this
/// function.
pub(super) fn running_thread() -> Option<(u32, &'static str, u32)> {
    CONTEXT.with(|context| {
        let (engine, port) = (context.engine.get(), context.port.get());
        if engine.is_null() {
            return None;
        }
        // SAFETY: the pointer is not null, so an `Entered` lives, and with it the engine and the port. The signal may
        // have interrupted the engine's own code. Throughout that code, the list of threads and the threads' names have
        // valid memory. The handler ends the process, so nothing uses its references after it.
        unsafe {
            let thread = (*port).thread?;
            let threads = &(*engine).threads;
            let name = threads.get(thread as usize).map_or("", |one| &*one.name);
            Some((thread, name, (*port).core))
        }
    })
}

/// Suspends the running coroutine. Returns when the engine resumes it, perhaps on another core.
pub(super) fn suspend() {
    let yielder = CONTEXT.with(|context| context.yielder.get());
    // SAFETY: `running` set the running coroutine's own yielder, which lives as long as the
    // coroutine.
    unsafe { (*yielder).suspend(()) };
    running(yielder);
}

/// Suspends until this core is first in the order of simulated time. Callers must call this function before an effect
/// that other cores notice at once.
pub(super) fn in_order() {
    while with(Engine::must_wait) {
        suspend();
    }
}
