//! Calls of the kernel: their time, futexes, and the fence on all cores.

use crate::account::Activity;
use crate::engine::agenda::Event;
use crate::engine::pace::Pace;
use crate::engine::thread::Wait;
use crate::engine::{Engine, LONGEST, Reply};
use crate::os::ThreadId;

impl Engine {
    /// Charges `cycles` of the kernel, at the core's frequency.
    pub(crate) fn kernel(&mut self, core: u32, activity: Activity, cycles: u64) {
        let port = &mut self.ports[core as usize];
        let cycles = Pace::slow(&mut self.pace, port, cycles);
        let from = port.clock;
        port.pass_until(activity, from + cycles);
        let to = port.clock;
        self.record(core, activity, from, to);
    }

    /// Enters the kernel. This takes at least a cycle, so that a loop of system calls always advances time.
    pub(crate) fn enter_kernel(&mut self, core: u32) {
        self.kernel(core, Activity::Futex, self.config.os.syscall.max(1));
    }

    pub(crate) fn enter_kernel_to_yield(&mut self, core: u32) {
        self.kernel(core, Activity::Switch, self.config.os.syscall.max(1));
    }

    pub(crate) fn enter_kernel_to_spawn(&mut self, core: u32) {
        self.kernel(core, Activity::Switch, self.config.os.spawn);
    }

    /// Continues a kernel call that began before the run.
    pub(crate) fn go_on_in_kernel(&mut self, core: u32, cycles: u64) {
        self.kernel(core, Activity::Futex, cycles.min(LONGEST));
        self.set_horizon(core);
    }

    pub(crate) fn enter_futex_wait(&mut self, core: u32) {
        let os = &self.config.os;
        self.kernel(core, Activity::Futex, os.syscall + os.futex_wait);
    }

    /// Sleeps on a futex. The caller has compared the word at the present time, and must suspend. `timeout` is in
    /// cycles.
    pub(crate) fn futex_wait(&mut self, core: u32, host: usize, timeout: Option<u64>) {
        let address = self.addresses.simulated(host);
        let port = &self.ports[core as usize];
        let (Some(thread), now) = (port.thread, port.clock) else {
            return;
        };
        let wait = self.sleeps((core, thread), address, now, timeout);
        self.block(core, wait);
    }

    /// Adds a thread of `core` to the sleepers at `address`. Returns the thread's `Wait`.
    pub(crate) fn sleeps(
        &mut self,
        (core, thread): (u32, ThreadId),
        address: u64,
        now: u64,
        timeout: Option<u64>,
    ) -> Wait {
        self.futexes.wait(address, thread);
        let this = &mut self.threads[thread as usize];
        this.reply = Reply::default();
        let wait = this.wait;
        if let Some(cycles) = timeout {
            let end = now.saturating_add(cycles);
            let at = end.saturating_add(self.config.os.timer_slack);
            let at = at.max(now + self.lookahead);
            self.agenda.plan(at, core, Event::Timeout { thread, wait });
        }
        Wait::Futex { address }
    }

    /// Wakes up to `count` sleepers. Returns the number of woken sleepers.
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

    /// Executes a fence on this core, and on all other cores whose threads `counts` accepts: interrupts these cores one
    /// after another, and waits for the last.
    pub(crate) fn fence_all(&mut self, core: u32, counts: impl Fn(ThreadId) -> bool) {
        let os = &self.config.os;
        let from = self.ports[core as usize].clock + self.lookahead;
        let busy =
            |&other: &u32| other != core && self.ports[other as usize].thread.is_some_and(&counts);
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
}
