//! Tracks, outside of simulated time, which core each thread is on.

use crate::config::Config;
use crate::core_set::CoreSet;
use crate::os::{Placement, Scheduler, ThreadId};

/// The machine's scheduler with the threads that it has placed on cores.
///
/// A core may have several threads. The scheduler counts one of them as running and the others as waiting, but outside
/// of simulated time all of them run.
pub(super) struct Seats {
    scheduler: Scheduler,
    cores: u32,
    /// The time in cycles. It never decreases.
    now: u64,
}

impl Seats {
    pub(super) fn new(machine: &Config) -> Self {
        Self {
            scheduler: Scheduler::new(&machine.os, machine.cores, machine.group_cores)
                .with_siblings(machine.threads_per_core),
            cores: machine.cores,
            now: 0,
        }
    }

    pub(super) fn pass_until(&mut self, now: u64) {
        self.now = self.now.max(now);
    }

    pub(super) fn core_of(&self, thread: ThreadId) -> u32 {
        self.scheduler.core_of(thread)
    }

    /// Places a new thread, which a thread on `core` made. Returns whether the thread has its core to itself.
    pub(super) fn spawn(&mut self, thread: ThreadId, cpus: &[usize], core: u32) -> bool {
        let affinity = self.affinity(cpus);
        let placement = self.scheduler.spawn(thread, affinity, core);
        self.placed(placement);
        placement.idle
    }

    pub(super) fn rest(&mut self, thread: ThreadId) {
        let core = self.scheduler.rest(self.now, thread);
        self.fill(core);
    }

    /// Places a woken thread. Returns whether the thread has its core to itself.
    pub(super) fn wake(&mut self, thread: ThreadId, waker: u32) -> bool {
        let placement = self.scheduler.wake(thread, waker);
        self.placed(placement);
        placement.idle
    }

    pub(super) fn confine(&mut self, thread: ThreadId, cpus: &[usize]) {
        let affinity = self.affinity(cpus);
        if let Some(moved) = self.scheduler.set_affinity(self.now, thread, affinity) {
            self.fill(moved.from);
            self.placed(moved.to);
        }
    }

    fn placed(&mut self, placement: Placement) {
        if placement.idle {
            self.fill(placement.core);
        }
    }

    /// If the core is idle, gives it a waiting thread.
    fn fill(&mut self, core: u32) {
        if self.scheduler.running(core).is_none() {
            let _ = self.scheduler.pick(self.now, core);
        }
    }

    /// The cores of `cpus` that the machine has. All cores if the machine has none of them.
    fn affinity(&self, cpus: &[usize]) -> CoreSet {
        let there = cpus.iter().filter(|&&cpu| cpu < self.cores as usize);
        let set: CoreSet = there.map(|&cpu| cpu as u32).collect();
        match set.is_empty() {
            true => CoreSet::below(self.cores),
            false => set,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_where_the_scheduler_puts_them() {
        let machine = Config::preset("e5-2640x2").expect("the preset is there");
        let mut seats = Seats::new(&machine);
        seats.spawn(0, &[], 0);
        for thread in 1..16 {
            seats.spawn(thread, &[], 0);
        }
        let mut cores: Vec<u32> = (0..16).map(|thread| seats.core_of(thread)).collect();
        // The second thread is in the other group, which has more idle cores.
        assert_eq!((cores[0], cores[1] / 8), (0, 1));
        cores.sort_unstable();
        assert_eq!(cores, (0..16).collect::<Vec<_>>());
        // Thread 16 waits for a core, and gets the first core that becomes idle.
        seats.spawn(16, &[], 0);
        let left = seats.core_of(5);
        seats.pass_until(10 * machine.os.hot);
        seats.rest(5);
        assert_eq!(seats.core_of(16), left);
        // If no core is idle, a woken sleeper shares a core.
        seats.wake(5, 0);
        assert!(seats.core_of(5) < 16);
        seats.confine(5, &[3]);
        assert_eq!(seats.core_of(5), 3);
        seats.rest(5);
        seats.rest(0);
        seats.wake(0, 3);
        assert_eq!(seats.core_of(0), 0);
    }
}
