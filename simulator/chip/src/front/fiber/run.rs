//! Runs Rust programs: the main closure is the machine's first coroutine.

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
    /// Runs `program` as the main thread, on core 0, until it returns. Other threads end at that time, as when a
    /// process exits. The destructors of their values do not run.
    ///
    /// # Errors
    ///
    /// Fails after a deadlock, at the limit on cycles, or after a panic of `program`. A panic of
    /// another thread ends only that thread. After an error, no destructors of the threads' values
    /// run. Fails if a simulated thread calls it.
    pub fn run<T>(&self, program: impl FnOnce() -> T) -> Result<Run<T>, SimulationError> {
        if arena::is_entered() {
            let nested = "a simulated thread cannot run another simulation";
            return Err(SimulationError::Host(nested.into()));
        }
        overflow::watch();
        let host = |error: ArenaError| SimulationError::Host(error.to_string());
        let arena = Arena::new(self.stack()).map_err(host)?;
        let mut engine = self.engine(AddressMap::new(arena.base(), self.machine().line))?;
        let mut result: Option<Result<T, Box<dyn Any + Send>>> = None;
        let slot = &raw mut result;
        let main = move || {
            let value = catch_unwind(AssertUnwindSafe(program));
            // SAFETY: `result` outlives the run, and other code reads it only after the run.
            unsafe { slot.write(Some(value)) };
        };
        let main: Box<dyn FnOnce() + '_> = Box::new(main);
        // SAFETY: only the lifetime changes. Before this function returns, all threads have ended or are abandoned, and
        // the closure has ended with them.
        let main: Box<dyn FnOnce()> = unsafe { std::mem::transmute(main) };
        engine.start(
            Box::new(Fiber::new(arena.stack().map_err(host)?, main)),
            false,
        );
        let stacks = stacks::take_from(&arena);
        let ended = drive_fibers(&mut engine, &arena);
        for thread in &mut engine.threads {
            if let Some(body) = thread.body.take() {
                body.abandon();
            }
        }
        drop(stacks);
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

/// Runs the engine until the main thread ends. Returns the cycle of its end.
// Unlike `run`, this function is not generic, so the compiler inlines the functions that each step calls.
fn drive_fibers(engine: &mut Engine, arena: &Arena) -> Result<u64, SimulationError> {
    let mut watch = Watch::new(engine);
    drive(engine, |engine, core, thread, body| {
        watch.resumes(thread, &engine.threads);
        let engine = ptr::from_mut(engine);
        // SAFETY: `drive` lends the engine, which does not move, until this closure returns. The
        // guard is dropped before that.
        let _context = unsafe { Entered::new(engine, core) };
        let _memory = arena::enter(arena);
        body.resume(engine, core)
    })
}
