//! Carries out the decisions of the scheduler (`os`): starts, preempts, wakes and moves threads, and charges cores for
//! the time that this takes.

use super::Engine;
use super::agenda::Event;
use super::pace::Pace;
use super::port::Mode;
use super::thread::{LATE, State, Wait};
use crate::account::Activity;
use crate::core_set::CoreSet;
use crate::os::{Placement, ThreadId};

impl Engine {
    /// Gives a core without a thread the next thread of its queue, or makes the core idle.
    pub(super) fn dispatch(&mut self, core: u32) {
        let now = self.ports[core as usize].clock;
        let picked = self.scheduler.pick(now, core);
        let port = &mut self.ports[core as usize];
        (port.displaced, port.leaves) = (false, false);
        let Some(picked) = picked else {
            port.thread = None;
            port.mode = Mode::Idle;
            return;
        };
        let os = &self.config.os;
        let from = port.clock;
        let thread = &mut self.threads[picked.thread as usize];
        let (cost, late) = match std::mem::take(&mut thread.ran_before) {
            true => (0, 0),
            false => {
                let migration = if picked.migrated { os.migration } else { 0 };
                (os.switch + migration, self.memory.perturbation.draw())
            }
        };
        // The delay is at most `perturb`, also on a slow core.
        let cost = Pace::slow(&mut self.pace, port, cost) + late;
        port.pass_until(Activity::Switch, from + cost);
        port.charged_until = port.clock;
        port.computed = port.clock..port.clock;
        port.thread = Some(picked.thread);
        port.mode = Mode::Running;
        if thread.owed > 0 {
            port.compute(thread.owed);
            thread.owed = 0;
        }
        self.agenda.go_on(port);
        self.record(core, Activity::Switch, from, from + cost);
        self.arm_ticks();
    }

    /// Makes an idle core look for work.
    pub(super) fn wake_core(&mut self, core: u32, at: u64) {
        let port = &mut self.ports[core as usize];
        port.waking = false;
        if port.mode == Mode::Idle {
            self.end_idling(core, at);
            self.dispatch(core);
        }
    }

    fn end_idling(&mut self, core: u32, at: u64) {
        let port = &mut self.ports[core as usize];
        let from = port.clock;
        port.pass_until(Activity::Idle, at.max(from));
        let to = port.clock;
        self.record(core, Activity::Idle, from, to);
    }

    /// Charges the running thread for its time on the core.
    fn charge(&mut self, core: u32) {
        let port = &mut self.ports[core as usize];
        let ran = port.clock.saturating_sub(port.charged_until);
        port.charged_until = port.charged_until.max(port.clock);
        if port.thread.is_some() {
            self.scheduler.ran(core, ran);
        }
    }

    /// Charges the running thread for its time on the core until `at`, if there is such a thread. A
    /// thread that spins has used the core until `at`, although its clock stands still.
    pub(super) fn charge_until(&mut self, core: u32, at: u64) {
        let port = &mut self.ports[core as usize];
        if port.thread.is_none() {
            return;
        }
        let spins = matches!(port.mode, Mode::Spinning { .. } | Mode::Listening { .. });
        let until = if spins { at } else { port.clock.min(at) };
        let ran = until.saturating_sub(port.charged_until);
        port.charged_until += ran;
        self.scheduler.ran(core, ran);
    }

    /// Puts the running thread back into the run queue, at the core's clock.
    pub(super) fn displace_now(&mut self, core: u32) {
        self.charge(core);
        let now = self.ports[core as usize].clock;
        self.scheduler.requeue(now, core);
        let thread = self.ports[core as usize].thread.take();
        if let Some(thread) = thread {
            self.threads[thread as usize].preemptions += 1;
            self.move_away(thread, now);
        }
        self.dispatch(core);
    }

    /// Moves a thread that waits for a core on which it may not run.
    fn move_away(&mut self, thread: ThreadId, now: u64) {
        let affinity = self.scheduler.affinity(thread);
        if !affinity.contains(self.scheduler.core_of(thread)) {
            let affinity = affinity.clone();
            if let Some(moved) = self.scheduler.set_affinity(now, thread, affinity) {
                self.placed(moved.to, now);
            }
        }
    }

    /// Whether `core` runs the thread, although the thread's affinity has changed.
    pub(super) fn is_forbidden(&self, core: u32, thread: ThreadId) -> bool {
        self.ports[core as usize].thread == Some(thread)
            && !self.scheduler.affinity(thread).contains(core)
    }

    pub(crate) fn preemptions(&self, core: u32) -> u64 {
        let thread = self.ports[core as usize].thread;
        thread.map_or(0, |thread| self.threads[thread as usize].preemptions)
    }

