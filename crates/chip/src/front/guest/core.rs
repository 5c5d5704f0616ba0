//! What a guest asks of the core that it runs on.

use super::machine::{Guest, GuestBody};
use crate::account::Activity;
use crate::config::Config;
use crate::engine::{Asked, Engine};
use crate::memory::{Operation, Width, Word};
use crate::network::Channel;
use crate::os::ThreadId;
use manycore_platform::{Delivery, Filter, Message};
use std::num::NonZeroU32;

/// The core that a guest runs on, while it runs.
///
/// Where a method says that the guest must suspend, it returns
/// [`State::Suspended`](super::State::Suspended) from [`Guest::resume`] at once. It is resumed
/// when it may go on, perhaps on another core.
pub struct Core<'a> {
    engine: &'a mut Engine,
    core: u32,
}

/// What became of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Done: the word before.
    Done(u64),
    /// The guest suspends; when it is resumed, [`Core::reply`] has the answer.
    Wait,
    /// The guest suspends, and asks again when it is resumed: others come first.
    Again,
}

/// A guest's thread, as others name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuestThread(ThreadId);

impl<'a> Core<'a> {
    pub(super) fn new(engine: &'a mut Engine, core: u32) -> Self {
        Self { engine, core }
    }

    /// One access to the word at `address`, which is at `word` in the host.
    ///
    /// # Safety
    ///
    /// `word` is valid for reads and writes of `width` and aligned to it until the run is over,
    /// and no other thread of the host uses it.
    #[inline(always)]
    pub unsafe fn access(
        &mut self,
        address: u64,
        word: *mut u8,
        width: Width,
        operation: Operation,
    ) -> Answer {
        // SAFETY: the caller's.
        let word = unsafe { Word::new(word, width) };
        match self
            .engine
            .hit(self.core, address as usize, operation, word)
        {
            Some(value) => Answer::Done(value),
            None => self.access_slowly(address, operation, word),
        }
    }

    #[inline(never)]
    fn access_slowly(&mut self, address: u64, operation: Operation, word: Word) -> Answer {
        let line = self.engine.line_of(address as usize);
        match self.engine.access(self.core, line, operation, word) {
            Asked::Done(value) => Answer::Done(value),
            Asked::Suspend => Answer::Wait,
            Asked::Again => Answer::Again,
        }
    }

    /// The answer that the guest waited for: the word before, and whether a conditional store
    /// was done.
    pub fn reply(&mut self) -> (u64, bool) {
        self.engine.reply(self.core)
    }

    /// So many instructions that accessed nothing; what is left of a cycle stays in `rest`.
    #[inline]
    pub fn execute(&mut self, instructions: u32, rest: &mut u64) {
        self.engine.execute(self.core, instructions, rest);
    }

    /// Whether the guest has got as far as others allow: it must suspend, and may go on when it
    /// is resumed. To be asked after [`execute`](Self::execute), now and then.
    #[inline]
    pub fn must_pause(&mut self) -> bool {
        let port = &self.engine.ports[self.core as usize];
        port.clock > port.horizon && self.engine.others_interrupt(self.core)
    }

    /// Whether the guest must suspend, and ask again, before it does something that others
    /// notice at once.
    pub fn must_wait(&mut self) -> bool {
        self.engine.must_wait(self.core)
    }

    /// A spin loop's hint: one period goes by, with the look that follows.
    pub fn relax(&mut self) {
        let config = &self.engine.config;
        let cycles = config.core.spin_period.saturating_sub(config.l1.latency);
        self.engine.ports[self.core as usize].pass(Activity::Spin, cycles.max(1));
    }

    /// Spins on the word at `address`, which is as the guest has read it, until its line is
    /// taken or `cycles` have gone by: the guest must suspend. `false` if the core does not hold
    /// the line.
    pub fn watch(&mut self, address: u64, cycles: Option<u64>) -> bool {
        let clock = self.clock();
        let until = cycles.map_or(u64::MAX, |cycles| clock.saturating_add(cycles));
        self.engine.spin(self.core, address, until)
    }

    /// Enters the kernel.
    pub fn enter_kernel(&mut self) {
        self.engine.enter_kernel(self.core);
    }

