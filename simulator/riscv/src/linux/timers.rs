//! Timers that send signals (`timer_create`).

use super::errno::{EINVAL, ESRCH, Errno, Value};
use super::signals::{BY_KERNEL, BY_TIMER, Sent, Signal, receive};
use super::task::Task;
use super::time::{ABSOLUTE, SECOND, clock};
use super::{PROCESS, Process, World};
use std::collections::BTreeMap;

/// What a timer does when its time is over.
const NOTHING: u32 = 1;
const TO_PROCESS: u32 = 0;
const TO_THREAD: u32 = 4;
const ALARM: u64 = 14;
/// The number of the timer of `setitimer`, which `timer_create` never gives.
const INTERVAL: u64 = 1 << 40;

/// The thread that gets a timer's signal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Nobody,
    Process,
    Thread(u32),
}

/// A timer; times are those of [`World::nanoseconds`].
struct Timer {
    clock: u64,
    to: Target,
    sent: Sent,
    due: Option<u64>,
    /// Between two signals; 0: there is one.
    every: u64,
    overruns: u32,
}

/// The timers of a process by number.
#[derive(Default)]
pub(super) struct Timers {
    by_number: BTreeMap<u64, Timer>,
    next: u64,
}

impl Timers {
    fn get(&mut self, number: u64) -> Result<&mut Timer, Errno> {
        // A number is an `int`.
        self.by_number
            .get_mut(&(number & 0xFFFF_FFFF))
            .ok_or(EINVAL)
    }

    /// Another program has the timer of `setitimer` alone.
    pub(super) fn keep_interval(&mut self) {
        self.by_number.retain(|&number, _| number == INTERVAL);
    }

    /// The thread is no more, nor are its timers.
    pub(super) fn remove_of(&mut self, thread: u32) {
        self.by_number
            .retain(|_, timer| timer.to != Target::Thread(thread));
    }
}

impl Process {
    /// The thread that gets a signal. One of the process that no thread takes is the main
    /// thread's to send, and waits with the process.
    fn thread_of(&self, target: Target, signal: Signal) -> Option<u32> {
        match target {
            Target::Nobody => None,
            Target::Process => Some(self.taker(signal).unwrap_or(PROCESS)),
            Target::Thread(thread) => Some(thread),
        }
    }

    /// When the next timer is due that sends a thread one of some signals.
    pub(super) fn next_timer_of(&self, thread: u32, set: u64) -> Option<u64> {
        let timers = self.timers.by_number.values();
        let dues = timers.filter_map(|timer| {
            let due = timer.due?;
            let signal = timer.sent.signal;
            let is_own = self.thread_of(timer.to, signal) == Some(thread);
            (is_own && signal.bit() & set != 0).then_some(due)
        });
        dues.min()
    }

    pub(super) fn make_timer(&mut self, task: &Task, clock: u64, event: u64, to: u64) -> Value {
        // Wall clocks and those since the start; processor time has none here.
        if !matches!(clock, 0 | 1 | 4 | 5 | 7) {
            return Err(EINVAL);
        }
        let number = self.timers.next;
        let (value, signal, how, thread) = if event == 0 {
            (number, ALARM, TO_PROCESS, 0)
        } else {
            let word = |process: &mut Self, at| process.space.read_u32(event.wrapping_add(at));
            let value = self.space.read_u64(event)?;
            let signal = u64::from(word(self, 8)?);
            (value, signal, word(self, 12)?, word(self, 16)?)
        };
        let target = match how {
            NOTHING => Target::Nobody,
            TO_PROCESS => Target::Process,
            TO_THREAD if thread == task.number || self.threads.contains_key(&thread) => {
                Target::Thread(thread)
            }
            TO_THREAD => return Err(ESRCH),
            _ => return Err(EINVAL),
        };
        if !(1..=64).contains(&signal) && target != Target::Nobody {
            return Err(EINVAL);
        }
        self.space.write_u32(to, number as u32)?;
        self.timers.next += 1;
        let timer = Timer {
            clock,
            to: target,
            sent: Sent {
                signal: Signal(signal),
                code: BY_TIMER,
                words: [number, value],
            },
            due: None,
            every: 0,
            overruns: 0,
        };
        self.timers.by_number.insert(number, timer);
        Ok(0)
    }

    pub(super) fn set_timer<W: World>(
        &mut self,
        world: &mut W,
        [number, flags, new, old]: [u64; 4],
    ) -> Value {
        let every = self.read_time(new)?;
        let first = self.read_time(new.wrapping_add(16))?;
        if old != 0 {
            self.tell_timer(world, number, old)?;
        }
        let now = world.nanoseconds();
        let timer = self.timers.get(number)?;
        let wait = match flags & ABSOLUTE {
            0 => first,
            _ => first.saturating_sub(clock(world, timer.clock)?),
        };
        timer.due = (first > 0).then_some(now.saturating_add(wait));
        (timer.every, timer.overruns) = (every, 0);
        let (target, signal) = (timer.to, timer.sent.signal);
        if let Some(thread) = self.thread_of(target, signal) {
            self.make_look(world, thread);
        }
        Ok(0)
    }

