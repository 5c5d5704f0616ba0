//! Runs guests.

use super::core::Core;
use super::warm::Warmth;
use crate::engine::{Body, Engine, Progress, SimulationError};
use crate::front::simulation::{Run, Simulation, drive};
use crate::memory::AddressMap;

/// The state of a guest when [`Guest::resume`] returns.
///
/// ```
/// # use manycore_chip::{Simulation, config::Config, guest::*};
/// # let machine = Config::preset("atac-64")?;
/// let mut times = 0;
/// let main = move |core: &mut Core<'_>| {
///     times += 1;
///     core.enter_kernel();
///     core.yield_now();
///     if times < 10 { State::Suspended } else { State::Exited }
/// };
/// Simulation::new(&machine).run_guest(Box::new(main))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A method of [`Core`] said that the guest must suspend.
    Suspended,
    /// The guest has ended.
    Ended,
    /// The guest has ended the program.
    Exited,
}

/// A thread of a guest program. A closure is a guest too, and its captures are its state.
///
/// [`Simulation::run_guest`] has an example of a guest type. The examples of [`Core`]'s methods are
/// closures.
pub trait Guest {
    /// Runs the guest on `core` until it must suspend or ends.
    fn resume(&mut self, core: &mut Core<'_>) -> State;
}

impl<F: FnMut(&mut Core<'_>) -> State> Guest for F {
    fn resume(&mut self, core: &mut Core<'_>) -> State {
        self(core)
    }
}

pub(super) struct GuestBody(pub(super) Box<dyn Guest>);

impl Body for GuestBody {
    fn resume(&mut self, engine: *mut Engine, core: u32) -> Progress {
        // SAFETY: `Body` says that no other reference to the engine exists until this function
        // returns.
        let engine = unsafe { &mut *engine };
        match self.0.resume(&mut Core::new(engine, core)) {
            State::Suspended => Progress::Suspended,
            State::Ended => Progress::Ended,
            State::Exited => Progress::Exited,
        }
    }

    fn abandon(self: Box<Self>) {}
}

impl Simulation {
    /// Runs `main` as the main thread, on core 0, until `main` ends or a thread ends the program.
    /// [`Simulation::stack_size`] has no effect on guests.
    ///
    /// # Errors
    ///
    /// Fails after a deadlock or at the limit on cycles.
    ///
    /// ```
    /// use manycore_chip::guest::{Core, Guest, State};
    /// use manycore_chip::{Simulation, config::Config};
    ///
    /// /// Executes 1,000 instructions.
    /// struct Short;
    ///
    /// impl Guest for Short {
    ///     fn resume(&mut self, core: &mut Core<'_>) -> State {
    ///         core.execute(1_000, &mut 0);
    ///         State::Exited
    ///     }
    /// }
    ///
    /// let machine = Config::preset("atac-64")?;
    /// let run = Simulation::new(&machine).run_guest(Box::new(Short))?;
    /// // The core switches to the thread first.
    /// assert_eq!(run.statistics.cycles, machine.os.switch + 1_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_guest(&self, main: Box<dyn Guest>) -> Result<Run<()>, SimulationError> {
        match self.run_guest_until_stopped(main)? {
            (run, None) => Ok(run),
            (_, Some(error)) => Err(error),
        }
    }

    /// Like [`run_guest`](Self::run_guest). If a deadlock or the limit on cycles stops the run,
    /// returns the results up to that time, with the reason.
    ///
    /// # Errors
    ///
    /// Fails after a defect of the simulator or its host.
    ///
    /// ```
    /// use manycore_chip::guest::{Core, State};
    /// use manycore_chip::{Simulation, config::Config};
    ///
    /// let machine = Config::preset("atac-64")?;
    /// // It yields its core for ever.
    /// let main = |core: &mut Core<'_>| {
    ///     core.enter_kernel();
    ///     core.yield_now();
    ///     State::Suspended
    /// };
    /// let simulation = Simulation::new(&machine).limit(5_000);
    /// let (run, stopped) = simulation.run_guest_until_stopped(Box::new(main))?;
    /// assert_eq!(run.statistics.cycles, 5_000);
    /// assert!(stopped.expect("it is stopped").to_string().contains("after 5000 cycles"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_guest_until_stopped(
        &self,
        main: Box<dyn Guest>,
    ) -> Result<(Run<()>, Option<SimulationError>), SimulationError> {
        self.run_warm_guest_until_stopped(main, None)
    }

    /// Like [`run_guest_until_stopped`](Self::run_guest_until_stopped), with caches that are warm
    /// at cycle 0. [`Warmth`] has an example.
    ///
    /// # Errors
    ///
    /// As [`run_guest_until_stopped`](Self::run_guest_until_stopped).
    pub fn run_warm_guest_until_stopped(
        &self,
        main: Box<dyn Guest>,
        warmth: Option<Warmth>,
    ) -> Result<(Run<()>, Option<SimulationError>), SimulationError> {
        let mut engine = self.engine(AddressMap::identity())?;
        let ran_before = warmth.is_some();
        if let Some(warmth) = warmth {
            engine.memory.take_over(warmth.into_memory());
        }
        engine.start(Box::new(GuestBody(main)), ran_before);
        engine.stop = self.stop();
        let driven = drive(&mut engine, |engine, core, _, body| {
            engine.stop_if_asked();
            body.resume(engine, core)
        });
        let (end, stopped) = match driven {
            Ok(end) => (end, None),
            Err(error) => match &error {
                SimulationError::Runaway { limit: end, .. }
                | SimulationError::Deadlock { at: end, .. } => (*end, Some(error)),
                _ => return Err(error),
            },
        };
        Ok((Run::finished(engine, end)?, stopped))
    }
}
