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
    /// The number of wake-ups, by a call under way, that the kernel makes before the thread continues or is woken.
    pub(crate) wakes: u64,
}

/// The sleepers that the latest waking call has woken, in order.
#[derive(Default)]
pub(super) struct Woken {
    pub(super) waker: u32,
    pub(super) threads: Vec<u32>,
    pub(super) at: u64,
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
            wakes: 0,
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
                woken: self.woken.get(&handle).map(|(by, _)| *by),
                used: self.used.get(&handle).copied().unwrap_or(0),
                wakes: self.wakes_before(handle),
            }
        };
        Handover {
            threads: tasks.into_iter().map(resumed).collect(),
            clock: self.clock,
            warmth: self.warmth.map(|(warmth, _)| warmth),
        }
    }

    /// The number of wake-ups that the kernel makes before a thread continues. Only the latest call that woke sleepers
    /// counts. Its wake-ups took no time here, but on the other machine they happen one after the other. There, a waker
    /// that begins the region at once continues after all of them.
    fn wakes_before(&self, handle: u32) -> u64 {
        let last = &self.last_woken;
        let is_new = |thread: &u32| self.woken.get(thread).is_some_and(|(_, at)| *at == last.at);
        if !last.threads.iter().any(is_new) {
            return 0;
        }
        let place = |thread| last.threads.iter().position(|other| *other == thread);
        let wakes = match (place(handle), place(self.running)) {
            (None, None) if handle == self.running && handle == last.waker => last.threads.len(),
            (Some(own), None) if self.running == last.waker && is_new(&handle) => own + 1,
            (Some(own), Some(first)) if is_new(&handle) => own.saturating_sub(first),
            _ => 0,
        };
        wakes as u64
    }

    /// The state of a thread for the other machine. A thread that waits for another thread to end counts as running,
    /// and waits again on the other machine.
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
                Some(_) => Before::Woken(0),
                None => Before::Ran,
            },
        }
    }
}
