//! What a core asks of the machine. All calls are for the thread that runs on
//! `core` now, at the core's clock. Where an answer is not there at once the
//! thread must suspend; it is resumed, perhaps on another core, when it is.

use super::agenda::Event;
use super::overlap::Overlap;
use super::port::{Mode, Port};
use super::thread::{Body, Reply, State as ThreadState, Thread, Wait};
use super::{Engine, LONGEST};
use crate::account::Activity;
use crate::core_set::CoreSet;
use crate::memory::{Lookup, Operation, Request, State, Word};
use crate::os::ThreadId;

/// What became of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Done, and accounted for: the word before.
    Done(u64),
    /// Suspend; the reply is the thread's when it is resumed.
    Suspend,
    /// Suspend, and ask again: others come first.
    Again,
}

impl Engine {
    /// An access that the core's L1 serves before anybody else could interfere:
    /// the path of nearly all. Reads the port and one set of the L1's tags.
    #[inline(always)]
    pub(crate) fn hit(
        &mut self,
        core: u32,
        host: usize,
        operation: Operation,
        word: Word,
    ) -> Option<u64> {
        let port = &mut self.ports[core as usize];
        if port.clock >= port.horizon {
            return None;
        }
        let line = (self.addresses.simulated(host) >> self.line_shift) as u32;
        let settled = |overlap: &Overlap| overlap.is_settled(port.tile, line, operation);
        if !self.overlap.as_ref().is_none_or(settled) {
            return None;
        }
        let tile = &mut self.memory.tiles[port.tile as usize];
        let Some(state) = tile.l1.touch(line) else {
            return self.hit_l2(core, line, operation, word);
        };
        if !operation.reads_only() {
            if state == State::Shared || self.write_through || tile.is_watched(line) {
                return None;
            }
            tile.l1.dirty_first(line);
            self.lines.wrote(line);
            port.pass(Activity::Atomic, operation.execution(&self.config.atomics));
        }
        port.pass(Activity::L1, self.config.l1.latency);
        Some(word.apply(operation))
    }

    /// The same for the L2: for the plain accesses of a walk through memory. A
    /// read-modify-write that is not in the L1 is most likely in no cache of
    /// this tile, and should not look twice.
    #[inline(never)]
    fn hit_l2(&mut self, core: u32, line: u32, operation: Operation, word: Word) -> Option<u64> {
        let port = &mut self.ports[core as usize];
        let tile = &mut self.memory.tiles[port.tile as usize];
        let write = !operation.reads_only();
        if operation.is_read_modify_write() || write && tile.is_watched(line) {
            return None;
        }
        let Lookup::L2(cycles) = tile.lookup(line, write).0 else {
            return None;
        };
        port.pass(Activity::L2, cycles);
        if write {
            self.lines.wrote(line);
        }
        Some(word.apply(operation))
    }

    /// One access to `line`.
    // Two front ends call it, each at one place: a call would cost as much as a hit.
    #[inline(always)]
    pub(crate) fn access(
        &mut self,
        core: u32,
        line: u32,
        operation: Operation,
        word: Word,
    ) -> Asked {
        if self.ports[core as usize].clock >= self.ports[core as usize].horizon
            && self.others_first(core, self.lookahead)
        {
            return Asked::Again;
        }
        if self.overlap.is_some()
            && let Some(asked) = self.meet_flights(core, line, operation)
        {
            return asked;
        }
        let write = !operation.reads_only();
        let (activity, cycles) = match self.memory.lookup(core, line, write) {
            Lookup::L1(cycles) => (Activity::L1, cycles),
            Lookup::L2(cycles) => (Activity::L2, cycles),
            Lookup::Miss => return self.miss(core, line, operation, word),
        };
        let port = &mut self.ports[core as usize];
        if write {
            self.lines.wrote(line);
        }
        port.pass(activity, cycles);
        port.pass(Activity::Atomic, operation.execution(&self.config.atomics));
        if self.overlap.is_some() {
            self.look_ahead(core, line, operation);
        }
        let port = &self.ports[core as usize];
        let at = port.clock;
        let value = word.apply(operation);
        if self.wake_disturbed(at) {
            self.set_horizon(core);
        }
        Asked::Done(value)
    }

