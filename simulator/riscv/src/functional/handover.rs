//! The threads of a program that is handed over to another machine.

use super::Functional;
use crate::linux::{Task, Wake};
use manycore_chip::guest::{Before, Warmth};
use std::collections::BTreeMap;

/// A thread of a program that is handed over to another machine.
pub(crate) struct Resumed {
    pub(crate) task: Task,
    /// The thread's core. The thread has warmed the caches of this core.
    pub(crate) core: u32,
    pub(crate) before: Before,
    /// Why the thread's last sleep ended, if it has not run since.
    pub(crate) woken: Option<Wake>,
    /// How many nanoseconds the thread has run.
    pub(crate) used: u64,
}

impl Resumed {
    /// A program's main thread at its start.
    pub(crate) fn new(task: Task) -> Self {
        Self {
            task,
            core: 0,
            before: Before::Ran(0),
            woken: None,
            used: 0,
        }
    }
}

/// A program that is handed over to another machine.
pub(crate) struct Handover {
    /// The threads. The main thread is the first.
    pub(crate) threads: Vec<Resumed>,
    /// The clock of the first machine.
    pub(crate) clock: u64,
    /// The caches of the other machine, if they were warmed.
    pub(crate) warmth: Option<Warmth>,
}

impl Functional {
    /// Returns all threads, so that another machine can continue them.
    pub(super) fn hand_over(mut self) -> Handover {
        let ready = std::mem::take(&mut self.ready);
        let mut tasks: BTreeMap<u32, Task> = ready.into_iter().collect();
        tasks.append(&mut self.blocked);
        let resumed = |(handle, mut task): (u32, Task)| {
            task.hand_over();
            Resumed {
                task,
                core: self.core_of(handle),
                before: self.before(handle),
                woken: self.woken.get(&handle).copied(),
                used: self.used.get(&handle).copied().unwrap_or(0),
            }
        };
        Handover {
            threads: tasks.into_iter().map(resumed).collect(),
            clock: self.clock,
            warmth: self.warmth,
        }
    }

    /// The state of a thread for the other machine. A thread continues as long after the running thread as it is ahead. A
    /// thread that waits for another thread to end counts as running, and waits again on the other machine.
    fn before(&self, handle: u32) -> Before {
        if let Some(&(address, until)) = self.sleepers.get(&handle) {
            let left = until.map(|until| until.saturating_sub(self.clock));
            let cycles = left.map(|left| self.cycles_of(left));
            return Before::Slept { address, cycles };
        }
        let warmth = self.warmth.as_ref();
        let time = |thread| warmth.map_or(0, |warmth| warmth.time_of(thread));
        Before::Ran(time(handle).saturating_sub(time(self.running)))
    }
}
