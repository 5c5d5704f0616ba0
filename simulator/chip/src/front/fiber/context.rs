//! The engine and the core that the host thread is simulating now.

use super::super::arena;
use crate::engine::{Engine, Port};
use corosensei::Yielder;
use std::cell::Cell;
use std::ptr;

/// The data that simulated code finds through its host thread. All fields are null outside of a
/// simulation.
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
    /// `engine` runs the thread of core `core` until the guard is dropped.
    ///
    /// # Safety
    ///
    /// The engine does not move, and no other reference to it exists, while the guard lives.
    pub(super) unsafe fn new(engine: *mut Engine, core: u32) -> Self {
        // SAFETY: the caller's; the reference ends with the statement. Ports
        // are in a box that the engine never replaces.
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

/// The coroutine that runs from here on; it calls this first, and after each
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

/// The engine and the running core's number, for the duration of `ask`, which must not suspend or
/// run simulated code. It allocates from the host.
#[inline]
pub(super) fn with<R>(ask: impl FnOnce(&mut Engine, u32) -> R) -> R {
    let _outside = arena::outside();
    with_inside(ask)
}

/// The same for what allocates nothing.
#[inline(always)]
pub(super) fn with_inside<R>(ask: impl FnOnce(&mut Engine, u32) -> R) -> R {
    CONTEXT.with(|context| {
        let (engine, port) = (context.engine.get(), context.port.get());
        if engine.is_null() {
            not_simulated();
        }
        // SAFETY: not null, so an `Entered` lives, and its maker left the engine to this coroutine.
        // No other reference exists during `ask`: it neither suspends nor calls simulated code, and
        // only simulated code calls `with`.
        unsafe { ask(&mut *engine, (*port).core) }
    })
}

/// The number and name of the thread that runs, and its core: for a signal's handler.
pub(super) fn running_thread() -> Option<(u32, &'static str, u32)> {
    CONTEXT.with(|context| {
        let (engine, port) = (context.engine.get(), context.port.get());
        if engine.is_null() {
            return None;
        }
        // SAFETY: not null, so an `Entered` lives, and with it the engine and the port. The thread
        // may have been interrupted in the engine's own code. That never leaves the list of
        // threads or a thread's name without its memory, and the handler ends the process, so
        // nothing that it borrows is used after it.
        unsafe {
            let thread = (*port).thread?;
            let threads = &(*engine).threads;
            let name = threads.get(thread as usize).map_or("", |one| &*one.name);
            Some((thread, name, (*port).core))
        }
    })
}

/// Gives the host to whoever is first in simulated time; returns when this
/// thread goes on, perhaps on another core.
pub(super) fn suspend() {
    let yielder = CONTEXT.with(|context| context.yielder.get());
    // SAFETY: the running coroutine's own yielder, which lives as long as the coroutine (`running`
    // set it at its start or resumption).
    unsafe { (*yielder).suspend(()) };
    running(yielder);
}

/// Suspends until this core is first in the order of time, for an effect that others notice at
/// once.
pub(super) fn in_order() {
    while with(Engine::must_wait) {
        suspend();
    }
}
