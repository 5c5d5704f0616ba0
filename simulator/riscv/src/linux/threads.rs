//! The threads of a process.

use super::errno::{EINVAL, Value};
use super::signal::{Pending, Sent, Signal, UNSTOPPABLE};
use super::task::Task;
use crate::memory::Space;
use std::collections::{BTreeMap, BTreeSet};

/// The number of the first process. A main thread has the number of its process.
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

/// The effect of a stop of the process on a sleeping thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtStop {
    GoesOn,
    Ends,
    /// The process was stopped. The sleep ends even if the process goes on before the thread is resumed.
    Ended,
}

pub(super) struct Thread {
    /// The handle by which the machine knows the thread.
    pub(super) handle: u32,
    /// Pending signals of the thread.
    pub(super) pending: Pending,
    /// Signals of the process that this thread is to take. If the thread blocks such a signal or ends, another thread
    /// takes it.
    pub(super) lent: Pending,
    /// The blocked signals: a copy of the task's mask.
    mask: u64,
    /// Signals that the thread awaits in `rt_sigtimedwait`.
    pub(super) waits_for: u64,
    /// The cores that the thread may run on. Empty means all cores.
    pub(super) cores: Vec<usize>,
    /// While the thread sleeps, the signals that do not end its sleep.
    pub(super) asleep_to: u64,
    /// Whether a stop of the process ends the thread's sleep.
    pub(super) at_stop: AtStop,
    /// The number and the first argument of the call in which the thread last slept.
    pub(super) sleeps_in: [u64; 2],
    /// The name that the program gave the thread.
    pub(super) name: Option<String>,
    /// The address of the list of mutexes to unlock when the thread ends, or 0.
    pub(super) robust: u64,
    /// The words of mutexes with inheritance for which other threads have waited while this thread owned the mutexes.
    pub(super) awaited: BTreeSet<u64>,
}

impl Thread {
    pub(super) fn new(handle: u32, mask: u64, cores: Vec<usize>) -> Self {
        Self {
            handle,
            pending: Pending::default(),
            lent: Pending::default(),
            mask,
            waits_for: 0,
            cores,
            asleep_to: 0,
            at_stop: AtStop::GoesOn,
            sleeps_in: [0; 2],
            name: None,
            robust: 0,
            awaited: BTreeSet::new(),
        }
    }

    /// The blocked signals.
    pub(super) fn mask(&self) -> u64 {
        self.mask
    }

    /// Whether a signal ends the thread's sleep. `true` if the thread does not sleep.
    pub(super) fn is_woken_by(&self, signal: Signal) -> bool {
        self.asleep_to & signal.bit() == 0
    }
}

/// The threads of a process by number.
pub(crate) struct Threads {
    by_number: BTreeMap<u32, Thread>,
    /// The main thread's number, which is also the number of the process.
    main: u32,
    /// Whether a thread has ended or takes fewer signals than before. Then another thread may have to take a signal.
    pub(super) narrowed: bool,
    /// Signals of the process that a thread did not take before it ended.
    homeless: Vec<(u64, Sent)>,
}

impl Threads {
    /// The threads of a new process: the main thread.
    pub(super) fn new(number: u32, main: Thread) -> Self {
        Self {
            by_number: [(number, main)].into(),
            main: number,
            narrowed: false,
            homeless: Vec::new(),
        }
    }

    /// The main thread's number, which is the process's.
    pub(super) fn main(&self) -> u32 {
        self.main
    }

    /// The main thread, or the first thread if the main thread has ended.
    pub(super) fn first(&self) -> Option<u32> {
        match self.by_number.contains_key(&self.main) {
            true => Some(self.main),
            false => self.by_number.keys().next().copied(),
        }
    }

    /// The handles of all threads except this thread.
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

    pub(super) fn all(&self) -> impl Iterator<Item = &Thread> {
        self.by_number.values()
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.by_number.keys().copied()
    }

