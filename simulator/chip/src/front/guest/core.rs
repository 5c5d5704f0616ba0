//! A guest's requests to its core: accesses, time, and order.

use crate::account::{Activity, Breakdown, CoreCounters};
use crate::config::Config;
use crate::engine::{Asked, Engine};
use crate::memory::{Operation, Width, Word};

/// The core that a running guest uses.
///
/// If a method says that the guest must suspend, the guest returns
/// [`State::Suspended`](super::State::Suspended) from [`Guest::resume`](super::Guest::resume) at
/// once. The machine resumes the guest when it may continue, perhaps on another core.
///
/// ```
/// # use manycore_chip::{Simulation, config::Config, guest::*};
/// # let machine = Config::preset("atac-64")?;
/// // A guest that executes 10 instructions each time that it is resumed.
/// let mut times = 0;
/// let main = move |core: &mut Core<'_>| {
///     core.execute(10, &mut 0);
///     times += 1;
///     if times < 3 && core.must_pause() { State::Suspended } else { State::Exited }
/// };
/// let run = Simulation::new(&machine).run_guest(Box::new(main))?;
/// assert!(run.statistics.cycles >= machine.os.switch + 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Core<'a> {
    pub(super) engine: &'a mut Engine,
    pub(super) core: u32,
}

/// The outcome of an access.
///
/// ```
/// # use manycore_chip::{Simulation, config::Config, guest::*};
/// # let machine = Config::preset("atac-64")?;
/// let mut word = 7u64;
/// let word: *mut u8 = (&raw mut word).cast();
/// let mut waits = false;
/// let main = move |core: &mut Core<'_>| {
///     let value = if waits {
///         core.reply().0
///     } else {
///         // SAFETY: the local variable above, which this host thread alone uses.
///         match unsafe { core.access(FIRST_ADDRESS, word, Width::Eight, Operation::Load) } {
///             Answer::Done(value) => value,
///             Answer::Wait => {
///                 waits = true;
///                 return State::Suspended;
///             }
///             Answer::Again => return State::Suspended,
///         }
///     };
///     assert_eq!(value, 7);
///     State::Exited
/// };
/// Simulation::new(&machine).run_guest(Box::new(main))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The access is done. The value is the word's previous value.
    Done(u64),
    /// The guest must suspend. When it is resumed, [`Core::reply`] has the answer.
    Wait,
    /// The guest must suspend, and repeat the access when it is resumed. Other cores are earlier in
    /// simulated time.
    Again,
}

impl<'a> Core<'a> {
    pub(super) fn new(engine: &'a mut Engine, core: u32) -> Self {
        Self { engine, core }
    }
}

