//! The timers of a process's processor time: `ITIMER_VIRTUAL` and `ITIMER_PROF`. The simulated kernel's own time is not
//! kept apart, so both count all time that the process's threads have cores.
//!
//! While a timer is on, each thread looks at its own time at its alarms, and adds what is new to the process's time. A
//! thread's next alarm is at the time at which the timer would expire if all threads had cores until then.

use super::actions::Signals;
use crate::linux::errno::{EINVAL, Value};
use crate::linux::signal::{BY_KERNEL, PROFILE, Sent, Signal, VIRTUAL};
use crate::linux::task::Task;
use crate::linux::threads::Threads;
use crate::linux::time;
use crate::linux::world::World;
use crate::memory::Space;
use std::collections::BTreeMap;

/// The numbers of the timers, and their signals.
const TIMERS: [(u64, Signal); 2] = [(1, VIRTUAL), (2, PROFILE)];

/// The least time between two looks at the timers, in nanoseconds.
const LEAST: u64 = 10_000;

#[derive(Clone, Copy, Default)]
struct Timer {
    /// The processor time at which the timer expires.
    due: Option<u64>,
    /// The processor time between two signals, or 0 for a single signal.
    every: u64,
}

#[derive(Default)]
pub(crate) struct ProcessorTimers {
    timers: [Timer; 2],
    /// The process's processor time since the first timer was set, as far as it is known, in nanoseconds.
    used: u64,
    /// The part of each thread's time that is counted or lies before. `None` if the thread has not looked yet.
    counted: BTreeMap<u32, Option<u64>>,
}

impl ProcessorTimers {
    pub(super) fn is_on(&self) -> bool {
        self.timers.iter().any(|timer| timer.due.is_some())
    }

    /// Adds a thread's new time. `own` is all time that the thread has had a core.
    fn count(&mut self, thread: u32, own: u64) {
        let before = match self.counted.insert(thread, Some(own)) {
            // The thread is younger than the timer.
            None => 0,
            Some(before) => before.unwrap_or(own),
        };
        self.used += own.saturating_sub(before);
    }

    /// Counts the time of a thread that ends.
    pub(super) fn end(&mut self, thread: u32, own: u64) {
        if self.is_on() {
            self.count(thread, own);
            self.counted.remove(&thread);
        }
    }

    /// Keeps the timers for another program, which begins with one thread. The number of this thread changes from
    /// `caller` to `main`.
    pub(super) fn keep(&mut self, [caller, main]: [u32; 2], own: u64) {
        if self.is_on() {
            self.count(caller, own);
            self.counted = [(main, Some(own))].into();
        }
    }

    /// Sends the signals that are due, to the task itself if it takes them.
    pub(super) fn look<W: World>(
        &mut self,
        signals: &mut Signals,
        threads: &mut Threads,
        task: &Task,
        world: &W,
    ) {
        if !self.is_on() {
            return;
        }
        self.count(task.number, world.own_nanoseconds());
        let used = self.used;
        for (timer, (_, signal)) in self.timers.iter_mut().zip(TIMERS) {
            let Some(due) = timer.due.filter(|&due| due <= used) else {
                continue;
            };
            let missed = (used - due).checked_div(timer.every);
            timer.due = missed.map(|missed| due.saturating_add((missed + 1) * timer.every));
            signals.arrived += 1;
            signals.rings |= signals.watched & signal.bit() != 0;
            let sent = Sent {
                signal,
                code: BY_KERNEL,
                words: [0; 2],
            };
            let is_pending = signals.has(threads, |pending| pending.has(signal));
            if let Some(thread) = threads.get_mut(task.number).filter(|_| !is_pending) {
                thread.lent.receive((signals.arrived, sent));
                // If the task blocks the signal, another thread takes it.
                threads.narrowed |= task.mask & signal.bit() != 0;
            }
        }
    }

    /// When the calling thread looks again, in nanoseconds of the simulated clock.
    pub(super) fn next<W: World>(&self, threads: &Threads, world: &W) -> Option<u64> {
        let due = self.timers.iter().filter_map(|timer| timer.due).min()?;
        let running = threads.count().min(world.cores() as usize).max(1) as u64;
        let wait = (due.saturating_sub(self.used) / running).max(LEAST);
        Some(world.nanoseconds().saturating_add(wait))
    }

    /// `setitimer`.
    pub(crate) fn set<W: World>(
        &mut self,
        space: &mut Space,
        (signals, threads): (&mut Signals, &Threads),
        task: &mut Task,
        world: &mut W,
        [which, new, old]: [u64; 3],
    ) -> Value {
        let at = index(which)?;
        let [every, first] = [new, new.wrapping_add(16)].map(|at| time::read_micros(space, at));
        let (every, first) = (every?, first?);
        if old != 0 {
            self.get(space, task, world, [which, old])?;
        }
        if !self.is_on() {
            self.used = 0;
            self.counted = threads.numbers().map(|thread| (thread, None)).collect();
        }
        self.count(task.number, world.own_nanoseconds());
        self.timers[at] = Timer {
            due: (first > 0).then(|| self.used.saturating_add(first)),
            every: if first == 0 { 0 } else { every },
        };
        task.hart.alarm = 0;
        for thread in threads.numbers().filter(|&thread| thread != task.number) {
            signals.make_look(threads, world, thread);
        }
        Ok(0)
    }

    /// `getitimer`: writes the time between two signals, and the time left.
    pub(crate) fn get<W: World>(
        &mut self,
        space: &mut Space,
        task: &Task,
        world: &W,
        [which, to]: [u64; 2],
    ) -> Value {
        let at = index(which)?;
        if self.is_on() {
            self.count(task.number, world.own_nanoseconds());
        }
        let Timer { due, every } = self.timers[at];
        // A timer that is on has at least a microsecond left.
        let left = due.map_or(0, |due| due.saturating_sub(self.used).max(1_000));
        time::write_micros(space, to, every)?;
        time::write_micros(space, to.wrapping_add(16), left)
    }
}

/// The index of a timer.
fn index(which: u64) -> Result<usize, crate::linux::errno::Errno> {
    let at = TIMERS.iter().position(|(number, _)| *number == which);
    at.ok_or(EINVAL)
}
