//! Running Rust programs: the main closure is the first of the machine's coroutines.

use super::super::arena::{self, Arena, ArenaError};
use super::body::Fiber;
use super::context::Entered;
use super::watchdog::Watch;
use super::{overflow, stacks};
use crate::engine::{Engine, SimulationError};
use crate::front::simulation::{Run, Simulation, drive};
use crate::memory::AddressMap;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

impl Simulation {
    /// Runs `program` as the main thread, on core 0, until it returns. Other
    /// threads that still run then are gone, as when a process exits; their
    /// destructors do not run.
    ///
    /// # Errors
    ///
    /// Deadlock, the limit on cycles, or a panic of `program` (a panic of
    /// another thread ends that thread only). Destructors of what the
    /// program's threads hold do not run.
    pub fn run<T>(&self, program: impl FnOnce() -> T) -> Result<Run<T>, SimulationError> {
        overflow::watch();
        let host = |error: ArenaError| SimulationError::Host(error.to_string());
        let arena = Arena::new(self.stack()).map_err(host)?;
        let mut engine = self.engine(AddressMap::new(arena.base()))?;
        let mut result: Option<Result<T, Box<dyn Any + Send>>> = None;
        let slot = &raw mut result;
        let main = move || {
            let value = catch_unwind(AssertUnwindSafe(program));
            // SAFETY: `result` outlives the run, and no code reads it before.
            unsafe { slot.write(Some(value)) };
        };
        let main: Box<dyn FnOnce() + '_> = Box::new(main);
        // SAFETY: only the lifetime changes. The closure is run or abandoned
        // before this function returns: all threads are gone by then.
        let main: Box<dyn FnOnce()> = unsafe { std::mem::transmute(main) };
        engine.start(
            Box::new(Fiber::new(arena.stack().map_err(host)?, main)),
            false,
        );
        // SAFETY: the arena lives until this function returns, and null is set before.
        unsafe { stacks::take_from(&raw const arena) };
        let ended = drive_fibers(&mut engine, &arena);
        for thread in &mut engine.threads {
            if let Some(body) = thread.body.take() {
                body.abandon();
            }
        }
        // SAFETY: there is no arena.
        unsafe { stacks::take_from(ptr::null()) };
        let end = ended?;
        let run = Run::finished(engine, end)?;
        match result {
            Some(Ok(value)) => Ok(run.with(value)),
            Some(Err(payload)) => {
                let text = payload
                    .downcast_ref::<&str>()
                    .map(|text| (*text).to_owned());
                let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
                let text = text.unwrap_or_else(|| "with a payload that is no text".to_owned());
                Err(SimulationError::Panicked(text))
            }
            None => Err(SimulationError::Incoherent(
                "the main thread ended without a result".into(),
            )),
        }
    }
}

/// Takes step after step until the main thread ends; when it did.
// Not generic, as `run` is: what it calls once a step becomes part of it.
fn drive_fibers(engine: &mut Engine, arena: &Arena) -> Result<u64, SimulationError> {
    let mut watch = Watch::new(engine);
    drive(engine, |engine, core, thread, body| {
        watch.resumes(thread, &engine.threads);
        let engine = ptr::from_mut(engine);
        // SAFETY: `drive` lends the engine, which stays in place, and leaves it to
        // the coroutine until this closure returns; the guard is dropped by then.
        let _context = unsafe { Entered::new(engine, core) };
        let _memory = arena::enter(arena);
        body.resume(engine, core)
    })
}