    /// An access that the tile's caches do not have: its request leaves.
    #[inline(never)]
    fn miss(&mut self, core: u32, line: u32, operation: Operation, word: Word) -> Asked {
        if self.overlap.is_some()
            && let Some(asked) = self.buffer_store(core, line, operation)
        {
            return asked;
        }
        let clock = self.ports[core as usize].clock;
        let (at, stage) = self.memory.depart(core, line, clock);
        let port = &mut self.ports[core as usize];
        port.mode = Mode::Missing;
        port.request = Some(Request {
            core,
            line,
            stage,
            operation,
            word,
            arrived: at,
            awaited: true,
        });
        self.agenda.plan(at, core, Event::Arrive);
        if self.overlap.is_some() {
            self.look_ahead(core, line, operation);
        }
        Asked::Suspend
    }

    /// Whether others come before `core`, which may be `ahead` of other cores
    /// but of no event and of no sibling in its tile. If so it is planned to go on at its clock, and must
    /// suspend.
    fn others_first(&mut self, core: u32, ahead: u64) -> bool {
        let (time, other) = self.agenda.next_core(&self.ports);
        let event = self.agenda.next_event();
        let sibling = self.next_sibling(core);
        let port = &mut self.ports[core as usize];
        let me = (port.clock, core);
        let core_first = match ahead {
            0 => (time, other) < me,
            ahead => time.saturating_add(ahead) <= port.clock,
        };
        if core_first || sibling < me || event <= port.clock || port.clock > self.limit {
            self.agenda.go_on(port);
            return true;
        }
        if ahead == 0 {
            self.agenda.reach(port.clock);
        }
        self.set_horizon(core);
        false
    }

    /// Whether `core` must suspend before it does something that others
    /// notice at once, and then ask again.
    pub(crate) fn must_wait(&mut self, core: u32) -> bool {
        self.others_first(core, 0)
    }

    /// The kernel is entered for `cycles`.
    pub(crate) fn kernel(&mut self, core: u32, activity: Activity, cycles: u64) {
        let port = &mut self.ports[core as usize];
        let cycles = match &mut self.pace {
            None => cycles,
            Some(pace) => pace.slowed(port, cycles),
        };
        let from = port.clock;
        port.pass_until(activity, from + cycles);
        let to = port.clock;
        self.record(core, activity, from, to);
    }

    /// Sleeps on a futex; the caller has compared the word at this very time
    /// and suspends. `timeout` in cycles.
    pub(crate) fn futex_wait(&mut self, core: u32, host: usize, timeout: Option<u64>) {
        let address = self.addresses.simulated(host);
        let port = &self.ports[core as usize];
        let Some(thread) = port.thread else { return };
        self.futexes.wait(address, thread);
        self.threads[thread as usize].reply = Reply::default();
        if let Some(cycles) = timeout {
            let at = port
                .clock
                .saturating_add(cycles)
                .saturating_add(self.config.os.timer_slack);
            let wait = self.threads[thread as usize].wait;
            let at = at.max(port.clock + self.lookahead);
            self.agenda.plan(at, core, Event::Timeout { thread, wait });
        }
        self.block(core, Wait::Futex { address });
    }

    /// Wakes up to `count` sleepers; how many.
    pub(crate) fn futex_wake(&mut self, core: u32, host: usize, count: u32) -> usize {
        let address = self.addresses.simulated(host);
        let woken = self.futexes.wake(address, count);
        for &thread in &woken {
            self.kernel(core, Activity::Futex, self.config.os.futex_wake);
            let at = self.ports[core as usize].clock;
            self.wake_thread(thread, core, at);
        }
        self.set_horizon(core);
        woken.len()
    }