impl Core<'_> {
    /// Accesses the guest's word at `address`. The word lies at `word` in the host's memory.
    ///
    /// # Safety
    ///
    /// `word` is valid for reads and writes of `width` and aligned to it until the run is over,
    /// and no other thread of the host uses it.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let mut word = 40u64;
    /// let word: *mut u8 = (&raw mut word).cast();
    /// let mut waits = false;
    /// let main = move |core: &mut Core<'_>| {
    ///     if waits {
    ///         // The line has arrived: the word was 40, and is 42 now.
    ///         assert_eq!(core.reply().0, 40);
    ///         // SAFETY: the local variable above, which this host thread alone uses.
    ///         let hit = unsafe { core.access(FIRST_ADDRESS, word, Width::Eight, Operation::Load) };
    ///         assert_eq!(hit, Answer::Done(42));
    ///         return State::Exited;
    ///     }
    ///     // SAFETY: as above.
    ///     let asked = unsafe { core.access(FIRST_ADDRESS, word, Width::Eight, Operation::Add(2)) };
    ///     // No cache has the line.
    ///     assert_eq!(asked, Answer::Wait);
    ///     waits = true;
    ///     State::Suspended
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(always)]
    pub unsafe fn access(
        &mut self,
        address: u64,
        word: *mut u8,
        width: Width,
        operation: Operation,
    ) -> Answer {
        // SAFETY: the caller promises the same.
        let word = unsafe { Word::new(word, width) };
        match self
            .engine
            .hit(self.core, address as usize, operation, word)
        {
            Some(value) => Answer::Done(value),
            None => self.access_slowly(address, &operation, word),
        }
    }

    // `operation` is passed by reference. A copy would slow down hits too, since copying reads fields that were just
    // written.
    #[inline(never)]
    fn access_slowly(&mut self, address: u64, operation: &Operation, word: Word) -> Answer {
        let line = self.engine.line_of(address as usize);
        match self.engine.access(self.core, line, *operation, word) {
            Asked::Done(value) => Answer::Done(value),
            Asked::Suspend => Answer::Wait,
            Asked::Again => Answer::Again,
        }
    }

    /// The answer that the guest waited for: the word's previous value, and whether a conditional
    /// store was done.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let mut words = [1u64, 0];
    /// let word: *mut u8 = words.as_mut_ptr().cast();
    /// let mut waits = false;
    /// let main = move |core: &mut Core<'_>| {
    ///     if waits {
    ///         // The word was 1, as expected: 5 is stored.
    ///         assert_eq!(core.reply(), (1, true));
    ///         return State::Exited;
    ///     }
    ///     let swap = Rmw::CompareExchange { current: 1, new: 5 };
    ///     // SAFETY: the local variable above, which this host thread alone uses.
    ///     waits = unsafe { core.access(FIRST_ADDRESS, word, Width::Eight, swap.operation()) }
    ///         == Answer::Wait;
    ///     State::Suspended
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reply(&mut self) -> (u64, bool) {
        self.engine.reply(self.core)
    }

    /// Whether another core has written the word that this core's last [`Operation::LoadReserved`] has read. So this
    /// tells, after an [`Operation::Conditional`] or [`Operation::Persistent`], that the store was not done.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     assert!(!core.has_lost_reservation());
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn has_lost_reservation(&self) -> bool {
        self.engine.memory.reservations.is_lost(self.core)
    }

    /// Forgets the reservation that the last [`Operation::LoadReserved`] of this core has made. A guest calls this when
    /// its thread loses the reservation without a conditional store. Otherwise, other cores' stores to the word stay
    /// slow on the host.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     core.drop_reservation();
    ///     assert!(!core.has_lost_reservation());
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn drop_reservation(&mut self) {
        self.engine.memory.reservations.forget(self.core);
    }

    /// Executes instructions without memory accesses. `rest` keeps a fraction of a cycle for the
    /// next call.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     let (before, mut rest) = (core.clock(), 0);
    ///     core.execute(1_000, &mut rest);
    ///     assert_eq!(core.clock() - before, 1_000);
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn execute(&mut self, instructions: u32, rest: &mut u64) {
        self.engine.execute(self.core, instructions, rest);
    }

    /// Whether the guest must suspend because other cores are behind in simulated time. Call it
    /// from time to time, after [`execute`](Self::execute).
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let mut left = 1_000_000;
    /// let main = move |core: &mut Core<'_>| {
    ///     while left > 0 {
    ///         core.execute(1_000, &mut 0);
    ///         left -= 1_000;
    ///         if core.must_pause() {
    ///             return State::Suspended;
    ///         }
    ///     }
    ///     State::Exited
    /// };
    /// let run = Simulation::new(&machine).run_guest(Box::new(main))?;
    /// assert!(run.statistics.cycles >= 1_000_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn must_pause(&mut self) -> bool {
        let port = &self.engine.ports[self.core as usize];
        port.clock > port.horizon && self.engine.others_interrupt(self.core)
    }

    /// Whether the guest must suspend, and ask again, before it does something that other cores
    /// notice at once.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     // Other cores notice the message at once, so the guest sends it in the order of simulated time.
    ///     if core.must_wait() {
    ///         return State::Suspended;
    ///     }
    ///     let channel = core.create_channel().expect("the machine has the network");
    ///     core.send(channel, Message::default());
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn must_wait(&mut self) -> bool {
        self.engine.must_wait(self.core)
    }

    /// Passes time for the hint in a spin loop, so that the hint and the load that follows take one spin period.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     let before = core.clock();
    ///     core.relax();
    ///     assert!(core.clock() > before);
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn relax(&mut self) {
        let config = &self.engine.config;
        let cycles = config.core.spin_period.saturating_sub(config.l1.latency);
        self.engine.ports[self.core as usize].pass(Activity::Spin, cycles.max(1));
    }

    /// Spins on the word at `address`, which must be unchanged since the guest read it, until another core takes the
    /// word's line or `cycles` have passed. The guest must suspend. Returns `false`, without a wait, if this core does
    /// not hold the line.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let mut word = 0u64;
    /// let word: *mut u8 = (&raw mut word).cast();
    /// let mut step = 0;
    /// let main = move |core: &mut Core<'_>| {
    ///     step += 1;
    ///     match step {
    ///         // SAFETY: the local variable above, which this host thread alone uses.
    ///         1 => drop(unsafe { core.access(FIRST_ADDRESS, word, Width::Eight, Operation::Load) }),
    ///         // The core has the line now, and no other core takes it.
    ///         2 => assert!(core.watch(FIRST_ADDRESS, Some(500))),
    ///         _ => return State::Exited,
    ///     }
    ///     State::Suspended
    /// };
    /// let run = Simulation::new(&machine).run_guest(Box::new(main))?;
    /// assert!(run.statistics.report.total[manycore_chip::Activity::Spin] >= 500);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn watch(&mut self, address: u64, cycles: Option<u64>) -> bool {
        let clock = self.clock();
        let until = cycles.map_or(u64::MAX, |cycles| clock.saturating_add(cycles));
        self.engine.spin(self.core, address, until)
    }

    /// This core's number.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     // The main thread starts on core 0.
    ///     assert_eq!(core.number(), 0);
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn number(&self) -> u32 {
        self.core
    }

    /// Cycles since the start of the run.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     let start = core.clock();
    ///     core.execute(64, &mut 0);
    ///     assert_eq!(core.clock(), start + 64);
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn clock(&self) -> u64 {
        self.engine.ports[self.core as usize].clock
    }

    /// The cycles in which cores were not idle, summed over all cores.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     core.execute(100, &mut 0);
    ///     // All other cores are idle.
    ///     assert_eq!(core.cpu_time(), core.clock());
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn cpu_time(&self) -> u64 {
        self.engine.cpu_time(self.core)
    }

    /// The cycles that the running thread has run.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     let before = core.own_time();
    ///     core.execute(100, &mut 0);
    ///     assert_eq!(core.own_time() - before, 100);
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn own_time(&self) -> u64 {
        self.engine.own_time(self.core)
    }

    /// The cycles of all cores together by activity, from the start until this core's clock.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     let before = core.spent();
    ///     core.execute(100, &mut 0);
    ///     let region = core.spent().since(&before);
    ///     assert_eq!(region[manycore_chip::Activity::Compute], 100);
    ///     // 63 cores were idle in that time.
    ///     assert_eq!(region[manycore_chip::Activity::Idle], 63 * 100);
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn spent(&self) -> Breakdown {
        self.engine.spent(self.clock())
    }

    /// The counters of each core so far, if [`Simulation::counters`](crate::Simulation::counters)
    /// was called.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     core.execute(100, &mut 0);
    ///     let cores = core.counted_by_core().expect("it was asked for");
    ///     assert_eq!((cores[0].instructions, cores[1].instructions), (100, 0));
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).counters().run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn counted_by_core(&self) -> Option<Vec<CoreCounters>> {
        self.engine.counted_by_core(self.clock())
    }

    /// The description of the machine.
    ///
    /// ```
    /// # use manycore_chip::{Simulation, config::Config, guest::*};
    /// # let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     assert_eq!(core.machine().cores, 64);
    ///     State::Exited
    /// };
    /// Simulation::new(&machine).run_guest(Box::new(main))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn machine(&self) -> &Config {
        &self.engine.config
    }
}