    /// Whether the running thread may not run on `core`. Then another thread has the core from now on, and the caller
    /// must suspend.
    pub(crate) fn must_leave(&mut self, core: u32) -> bool {
        let thread = self.ports[core as usize].thread;
        let leaves = thread.is_some_and(|thread| self.is_forbidden(core, thread));
        if leaves {
            self.displace_now(core);
        }
        leaves
    }

    /// Preempts the running thread at `at`, or later as soon as it can be interrupted. An access
    /// cannot be interrupted. With `leaves`, the thread is preempted only if it still may not run on the core then.
    pub(super) fn displace(&mut self, core: u32, at: u64, leaves: bool) {
        let port = &mut self.ports[core as usize];
        let Some(thread) = port.thread else { return };
        match port.mode {
            Mode::Idle => return,
            Mode::Missing => return port.displace(leaves),
            Mode::Spinning { .. } => self.stop_spinning(core, at),
            Mode::Listening { .. } => self.stop_listening(core, at),
            Mode::Running if port.computes_beyond(at) => {
                if port.computed.start > at {
                    // Before the start of the computation, an access or a switch is under way.
                    let at = port.computed.start;
                    let event = match leaves {
                        true => Event::Leave { thread },
                        false => Event::Displace { thread },
                    };
                    self.agenda.plan(at, core, event);
                    return;
                }
                self.threads[thread as usize].owed += port.take_back(at);
            }
            Mode::Running => return port.displace(leaves),
        }
        let port = &mut self.ports[core as usize];
        port.plan = port.plan.wrapping_add(1);
        self.displace_now(core);
    }

    pub(super) fn tick(&mut self, core: u32, at: u64) {
        self.ports[core as usize].tick_armed = false;
        let port = &mut self.ports[core as usize];
        if port.thread.is_some() {
            self.charge_until(core, at);
            if self.config.os.tick_cost > 0 {
                self.interrupt(core, at, self.config.os.tick_cost);
            }
            if self.scheduler.tick(core) {
                self.displace(core, at, false);
            }
        }
        let balanced = self.ports[core as usize].balanced;
        if self.scheduler.next_balance(balanced, core) <= at {
            self.balance(core, balanced, at);
        }
        self.arm_ticks();
    }

    fn balance(&mut self, core: u32, since: u64, at: u64) {
        self.ports[core as usize].balanced = at;
        if self.scheduler.balance(since, at, core).is_some()
            && self.ports[core as usize].mode == Mode::Idle
        {
            self.end_idling(core, at);
            self.dispatch(core);
        }
    }

    /// Handles an interrupt of `core` by another core. The interrupt takes its time from the running thread.
    pub(super) fn interrupted(&mut self, core: u32, at: u64) {
        self.interrupt(core, at, self.config.os.interrupt);
    }

    /// Takes the `cost` of an interrupt from the running thread, if there is one.
    fn interrupt(&mut self, core: u32, at: u64, cost: u64) {
        let cost = Pace::slow(&mut self.pace, &self.ports[core as usize], cost);
        match self.ports[core as usize].mode {
            Mode::Idle => return,
            // Cores take interrupts between two accesses.
            Mode::Missing => {
                self.ports[core as usize].interrupted += cost;
                return;
            }
            Mode::Spinning { .. } => self.stop_spinning(core, at),
            Mode::Listening { .. } => self.stop_listening(core, at),
            Mode::Running => {}
        }
        let port = &mut self.ports[core as usize];
        if port.computes_beyond(at) {
            port.interrupt(at, cost);
        } else {
            port.pass_until(Activity::Switch, port.clock + cost);
        }
        self.agenda.go_on(port);
    }

    /// Starts the ticks of all cores, if a thread waits for a core. Otherwise no core ticks.
    fn arm_ticks(&mut self) {
        if !self.scheduler.is_crowded() {
            return;
        }
        let tick = self.config.os.tick.max(1);
        let cores = u64::from(self.config.cores);
        for at in 0..self.ports.len() {
            let port = &mut self.ports[at];
            if port.tick_armed {
                continue;
            }
            port.tick_armed = true;
            // The cores' interrupts are spread evenly over the tick.
            let phase = tick * at as u64 / cores;
            let now = self.agenda.now();
            let next = (now.saturating_sub(phase) / tick + 1) * tick + phase;
            self.agenda.plan(next, at as u32, Event::Tick);
        }
    }