    /// Makes a thread that may run on `affinity` (empty: anywhere).
    ///
    /// # Errors
    ///
    /// A core that the machine does not have.
    pub(crate) fn spawn(
        &mut self,
        core: u32,
        name: String,
        body: Box<dyn Body>,
        cpus: &[usize],
    ) -> Result<ThreadId, usize> {
        let affinity = match self.affinity(cpus) {
            Ok(affinity) => affinity,
            Err(wrong) => {
                body.abandon();
                return Err(wrong);
            }
        };
        let thread = self.threads.len() as ThreadId;
        self.threads.push(Thread::new(name, body));
        let at = self.ports[core as usize].clock;
        let placement = self.scheduler.spawn(thread, affinity, core);
        self.placed(placement, at);
        self.set_horizon(core);
        Ok(thread)
    }

    /// The cores of a set, or all for an empty one.
    fn affinity(&self, cpus: &[usize]) -> Result<CoreSet, usize> {
        let cores = self.config.cores;
        match cpus.iter().find(|&&cpu| cpu >= cores as usize) {
            Some(&wrong) => Err(wrong),
            None if cpus.is_empty() => Ok(CoreSet::below(cores)),
            None => Ok(cpus.iter().map(|&cpu| cpu as u32).collect()),
        }
    }

    /// Where a thread may run from now on (empty: anywhere).
    ///
    /// # Errors
    ///
    /// A core that the machine does not have.
    pub(crate) fn set_affinity(
        &mut self,
        core: u32,
        thread: ThreadId,
        cpus: &[usize],
    ) -> Result<(), usize> {
        let affinity = self.affinity(cpus)?;
        let at = self.ports[core as usize].clock;
        self.confine(thread, affinity, at);
        self.set_horizon(core);
        Ok(())
    }

    /// Starts the program's main thread, on core 0 at time 0.
    pub(crate) fn start(&mut self, body: Box<dyn Body>) {
        let affinity = CoreSet::below(self.config.cores);
        self.threads.push(Thread::new("main".into(), body));
        self.scheduler.spawn(super::MAIN, affinity, 0);
        self.dispatch(0);
    }

    /// Waits for a thread to end; `false` if it has. The caller suspends if
    /// `true`.
    pub(crate) fn join(&mut self, core: u32, thread: ThreadId) -> bool {
        if self.threads[thread as usize].state == ThreadState::Ended {
            return false;
        }
        if let Some(me) = self.ports[core as usize].thread {
            self.threads[thread as usize].joiners.push(me);
        }
        self.block(core, Wait::Join(thread));
        true
    }

    /// The answer that the thread on `core` suspended for.
    pub(crate) fn reply(&mut self, core: u32) -> (u64, bool) {
        let thread = self.ports[core as usize].thread;
        let reply =
            thread.map_or_else(Reply::default, |thread| self.threads[thread as usize].reply);
        (reply.value, reply.stored)
    }

    /// Private work of so many instructions; whether the core may go on at once.
    /// If not, others may interrupt the work before it ends: the thread must ask
    /// [`others_interrupt`](Self::others_interrupt) before it does anything else.
    #[inline]
    pub(crate) fn compute(&mut self, core: u32, instructions: u64) -> bool {
        let cpi = self.cpi(core, instructions);
        let cycles = match instructions.checked_mul(cpi) {
            Some(product) => product.div_ceil(1024),
            None => {
                let cycles = u128::from(instructions) * u128::from(cpi);
                cycles.div_ceil(1024).min(LONGEST.into()) as u64
            }
        };
        let port = &mut self.ports[core as usize];
        port.compute(cycles);
        port.clock <= port.horizon
    }

    /// The same for a few instructions at a time: the part of a cycle that they leave over is
    /// in `rest`, in 1024ths.
    #[inline]
    pub(crate) fn execute(&mut self, core: u32, instructions: u32, rest: &mut u64) {
        let cycles = u64::from(instructions) * self.cpi(core, instructions.into()) + *rest;
        *rest = cycles % 1024;
        self.ports[core as usize].compute(cycles / 1024);
    }