    /// Enters the kernel to wait on a futex.
    pub fn enter_futex_wait(&mut self) {
        self.engine.enter_futex_wait(self.core);
    }

    /// Enters the kernel to make a thread.
    pub fn enter_kernel_to_spawn(&mut self) {
        self.engine.enter_kernel_to_spawn(self.core);
    }

    /// Sleeps on the futex at `address` for at most so many cycles; the guest has compared the
    /// word in order ([`must_wait`](Self::must_wait)) and suspends.
    pub fn futex_wait(&mut self, address: u64, cycles: Option<u64>) {
        self.engine.futex_wait(self.core, address as usize, cycles);
    }

    /// Whether the latest sleep on a futex ended by its time.
    pub fn timed_out(&mut self) -> bool {
        self.reply().0 == 1
    }

    /// Wakes up to `count` threads that sleep at `address`; how many.
    pub fn futex_wake(&mut self, address: u64, count: u32) -> usize {
        self.engine.futex_wake(self.core, address as usize, count)
    }

    /// Makes a thread that may run on `cpus` (none: on all).
    ///
    /// # Errors
    ///
    /// A core that the machine does not have.
    pub fn spawn(
        &mut self,
        name: String,
        guest: Box<dyn Guest>,
        cpus: &[usize],
    ) -> Result<GuestThread, usize> {
        let body = Box::new(GuestBody(guest));
        self.engine
            .spawn(self.core, name, body, cpus)
            .map(GuestThread)
    }

    /// The thread that runs here.
    ///
    /// # Panics
    ///
    /// Never: a guest that asks runs on a core.
    #[must_use]
    pub fn this_thread(&self) -> GuestThread {
        let thread = self.engine.ports[self.core as usize].thread;
        GuestThread(thread.expect("a thread asks, so one runs"))
    }

    /// Waits for a thread to end: the guest suspends if `true`; the thread has ended if `false`.
    pub fn join(&mut self, thread: GuestThread) -> bool {
        self.engine.join(self.core, thread.0)
    }

    /// Where a thread may run from now on (nowhere: on all cores).
    ///
    /// # Errors
    ///
    /// A core that the machine does not have.
    pub fn set_affinity(&mut self, thread: GuestThread, cpus: &[usize]) -> Result<(), usize> {
        self.engine.set_affinity(self.core, thread.0, cpus)
    }

    /// Lets other threads of the core run: the guest suspends.
    pub fn yield_now(&mut self) {
        self.engine.yield_now(self.core);
    }

    /// This core's number.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.core
    }

    /// Cycles since the start of the run.
    #[must_use]
    #[inline]
    pub fn clock(&self) -> u64 {
        self.engine.ports[self.core as usize].clock
    }

    /// Cycles that all cores together have not been idle.
    #[must_use]
    pub fn cpu_time(&self) -> u64 {
        self.engine.cpu_time(self.core)
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &Config {
        &self.engine.config
    }

    /// A channel of the optical network; `None` if the machine has none.
    pub fn create_channel(&mut self) -> Option<Channel> {
        self.engine.create_channel()
    }

    /// Subscribes this core to a channel, or to the count of its messages.
    pub fn open_port(&mut self, channel: Channel, every: Option<NonZeroU32>) {
        self.engine.open_port(self.core, channel, every);
    }

    /// Unsubscribes this core.
    pub fn close_port(&mut self, channel: Channel) {
        self.engine.close_port(self.core, channel);
    }

    /// What this core receives from now on.
    pub fn set_filter(&mut self, filter: Filter) {
        self.engine.set_filter(self.core, filter);
    }

    /// Broadcasts a message.
    pub fn send(&mut self, channel: Channel, message: Message) {
        self.engine.send(self.core, channel, message);
    }

    /// The next message of a channel in this core's buffer.
    pub fn receive(&mut self, channel: Channel) -> Option<Delivery> {
        self.engine.receive(self.core, channel)
    }

    /// Waits until a message may be there: the guest suspends, and looks again.
    pub fn listen(&mut self, channel: Channel) {
        self.engine.listen(self.core, channel);
    }
}