    /// Wakes or preempts the core on which the scheduler has placed a thread.
    pub(super) fn placed(&mut self, placement: Placement, at: u64) {
        let core = placement.core;
        let os = &self.config.os;
        if placement.idle {
            let port = &mut self.ports[core as usize];
            if !port.waking {
                port.waking = true;
                let deep = at.saturating_sub(port.clock) >= os.deep_after;
                let latency = os.wake_latency + if deep { os.deep_latency } else { 0 };
                let latency = latency.max(self.lookahead);
                self.agenda.plan(at + latency, core, Event::Wake);
            }
        } else {
            if placement.preempts {
                let latency = os.syscall.max(self.lookahead);
                if let Some(thread) = self.scheduler.running(core) {
                    self.agenda
                        .plan(at + latency, core, Event::Displace { thread });
                }
            }
            self.arm_ticks();
        }
    }

    pub(super) fn wake_thread(&mut self, thread: ThreadId, waker: u32, at: u64) {
        let this = &mut self.threads[thread as usize];
        this.state = State::Runnable;
        this.wait = this.wait.wrapping_add(1);
        if self.spans.is_on() {
            self.spans.end(thread, at);
        }
        self.charge_until(self.scheduler.wake_core(thread, waker), at);
        let placement = self.scheduler.wake(thread, waker);
        self.placed(placement, at);
    }

    /// Blocks the thread on `core`. The core takes another thread, and the caller must suspend.
    pub(super) fn block(&mut self, core: u32, wait: Wait) {
        self.charge(core);
        let port = &mut self.ports[core as usize];
        let now = port.clock;
        if let Some(thread) = port.thread.take() {
            self.threads[thread as usize].state = State::Blocked(wait);
            self.waits(thread, wait, now);
        }
        self.scheduler.block(now, core);
        self.dispatch(core);
    }

    /// Records that the code of the thread on `core` has returned. The thread ends when the present reaches the core's
    /// clock.
    pub(crate) fn returned(&mut self, core: u32) {
        let port = &mut self.ports[core as usize];
        if let Some(thread) = port.thread {
            self.threads[thread as usize].returned = true;
        }
        self.agenda.go_on(port);
    }

    pub(super) fn end_thread(&mut self, core: u32) {
        self.charge(core);
        let port = &mut self.ports[core as usize];
        let now = port.clock;
        let Some(thread) = port.thread.take() else {
            return;
        };
        self.scheduler.exit(now, core);
        let this = &mut self.threads[thread as usize];
        this.state = State::Ended;
        for joiner in std::mem::take(&mut this.joiners) {
            self.wake_thread(joiner, core, now);
        }
        self.dispatch(core);
    }

    pub(super) fn timeout(&mut self, thread: ThreadId, wait: u32, at: u64) {
        let this = &self.threads[thread as usize];
        if this.wait != wait {
            return;
        }
        if let State::Blocked(Wait::Futex { address }) = this.state {
            self.futexes.remove(address, thread);
            // This value tells a guest that no wake-up ended its sleep.
            self.threads[thread as usize].reply.value = LATE;
            // The timer's interrupt comes to the core on which the thread fell asleep.
            self.wake_thread(thread, self.scheduler.core_of(thread), at);
        }
    }

    /// Lets other threads of the core run. The caller must suspend.
    pub(crate) fn yield_now(&mut self, core: u32) {
        self.charge(core);
        let port = &mut self.ports[core as usize];
        let now = port.clock;
        if self.scheduler.runnable(core) <= 1 {
            self.agenda.go_on(port);
            return;
        }
        self.scheduler.yield_now(now, core);
        if let Some(thread) = self.ports[core as usize].thread.take() {
            self.move_away(thread, now);
        }
        self.dispatch(core);
    }

    /// From now on, the thread may run only on `affinity`. If the thread runs on another core, it moves as soon as it
    /// can be interrupted, unless a later change allows that core again.
    pub(super) fn confine(&mut self, thread: ThreadId, affinity: CoreSet, at: u64) {
        let runs_on = self.ports.iter().find(|port| port.thread == Some(thread));
        let Some(core) = runs_on.map(|port| port.core) else {
            if let Some(moved) = self.scheduler.set_affinity(at, thread, affinity) {
                self.placed(moved.to, at);
            }
            return;
        };
        let was_forbidden = self.is_forbidden(core, thread);
        let allowed = affinity.contains(core);
        self.scheduler.allow(thread, affinity);
        match (allowed, was_forbidden) {
            (false, _) => {
                let at = at + self.lookahead;
                self.agenda.plan(at, core, Event::Leave { thread });
            }
            // The thread was to move after its access.
            (true, true) => self.ports[core as usize].leaves = false,
            (true, false) => {}
        }
    }
}