    /// What is left, and the time between two signals.
    pub(super) fn tell_timer<W: World>(&mut self, world: &W, number: u64, to: u64) -> Value {
        let now = world.nanoseconds();
        let timer = self.timers.get(number)?;
        let left = timer.due.map_or(0, |due| due.saturating_sub(now).max(1));
        let every = timer.every;
        self.write_time(to, every)?;
        self.write_time(to.wrapping_add(16), left)
    }

    pub(super) fn timer_overruns(&mut self, number: u64) -> Value {
        Ok(self.timers.get(number)?.overruns.into())
    }

    pub(super) fn delete_timer(&mut self, number: u64) -> Value {
        self.timers.get(number)?;
        self.timers.by_number.remove(&(number & 0xFFFF_FFFF));
        Ok(0)
    }

    /// Sends the signals of the thread's timers whose time is over.
    pub(super) fn expire_timers(&mut self, number: u32, now: u64) {
        let timers = self.timers.by_number.iter();
        let over = timers.filter(|(_, timer)| {
            let is_over = timer.due.is_some_and(|due| due <= now);
            is_over
                && self
                    .thread_of(timer.to, timer.sent.signal)
                    .is_none_or(|to| to == number)
        });
        let over: Vec<u64> = over.map(|(&timer, _)| timer).collect();
        for timer in over {
            self.expire(timer, now);
        }
    }

    /// A timer's time is over.
    fn expire(&mut self, number: u64, now: u64) {
        let Some(timer) = self.timers.by_number.get(&number) else {
            return;
        };
        let (target, signal) = (timer.to, timer.sent.signal);
        let thread = match target {
            Target::Nobody => None,
            Target::Process => self.taker(signal),
            Target::Thread(thread) => Some(thread),
        };
        let Some(timer) = self.timers.by_number.get_mut(&number) else {
            return;
        };
        let due = timer.due.unwrap_or(now);
        let more = (now - due).checked_div(timer.every).unwrap_or(0);
        let next = more.saturating_add(1).saturating_mul(timer.every);
        timer.due = (timer.every > 0).then(|| due.saturating_add(next));
        let thread = thread.and_then(|thread| self.threads.get_mut(&thread));
        let pending = match (target, thread) {
            (_, Some(thread)) => &mut thread.pending,
            (Target::Process, None) => &mut self.signals.pending,
            _ => return,
        };
        // One signal of a timer waits at a time.
        let waits = pending.iter().any(|sent| {
            sent.code == BY_TIMER && sent.words[0] as u32 == timer.sent.words[0] as u32
        });
        let missed = u32::try_from(more).unwrap_or(u32::MAX);
        if waits {
            timer.overruns = timer.overruns.saturating_add(missed).saturating_add(1);
            return;
        }
        timer.overruns = missed;
        let [id, value] = timer.sent.words;
        let words = match timer.sent.code {
            BY_TIMER => [id & 0xFFFF_FFFF | u64::from(missed) << 32, value],
            _ => timer.sent.words,
        };
        receive(
            pending,
            Sent {
                words,
                ..timer.sent
            },
        );
    }

    /// `setitimer`: one timer of the wall clock; others, of processor time, are not there.
    pub(super) fn set_interval<W: World>(
        &mut self,
        world: &mut W,
        which: u64,
        new: u64,
        old: u64,
    ) -> Value {
        if which != 0 {
            return Err(EINVAL);
        }
        let [every, first] = [new, new.wrapping_add(16)].map(|at| self.read_micros(at));
        let (every, first) = (every?, first?);
        if old != 0 {
            self.tell_interval(world, which, old)?;
        }
        let due = (first > 0).then(|| world.nanoseconds().saturating_add(first));
        let timer = Timer {
            clock: 1,
            to: Target::Process,
            sent: Sent {
                signal: Signal(ALARM),
                code: BY_KERNEL,
                words: [0; 2],
            },
            due,
            every,
            overruns: 0,
        };
        self.timers.by_number.insert(INTERVAL, timer);
        self.make_look(world, PROCESS);
        Ok(0)
    }

    /// `getitimer`: the time between two signals, and what is left.
    pub(super) fn tell_interval<W: World>(&mut self, world: &W, which: u64, to: u64) -> Value {
        if which != 0 {
            return Err(EINVAL);
        }
        let timer = self.timers.by_number.get(&INTERVAL);
        let now = world.nanoseconds();
        let every = timer.map_or(0, |timer| timer.every);
        let due = timer.and_then(|timer| timer.due);
        // As long as it is set, something is left.
        let left = due.map_or(0, |due| due.saturating_sub(now).max(1_000));
        for (at, time) in [(0, every), (16, left)] {
            let (seconds, rest) = (time / SECOND, time % SECOND / 1_000);
            self.space.write_u64(to.wrapping_add(at), seconds)?;
            self.space.write_u64(to.wrapping_add(at + 8), rest)?;
        }
        Ok(0)
    }

    /// A `timeval`, in nanoseconds.
    fn read_micros(&mut self, address: u64) -> Value {
        let seconds = self.space.read_u64(address)?;
        let rest = self.space.read_u64(address.wrapping_add(8))?;
        if seconds > 1 << 33 || rest >= 1_000_000 {
            return Err(EINVAL);
        }
        Ok(seconds * SECOND + rest * 1_000)
    }
}
