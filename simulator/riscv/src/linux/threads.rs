//! The threads of a process.

use super::errno::{EINVAL, Value};
use super::signal::{Pending, Signal, UNSTOPPABLE};
use super::task::Task;
use crate::memory::Space;
use std::collections::BTreeMap;

/// The first process's number. A main thread has its process's.
pub(super) const FIRST: u32 = 1_000;

/// The name of a task in messages.
pub(crate) fn name(task: &Task) -> String {
    match task.number {
        FIRST => "main".into(),
        number => number.to_string(),
    }
}

/// The operations of `rt_sigprocmask`.
const BLOCK: u64 = 0;
const UNBLOCK: u64 = 1;
const SET: u64 = 2;

/// A thread.
pub(super) struct Thread {
    /// The machine's own number of it.
    pub(super) handle: u32,
    /// Signals that were sent to it.
    pub(super) pending: Pending,
    /// Signals that it does not take, as its task has them.
    mask: u64,
    /// Signals that it waits for in `rt_sigtimedwait`.
    pub(super) waits_for: u64,
    /// Cores that it may run on; none for all.
    pub(super) cores: Vec<usize>,
    /// While it sleeps, the signals that do not end its sleep.
    pub(super) asleep_to: u64,
    /// The number and the first argument of the call in which it last slept.
    pub(super) sleeps_in: [u64; 2],
    /// The name that the program gave it.
    pub(super) name: Option<String>,
    /// Its list of mutexes that are to be unlocked if it ends.
    pub(super) robust: u64,
}

impl Thread {
    pub(super) fn new(handle: u32, mask: u64, cores: Vec<usize>) -> Self {
        Self {
            handle,
            pending: Pending::default(),
            mask,
            waits_for: 0,
            cores,
            asleep_to: 0,
            sleeps_in: [0; 2],
            name: None,
            robust: 0,
        }
    }

    /// Whether a signal that is sent to it ends its sleep, if it sleeps.
    pub(super) fn is_woken_by(&self, signal: Signal) -> bool {
        self.asleep_to & signal.bit() == 0
    }
}

/// The threads of a process by number.
pub(crate) struct Threads {
    by_number: BTreeMap<u32, Thread>,
    /// The main thread's number, which is the process's.
    main: u32,
}

impl Threads {
    /// A main thread, and its number.
    pub(super) fn new(number: u32, main: Thread) -> Self {
        Self {
            by_number: [(number, main)].into(),
            main: number,
        }
    }

    /// The main thread's number, which is the process's.
    pub(super) fn main(&self) -> u32 {
        self.main
    }

    /// The machine's numbers of all threads except this one.
    pub(super) fn handles_beside(&self, number: u32) -> Vec<u32> {
        let others = self.by_number.iter().filter(|(at, _)| **at != number);
        others.map(|(_, thread)| thread.handle).collect()
    }

    pub(super) fn get(&self, number: u32) -> Option<&Thread> {
        self.by_number.get(&number)
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut Thread> {
        self.by_number.get_mut(&number)
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.by_number.keys().copied()
    }

    pub(super) fn count(&self) -> usize {
        self.by_number.len()
    }

    /// A thread of this number is there from now on.
    pub(super) fn add(&mut self, number: u32, thread: Thread) {
        self.by_number.insert(number, thread);
    }

    pub(super) fn remove(&mut self, number: u32) {
        self.by_number.remove(&number);
    }

    /// Any thread except this one.
    pub(super) fn beside(&self, number: u32) -> Option<&Thread> {
        let mut others = self.by_number.iter();
        let other = others.find(|(other, _)| **other != number);
        other.map(|(_, thread)| thread)
    }

    /// The cores that a thread may run on; none for all.
    pub(crate) fn cores_of(&self, number: u32) -> &[usize] {
        self.get(number).map_or(&[], |thread| &thread.cores)
    }

    /// The thread of this number has another handle from now on.
    pub(crate) fn rename(&mut self, number: u32, handle: u32) {
        if let Some(thread) = self.get_mut(number) {
            thread.handle = handle;
        }
    }

    /// The thread of this number has the main thread's number from now on. The main thread is gone.
    pub(super) fn rename_main(&mut self, number: u32) {
        if let Some(thread) = self.by_number.remove(&number) {
            self.by_number.insert(self.main, thread);
        }
    }

    /// A task takes other signals from now on; its mask until now. SIGKILL and SIGSTOP are not
    /// refused.
    pub(super) fn replace_mask(&mut self, task: &mut Task, mask: u64) -> u64 {
        let mask = mask & !UNSTOPPABLE;
        if let Some(thread) = self.get_mut(task.number) {
            thread.mask = mask;
        }
        std::mem::replace(&mut task.mask, mask)
    }

    /// `rt_sigprocmask`.
    pub(super) fn set_mask(
        &mut self,
        space: &mut Space,
        task: &mut Task,
        how: u64,
        [new, old]: [u64; 2],
    ) -> Value {
        let before = task.mask;
        if new != 0 {
            let set = space.read_u64(new)?;
            let mask = match how {
                BLOCK => before | set,
                UNBLOCK => before & !set,
                SET => set,
                _ => return Err(EINVAL),
            };
            self.replace_mask(task, mask);
            task.hart.alarm = 0;
        }
        if old != 0 {
            space.write_u64(old, before)?;
        }
        Ok(0)
    }

    /// A signal waits for no thread any more.
    pub(super) fn forget(&mut self, signal: Signal) {
        for thread in self.by_number.values_mut() {
            thread.pending.forget(signal);
        }
    }

    /// The task waits for signals that it need not take.
    pub(super) fn wait_for(&mut self, task: &Task, set: u64) {
        if let Some(thread) = self.get_mut(task.number) {
            thread.waits_for = set;
        }
    }

    /// The thread that takes a signal of the process: the main thread, or else the first thread that
    /// does not refuse it, or waits for it.
    pub(super) fn taker(&self, signal: Signal) -> Option<u32> {
        let takes = |number: &u32| {
            let thread = self.get(*number);
            thread.is_some_and(|thread| (!thread.mask | thread.waits_for) & signal.bit() != 0)
        };
        if takes(&self.main) {
            return Some(self.main);
        }
        self.by_number.keys().copied().find(takes)
    }
}