    /// Cycles an instruction, in 1024ths, for a core that computes so many.
    #[inline]
    fn cpi(&mut self, core: u32, instructions: u64) -> u64 {
        match self.plain_cpi_1024 {
            Some(cpi) => cpi,
            None => self.varying_cpi_1024(core, instructions),
        }
    }

    /// Whether `core`, at the end of a computation, must suspend and ask again, so
    /// that ticks and other threads find it in the middle of the computation.
    pub(crate) fn others_interrupt(&mut self, core: u32) -> bool {
        self.others_first(core, self.lookahead)
    }

    /// Whether the run may go on where `core` has got to. Code that only
    /// computes or looks at the clock must ask, since it meets nobody.
    #[inline]
    pub(crate) fn is_within_limit(&self, core: u32) -> bool {
        self.ports[core as usize].clock <= self.limit
    }

    pub(crate) fn slot(&mut self, core: u32) -> *const () {
        let thread = self.ports[core as usize].thread;
        thread.map_or(std::ptr::null(), |thread| {
            self.threads[thread as usize].slot
        })
    }

    pub(crate) fn set_slot(&mut self, core: u32, value: *const ()) {
        if let Some(thread) = self.ports[core as usize].thread {
            self.threads[thread as usize].slot = value;
        }
    }

    pub(crate) fn enter_futex_wait(&mut self, core: u32) {
        let os = &self.config.os;
        self.kernel(core, Activity::Futex, os.syscall + os.futex_wait);
    }

    /// At least the one instruction, so that nobody calls for ever in no time.
    pub(crate) fn enter_kernel(&mut self, core: u32) {
        self.kernel(core, Activity::Futex, self.config.os.syscall.max(1));
    }

    /// A fence on all cores: each that runs another thread is interrupted, one
    /// after the other, and the last of them is waited for.
    pub(crate) fn fence_all(&mut self, core: u32) {
        let os = &self.config.os;
        let from = self.ports[core as usize].clock + self.lookahead;
        let busy = |&other: &u32| other != core && self.ports[other as usize].thread.is_some();
        let others: Vec<u32> = (0..self.config.cores).filter(busy).collect();
        let wait = if others.is_empty() { 0 } else { os.interrupt };
        let cycles = self.config.atomics.fence + os.ipi * others.len() as u64 + wait;
        for (sent, other) in (1..).zip(others) {
            let at = from + self.config.os.ipi * sent;
            self.agenda.plan(at, other, Event::Interrupt);
        }
        self.kernel(core, Activity::Futex, cycles);
        self.set_horizon(core);
    }

    pub(crate) fn enter_kernel_to_yield(&mut self, core: u32) {
        self.kernel(core, Activity::Switch, self.config.os.syscall.max(1));
    }

    pub(crate) fn enter_kernel_to_spawn(&mut self, core: u32) {
        self.kernel(core, Activity::Switch, self.config.os.spawn);
    }

    /// Cycles in which cores were not idle, up to the clock of `core`.
    pub(crate) fn cpu_time(&self, core: u32) -> u64 {
        let now = self.ports[core as usize].clock;
        let busy = |port: &Port| {
            // What a core waits for or spins on is charged when that ends.
            let waits = !matches!(port.mode, Mode::Idle | Mode::Running);
            let waiting = if waits {
                now.saturating_sub(port.clock)
            } else {
                0
            };
            port.spent.sum() - port.spent[Activity::Idle] + waiting
        };
        self.ports.iter().map(busy).sum()
    }

    /// The code of the thread that `core` is to run now.
    pub(crate) fn take_body(&mut self, core: u32) -> Option<(ThreadId, Box<dyn Body>)> {
        let thread = self.ports[core as usize].thread?;
        let body = self.threads[thread as usize].body.take()?;
        Some((thread, body))
    }

    pub(crate) fn put_body(&mut self, thread: ThreadId, body: Box<dyn Body>) {
        self.threads[thread as usize].body = Some(body);
    }
}
