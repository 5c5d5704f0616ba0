//! The threads of a program that is handed over to another machine.

use super::Functional;
use crate::linux::{Task, Wake};
use manycore_chip::guest::{Before, Warmth};
use std::collections::BTreeMap;

/// A thread of a program that is handed over to another machine.
pub(crate) struct Resumed {
    pub(crate) task: Task,
    /// The thread's core, whose caches it has warmed.
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
            before: Before::Ran,
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
    /// The other machine's caches, if they were warmed.
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
                woken: self.woken.get(&handle).map(|(by, _)| *by),
                used: self.used.get(&handle).copied().unwrap_or(0),
            }
        };
        Handover {
            threads: tasks.into_iter().map(resumed).collect(),
            clock: self.clock,
            warmth: self.warmth.map(|(warmth, _)| warmth),
        }
    }

    /// The state of a thread for the other machine. A thread that waits for another thread to end counts as running,
    /// and waits again there.
    fn before(&self, handle: u32) -> Before {
        let sleep = self.sleepers.get(&handle);
        match sleep {
            Some(&(address, until)) => {
                let left = until.map(|until| until.saturating_sub(self.clock));
                let cycles = left.map(|left| self.cycles_of(left));
                Before::Slept { address, cycles }
            }
            None => match self.woken.get(&handle) {
                // The thread that begins the region was woken at the same time and runs already, so this thread counts
                // as running too.
                Some((_, at)) if self.rose.get(&self.running) == Some(at) => Before::Ran,
                Some(_) => Before::Woken,
                None => Before::Ran,
            },
        }
    }
}
