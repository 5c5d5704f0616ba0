//! Caches that are warm when simulated time begins.

use super::seats::Seats;
use crate::config::Config;
use crate::engine::SimulationError;
use crate::memory::{Memory, Operation, Width, Word};
use crate::network;

/// The caches, the directories and the threads' cores of a machine when simulated time begins. Earlier accesses,
/// wake-ups and new threads determine them.
///
/// ```
/// use manycore_chip::guest::{Answer, Core, FIRST_ADDRESS, Operation, State, Warmth, Width};
/// use manycore_chip::{Simulation, config::Config};
///
/// let machine = Config::preset("atac-64")?;
/// let mut word = 7u64;
/// let word: *mut u8 = (&raw mut word).cast();
/// let mut warmth = Warmth::new(&machine)?;
/// // SAFETY: the local variable above, which this host thread alone uses.
/// unsafe { warmth.access(0, FIRST_ADDRESS, word, Width::Eight, false) };
/// let main = move |core: &mut Core<'_>| {
///     // SAFETY: as above.
///     let hit = unsafe { core.access(FIRST_ADDRESS, word, Width::Eight, Operation::Load) };
///     assert_eq!(hit, Answer::Done(7));
///     State::Exited
/// };
/// Simulation::new(&machine).run_warm_guest_until_stopped(Box::new(main), Some(warmth))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Warmth {
    memory: Memory,
    line_shift: u32,
    /// Each access begins when the previous access is done, so no access waits.
    clock: u64,
    seats: Seats,
}

impl Warmth {
    /// Cold caches.
    ///
    /// # Errors
    ///
    /// Fails if the network does not suit the machine.
    ///
    /// ```
    /// use manycore_chip::{config::Config, guest::Warmth};
    ///
    /// assert!(Warmth::new(&Config::preset("dahu")?).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(machine: &Config) -> Result<Self, SimulationError> {
        let wrong = |error: network::Invalid| SimulationError::Host(error.to_string());
        Ok(Self {
            memory: Memory::new(machine).map_err(wrong)?,
            line_shift: machine.line.trailing_zeros(),
            clock: 0,
            seats: Seats::new(machine),
        })
    }

    /// `core` accesses the word at `address`, which lies at `word` in the host's memory. The access does not change the
    /// value.
    ///
    /// # Safety
    ///
    /// `word` is valid for reads and writes of `width`, aligned to it, and no other thread of the
    /// host uses it.
    ///
    /// ```
    /// # use manycore_chip::{config::Config, guest::{FIRST_ADDRESS, Warmth, Width}};
    /// let mut warmth = Warmth::new(&Config::preset("dahu")?)?;
    /// let mut word = 7u64;
    /// // SAFETY: a local variable.
    /// unsafe { warmth.access(3, FIRST_ADDRESS, (&raw mut word).cast(), Width::Eight, true) };
    /// assert_eq!(word, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn access(
        &mut self,
        core: u32,
        address: u64,
        word: *mut u8,
        width: Width,
        write: bool,
    ) {
        // SAFETY: the caller promises the same.
        let word = unsafe { Word::new(word, width) };
        let operation = match write {
            true => Operation::TouchWrite,
            false => Operation::TouchRead,
        };
        let line = (address >> self.line_shift) as u32;
        self.clock = self.memory.warm(core, line, operation, word, self.clock);
    }

    /// Thread number `thread` begins. A thread on core `maker` made it. It may run on `cpus`, or on
    /// all cores if `cpus` is empty.
    ///
    /// ```
    /// # use manycore_chip::{config::Config, guest::Warmth};
    /// let mut warmth = Warmth::new(&Config::preset("dahu")?)?;
    /// warmth.spawn(0, &[], 0);
    /// warmth.spawn(1, &[5], 0);
    /// assert_eq!((warmth.core_of(0), warmth.core_of(1)), (0, 5));
    /// // It sleeps, and wakes up on the same core.
    /// warmth.rest(1, 1_000);
    /// warmth.wake(1, 0);
    /// assert_eq!(warmth.core_of(1), 5);
    /// warmth.confine(1, &[6]);
    /// assert_eq!(warmth.core_of(1), 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn spawn(&mut self, thread: u32, cpus: &[usize], maker: u32) {
        self.seats.spawn(thread, cpus, maker);
    }

    /// A thread falls asleep or ends at cycle `now`.
    ///
    /// ```
    /// # use manycore_chip::{config::Config, guest::Warmth};
    /// let mut warmth = Warmth::new(&Config::preset("dahu")?)?;
    /// warmth.spawn(0, &[], 0);
    /// warmth.rest(0, 1_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rest(&mut self, thread: u32, now: u64) {
        self.seats.pass_until(now);
        self.seats.rest(thread);
    }

    /// A thread on core `waker` wakes a sleeper.
    ///
    /// ```
    /// # use manycore_chip::{config::Config, guest::Warmth};
    /// let mut warmth = Warmth::new(&Config::preset("dahu")?)?;
    /// warmth.spawn(0, &[], 0);
    /// warmth.rest(0, 1_000);
    /// warmth.wake(0, 3);
    /// assert_eq!(warmth.core_of(0), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn wake(&mut self, thread: u32, waker: u32) {
        self.seats.wake(thread, waker);
    }

    /// From now on, a thread may run on `cpus`, or on all cores if `cpus` is empty.
    ///
    /// ```
    /// # use manycore_chip::{config::Config, guest::Warmth};
    /// let mut warmth = Warmth::new(&Config::preset("dahu")?)?;
    /// warmth.spawn(0, &[], 0);
    /// warmth.confine(0, &[6]);
    /// assert_eq!(warmth.core_of(0), 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn confine(&mut self, thread: u32, cpus: &[usize]) {
        self.seats.confine(thread, cpus);
    }

    /// The core of a thread.
    ///
    /// ```
    /// # use manycore_chip::{config::Config, guest::Warmth};
    /// let mut warmth = Warmth::new(&Config::preset("dahu")?)?;
    /// warmth.spawn(0, &[], 0);
    /// assert_eq!(warmth.core_of(0), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn core_of(&self, thread: u32) -> u32 {
        self.seats.core_of(thread)
    }

    pub(super) fn into_memory(self) -> Memory {
        self.memory
    }
}
