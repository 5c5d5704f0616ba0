//! Running guests on a machine.

use super::core::Core;
use crate::config::Config;
use crate::engine::{Body, Engine, Progress, SimulationError, Step};
use crate::front::fiber::Run;
use crate::memory::AddressMap;

/// What became of a guest that was resumed.
///
/// ```
/// # use manycore_chip::{config::Config, guest::*};
/// # let machine = Config::preset("atac-64")?;
/// let mut times = 0;
/// let main = move |core: &mut Core<'_>| {
///     times += 1;
///     core.enter_kernel();
///     core.yield_now();
///     if times < 10 { State::Suspended } else { State::Exited }
/// };
/// GuestMachine::new(&machine).run(Box::new(main))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It must wait: what it asked for said so.
    Suspended,
    /// It ended.
    Ended,
    /// It ended the program.
    Exited,
}

/// A thread of a guest program. A closure is one, too: its state is what it captures.
///
/// [`GuestMachine`] has an example of a type that is a guest, [`Core`]'s methods have closures.
pub trait Guest {
    /// Runs on `core` until it must wait, or has ended.
    fn resume(&mut self, core: &mut Core<'_>) -> State;
}

impl<F: FnMut(&mut Core<'_>) -> State> Guest for F {
    fn resume(&mut self, core: &mut Core<'_>) -> State {
        self(core)
    }
}

/// A guest as the engine's body.
pub(super) struct GuestBody(pub(super) Box<dyn Guest>);

impl Body for GuestBody {
    fn resume(&mut self, engine: *mut Engine, core: u32) -> Progress {
        // SAFETY: the engine is this body's until it returns, as `Body` says.
        let engine = unsafe { &mut *engine };
        match self.0.resume(&mut Core::new(engine, core)) {
            State::Suspended => Progress::Suspended,
            State::Ended => Progress::Ended,
            State::Exited => Progress::Exited,
        }
    }

    fn abandon(self: Box<Self>) {}
}

/// A guest program's run on a machine, to be.
///
/// ```
/// use manycore_chip::config::Config;
/// use manycore_chip::guest::{Core, Guest, GuestMachine, State};
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
/// let run = GuestMachine::new(&machine).run(Box::new(Short))?;
/// // The core switches to the thread first.
/// assert_eq!(run.statistics.cycles, machine.os.switch + 1_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct GuestMachine {
    config: Config,
    limit: u64,
    segments: usize,
}

impl GuestMachine {
    /// A run on `machine`, without a limit on cycles and without a timeline.
    ///
    /// ```
    /// # use manycore_chip::{config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     core.execute(1_000, &mut 0);
    ///     State::Exited
    /// };
    /// assert!(GuestMachine::new(&machine).run(Box::new(main)).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new(machine: &Config) -> Self {
        Self {
            config: machine.clone(),
            limit: u64::MAX,
            segments: 0,
        }
    }

    /// Ends the run with an error if it is not done in so many cycles.
    ///
    /// ```
    /// # use manycore_chip::{config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     core.execute(1_000, &mut 0);
    ///     if core.must_pause() { State::Suspended } else { State::Exited }
    /// };
    /// let error = GuestMachine::new(&machine).limit(500).run(Box::new(main)).unwrap_err();
    /// assert!(error.to_string().contains("500 cycles"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn limit(mut self, cycles: u64) -> Self {
        self.limit = cycles;
        self
    }

    /// Keeps a timeline of up to `segments` segments.
    ///
    /// ```
    /// # use manycore_chip::{config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     core.execute(1_000, &mut 0);
    ///     State::Exited
    /// };
    /// let run = GuestMachine::new(&machine).timeline(1_000).run(Box::new(main))?;
    /// let mut json = Vec::new();
    /// run.write_timeline(&mut json)?;
    /// assert!(String::from_utf8(json)?.contains("main"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn timeline(mut self, segments: usize) -> Self {
        self.segments = segments;
        self
    }

    /// Runs `main` as the main thread, on core 0, until it ends or a thread exits.
    ///
    /// # Errors
    ///
    /// Deadlock, or the limit on cycles.
    pub fn run(&self, main: Box<dyn Guest>) -> Result<Run<()>, SimulationError> {
        let addresses = AddressMap::identity();
        let mut engine = Engine::new(&self.config, addresses, self.limit, self.segments)?;
        engine.start(Box::new(GuestBody(main)));
        let end = drive(&mut engine)?;
        Run::finished(engine, end)
    }
}

/// Takes step after step until the program ends; when it did.
fn drive(engine: &mut Engine) -> Result<u64, SimulationError> {
    loop {
        let core = match engine.step() {
            Step::Ended(at) => return Ok(at),
            Step::Failed(error) => return Err(error),
            Step::Resume(core) => core,
        };
        let Some((thread, mut body)) = engine.take_body(core) else {
            continue;
        };
        match body.resume(engine, core) {
            Progress::Suspended => engine.put_body(thread, body),
            Progress::Ended => engine.returned(core),
            Progress::Exited => return Ok(engine.ports[core as usize].clock),
        }
    }
}