    /// Marks the sleeps that end when the process is stopped. Returns the sleepers.
    pub(super) fn end_sleeps_by_stop(&mut self) -> Vec<u32> {
        let all = self.by_number.iter_mut();
        let asleep = all.filter(|(_, thread)| thread.at_stop == AtStop::Ends);
        let ended = asleep.map(|(&number, thread)| {
            thread.at_stop = AtStop::Ended;
            number
        });
        ended.collect()
    }

    pub(super) fn count(&self) -> usize {
        self.by_number.len()
    }

    /// Adds a thread with this number.
    pub(super) fn add(&mut self, number: u32, thread: Thread) {
        self.by_number.insert(number, thread);
    }

    pub(super) fn remove(&mut self, number: u32) {
        if let Some(mut thread) = self.by_number.remove(&number) {
            self.homeless.extend(thread.lent.take_all(u64::MAX));
            self.narrowed = true;
        }
    }

    /// Whether [`take_back`](Self::take_back) has signals to take.
    pub(super) fn has_blocked(&self) -> bool {
        let mut threads = self.by_number.values();
        let blocks = |thread: &Thread| thread.mask & !thread.waits_for & thread.lent.bits() != 0;
        !self.homeless.is_empty() || threads.any(blocks)
    }

    /// Takes the signals of the process that no thread takes any more of those that were to take them.
    pub(super) fn take_back(&mut self) -> Vec<(u64, Sent)> {
        self.narrowed = false;
        let mut back = std::mem::take(&mut self.homeless);
        for thread in self.by_number.values_mut() {
            let blocked = thread.mask & !thread.waits_for;
            back.extend(thread.lent.take_all(blocked));
        }
        back
    }

    /// Any thread except this thread.
    pub(super) fn beside(&self, number: u32) -> Option<&Thread> {
        let mut others = self.by_number.iter();
        let other = others.find(|(other, _)| **other != number);
        other.map(|(_, thread)| thread)
    }

    /// The cores that a thread may run on. Empty means all cores.
    pub(crate) fn cores_of(&self, number: u32) -> &[usize] {
        self.get(number).map_or(&[], |thread| &thread.cores)
    }

    /// Gives the thread of this number another handle.
    pub(crate) fn rename(&mut self, number: u32, handle: u32) {
        if let Some(thread) = self.get_mut(number) {
            thread.handle = handle;
        }
    }

    /// Gives the main thread's number to the process's last thread, which has `number` so far.
    pub(super) fn rename_main(&mut self, number: u32) {
        if let Some(thread) = self.by_number.remove(&number) {
            self.by_number.insert(self.main, thread);
        }
    }

    /// Sets a task's mask of blocked signals. Returns the old mask. SIGKILL and SIGSTOP cannot be blocked.
    pub(super) fn replace_mask(&mut self, task: &mut Task, mask: u64) -> u64 {
        let mask = mask & !UNSTOPPABLE;
        // The task looks for signals that it no longer blocks.
        task.hart.alarm = 0;
        self.narrowed |= mask & !task.mask != 0;
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
        }
        if old != 0 {
            space.write_u64(old, before)?;
        }
        Ok(0)
    }

    /// Removes a signal from the pending signals of all threads.
    pub(super) fn forget(&mut self, signal: Signal) {
        for thread in self.by_number.values_mut() {
            thread.pending.forget(signal);
            thread.lent.forget(signal);
        }
    }

    /// Sets the signals that the task awaits. These signals may be blocked.
    pub(super) fn wait_for(&mut self, task: &Task, set: u64) {
        if let Some(thread) = self.get_mut(task.number) {
            let before = std::mem::replace(&mut thread.waits_for, set);
            self.narrowed |= before & !set != 0;
        }
    }

    /// The thread that takes a signal of the process: the first thread that awaits the signal or does not block it. The
    /// main thread is asked first.
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
