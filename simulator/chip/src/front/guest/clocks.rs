//! Estimates when threads and cores run while caches are warmed: as on the machine, but without contention.

use crate::config::{Config, Os};
use crate::os::ThreadId;

/// The times of cores and threads, in cycles. One thread runs at a time: the thread that is behind all others, for a slice.
pub(super) struct Clocks {
    os: Os,
    /// Cycles of an instruction, in 1024ths.
    cpi_1024: u64,
    /// For each core, the end of its last slice.
    cores: Vec<u64>,
    /// For each core, the line of its last miss.
    missed: Vec<u32>,
    /// The number of lines that are on their way to a core at once if it reads one line after another.
    ahead: u64,
    /// For each thread, the earliest time at which it can run.
    threads: Vec<u64>,
    /// The time of the running thread, in 1024ths.
    now_1024: u64,
    began: u64,
}

impl Clocks {
    pub(super) fn new(machine: &Config) -> Self {
        Self {
            os: machine.os.clone(),
            cpi_1024: (machine.core.cpi * 1024.0).round() as u64,
            cores: vec![0; machine.cores as usize],
            missed: vec![u32::MAX; machine.cores as usize],
            ahead: match &machine.core.overlap {
                Some(overlap) if overlap.streams > 0 => {
                    overlap.lines.min(overlap.distance).max(1).into()
                }
                _ => 1,
            },
            threads: Vec::new(),
            now_1024: 0,
            began: 0,
        }
    }

    pub(super) fn now(&self) -> u64 {
        self.now_1024 / 1024
    }

    /// When a thread can run on its core.
    pub(super) fn of(&self, thread: ThreadId, core: u32) -> u64 {
        self.threads[thread as usize].max(self.cores[core as usize])
    }

    /// The end of a thread's last slice.
    pub(super) fn ran_until(&self, thread: ThreadId) -> u64 {
        self.threads[thread as usize]
    }

    /// A slice of a thread begins.
    pub(super) fn begin(&mut self, thread: ThreadId, core: u32) {
        self.began = self.of(thread, core);
        self.now_1024 = self.began * 1024;
    }

    pub(super) fn execute(&mut self, instructions: u64) {
        self.now_1024 += instructions * self.cpi_1024;
    }

    /// How long a core waits for an access that takes `cycles` outside of its tile. The core's prefetcher fetches lines that
    /// are read one after another.
    pub(super) fn misses(&mut self, core: u32, line: u32, write: bool, cycles: u64) -> u64 {
        if cycles == 0 {
            return 0;
        }
        let before = std::mem::replace(&mut self.missed[core as usize], line);
        let is_stream = !write && before.wrapping_add(1) == line;
        cycles / if is_stream { self.ahead } else { 1 }
    }

    /// Passes the time of an access in place of the time of an instruction.
    pub(super) fn access(&mut self, cycles: u64) {
        self.now_1024 += (cycles * 1024).saturating_sub(self.cpi_1024);
    }

    /// Passes time in the kernel.
    pub(super) fn pass(&mut self, cycles: impl FnOnce(&Os) -> u64) {
        self.now_1024 += cycles(&self.os) * 1024;
    }

    /// The slice of a thread ends. It has lasted for at least `least` cycles.
    pub(super) fn end(&mut self, thread: ThreadId, core: u32, least: u64) {
        let now = self.now().max(self.began + least);
        self.threads[thread as usize] = now;
        self.cores[core as usize] = now;
    }

    /// The running thread makes or wakes a thread, which was on core `from` and is now on core `core`. `is_idle` says whether
    /// the thread has that core to itself.
    pub(super) fn placed(&mut self, thread: ThreadId, from: u32, core: u32, is_idle: bool) {
        let now = self.now();
        let os = &self.os;
        let is_deep = now.saturating_sub(self.cores[core as usize]) >= os.deep_after;
        let latency = match (is_idle, is_deep) {
            (false, _) => 0,
            (true, false) => os.wake_latency,
            (true, true) => os.wake_latency + os.deep_latency,
        };
        let migration = if from == core { 0 } else { os.migration };
        let at = now + latency + os.switch + migration;
        let index = thread as usize;
        if self.threads.len() <= index {
            self.threads.resize(index + 1, 0);
        }
        self.threads[index] = self.threads[index].max(at);
    }
}
