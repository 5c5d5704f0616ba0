//! Caches that are warm when simulated time begins.

use super::clocks::Clocks;
use super::seats::Seats;
use crate::config::Config;
use crate::engine::SimulationError;
use crate::memory::{Memory, Operation, Width, Word};
use crate::network;

/// The caches, the directories and the threads' cores of a machine when simulated time begins. Earlier accesses,
/// wake-ups and new threads determine them. Threads run one at a time, for slices, and each has an estimate of its time: if
/// the thread that is behind gets the next slice, threads meet as on the machine.
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
/// unsafe { warmth.access(FIRST_ADDRESS, word, Width::Eight, false) };
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
    clocks: Clocks,
    /// The running thread's core.
    core: u32,
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
            clocks: Clocks::new(machine),
            core: 0,
        })
    }

    /// The running thread accesses the word at `address`, which lies at `word` in the host's memory. The access does not change the
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
    /// unsafe { warmth.access(FIRST_ADDRESS, (&raw mut word).cast(), Width::Eight, true) };
    /// assert_eq!(word, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn access(&mut self, address: u64, word: *mut u8, width: Width, write: bool) {
        // SAFETY: the caller promises the same.
        let word = unsafe { Word::new(word, width) };
        let operation = match write {
            true => Operation::TouchWrite,
            false => Operation::TouchRead,
        };
        let line = (address >> self.line_shift) as u32;
        let before = self.clock;
        let (hit, end) = (self.memory).warm(self.core, line, operation, word, before);
        self.clock = end;
        let waits = self.clocks.misses(self.core, line, write, end - before);
        self.clocks.access(hit + waits);
    }

    /// A slice of a thread begins.
    ///
    /// ```
    /// # use manycore_chip::{config::Config, guest::Warmth};
    /// let machine = Config::preset("dahu")?;
    /// let mut warmth = Warmth::new(&machine)?;
    /// warmth.spawn(0, &[]);
    /// let start = warmth.time_of(0);
    /// warmth.begin(0);
    /// warmth.execute(1_000);
    /// warmth.enter_kernel();
    /// warmth.end(0, 0);
    /// let cycles = (1_000.0 * machine.core.cpi) as u64 + machine.os.syscall;
    /// assert_eq!(warmth.time_of(0) - start, cycles);
    /// // A thread that waits in a loop has used its whole slice.
    /// warmth.begin(0);
    /// warmth.end(0, 5_000);
    /// assert_eq!(warmth.time_of(0) - start, cycles + 5_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn begin(&mut self, thread: u32) {
        self.core = self.core_of(thread);
        self.clocks.begin(thread, self.core);
    }

    /// The running thread executes instructions, among them those that access memory.
    pub fn execute(&mut self, instructions: u64) {
        self.clocks.execute(instructions);
    }

    /// The running thread enters the kernel.
    pub fn enter_kernel(&mut self) {
        self.clocks.pass(|os| os.syscall.max(1));
    }

    /// The running thread enters the kernel to wait on a futex.
    pub fn enter_futex_wait(&mut self) {
        self.clocks.pass(|os| os.syscall + os.futex_wait);
    }

    /// The running thread enters the kernel to make a thread.
    pub fn enter_kernel_to_spawn(&mut self) {
        self.clocks.pass(|os| os.spawn);
    }

    /// The slice of a thread, which lasts for at least `least` cycles, ends.
    pub fn end(&mut self, thread: u32, least: u64) {
        self.clocks.end(thread, self.core, least);
    }

    /// The time, in cycles, at which a thread can run.
    #[must_use]
    pub fn time_of(&self, thread: u32) -> u64 {
        self.clocks.of(thread, self.core_of(thread))
    }

    /// The running thread's time, in cycles.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.clocks.now()
    }

    /// The end of a thread's last slice, in cycles.
    #[must_use]
    pub fn ran_until(&self, thread: u32) -> u64 {
        self.clocks.ran_until(thread)
    }

    /// The running thread makes thread number `thread`, which may run on `cpus`, or on all cores if `cpus` is empty.
    ///
    /// ```
    /// # use manycore_chip::{config::Config, guest::Warmth};
    /// let mut warmth = Warmth::new(&Config::preset("dahu")?)?;
    /// warmth.spawn(0, &[]);
    /// warmth.spawn(1, &[5]);
    /// assert_eq!((warmth.core_of(0), warmth.core_of(1)), (0, 5));
    /// // It sleeps, and wakes up on the same core.
    /// warmth.begin(1);
    /// warmth.rest(1);
    /// warmth.end(1, 0);
    /// warmth.begin(0);
    /// warmth.wake(1);
    /// assert_eq!(warmth.core_of(1), 5);
    /// assert!(warmth.time_of(1) > warmth.time_of(0));
    /// warmth.confine(1, &[6]);
    /// assert_eq!(warmth.core_of(1), 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn spawn(&mut self, thread: u32, cpus: &[usize]) {
        let is_idle = self.seats.spawn(thread, cpus, self.core);
        let core = self.core_of(thread);
        self.clocks.placed(thread, core, core, is_idle);
    }

    /// The running thread falls asleep or ends.
    ///
    /// ```
    /// # use manycore_chip::{config::Config, guest::Warmth};
    /// let mut warmth = Warmth::new(&Config::preset("dahu")?)?;
    /// warmth.spawn(0, &[]);
    /// warmth.begin(0);
    /// warmth.rest(0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rest(&mut self, thread: u32) {
        self.seats.pass_until(self.clocks.now());
        self.seats.rest(thread);
    }

    /// The running thread wakes a sleeper.
    pub fn wake(&mut self, thread: u32) {
        self.clocks.pass(|os| os.futex_wake);
        self.wake_late(thread);
    }

    /// The time of a thread's sleep is over.
    pub fn wake_late(&mut self, thread: u32) {
        let from = self.core_of(thread);
        let is_idle = self.seats.wake(thread, self.core);
        let core = self.core_of(thread);
        self.clocks.placed(thread, from, core, is_idle);
    }

    /// From now on, a thread may run on `cpus`, or on all cores if `cpus` is empty.
    ///
    /// ```
    /// # use manycore_chip::{config::Config, guest::Warmth};
    /// let mut warmth = Warmth::new(&Config::preset("dahu")?)?;
    /// warmth.spawn(0, &[]);
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
    /// warmth.spawn(0, &[]);
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
