//! Timers that send signals (`timer_create`, `setitimer`).

use super::actions::Signals;
use super::processor::ProcessorTimers;
use crate::linux::errno::{EINVAL, ESRCH, Errno, Value};
use crate::linux::signal::{ALARM, BY_KERNEL, BY_TIMER, LAST, Sent, Signal};
use crate::linux::task::Task;
use crate::linux::threads::Threads;
use crate::linux::time::{self, ABSOLUTE};
use crate::linux::world::World;
use crate::memory::Space;
use std::collections::BTreeMap;

/// The receiver of a timer's signal: nothing, the process, or a thread.
const NOTHING: u32 = 1;
const TO_PROCESS: u32 = 0;
const TO_THREAD: u32 = 4;
/// The number of the timer of `setitimer`, which `timer_create` never returns.
const INTERVAL: u64 = 1 << 40;

/// The receiver of a timer's signal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Nobody,
    Process,
    Thread(u32),
}

/// A timer. All its times are in nanoseconds, as [`World::nanoseconds`] counts them.
struct Timer {
    clock: u64,
    to: Target,
    sent: Sent,
    due: Option<u64>,
    /// The time between two signals, or 0 for a single signal.
    every: u64,
    overruns: u32,
}

/// The timers of a process by number.
#[derive(Default)]
pub(crate) struct Timers {
    by_number: BTreeMap<u64, Timer>,
    next: u64,
    pub(crate) of_processor: ProcessorTimers,
}

/// Returns the thread that takes a timer's signal, if there is one.
fn taker_of(threads: &Threads, target: Target, signal: Signal) -> Option<u32> {
    match target {
        Target::Nobody => None,
        Target::Process => threads.taker(signal),
        Target::Thread(thread) => Some(thread),
    }
}

/// Returns the thread that watches a timer and sends its signal. If no thread takes a signal for the process, the first
/// thread sends it, and the signal stays pending in the process.
fn thread_of(threads: &Threads, target: Target, signal: Signal) -> Option<u32> {
    let first = || threads.first().filter(|_| target == Target::Process);
    taker_of(threads, target, signal).or_else(first)
}

impl Timer {
    /// Sends the timer's signal, and sets the time of the next signal.
    fn expire<W: World>(&mut self, signals: &mut Signals, threads: &mut Threads, world: &mut W) {
        let now = world.nanoseconds();
        signals.before_sending(threads, world, self.sent.signal);
        signals.arrived += 1;
        let due = self.due.unwrap_or(now);
        let more = (now - due).checked_div(self.every).unwrap_or(0);
        let next = more.saturating_add(1).saturating_mul(self.every);
        self.due = (self.every > 0).then(|| due.saturating_add(next));
        // At most one signal of a timer is pending, whichever thread is to take it.
        let [id, value] = self.sent.words;
        let signal = self.sent.signal;
        let is_pending = match self.sent.code {
            BY_TIMER => {
                let mut own = threads.all().map(|thread| &thread.pending);
                own.any(|pending| pending.has_timer(id as u32))
                    || signals.has(threads, |pending| pending.has_timer(id as u32))
            }
            _ => signals.has(threads, |pending| pending.has(signal)),
        };
        let thread = taker_of(threads, self.to, signal);
        let thread = thread.and_then(|thread| threads.get_mut(thread));
        let pending = match (self.to, thread) {
            (Target::Process, Some(thread)) => &mut thread.lent,
            (_, Some(thread)) => &mut thread.pending,
            (Target::Process, None) => &mut signals.pending,
            _ => return,
        };
        let missed = u32::try_from(more).unwrap_or(u32::MAX);
        if is_pending {
            self.overruns = self.overruns.saturating_add(missed).saturating_add(1);
            return;
        }
        self.overruns = missed;
        let words = match self.sent.code {
            BY_TIMER => [id & 0xFFFF_FFFF | u64::from(missed) << 32, value],
            _ => self.sent.words,
        };
        signals.rings |= signals.watched & signal.bit() != 0;
        pending.receive((signals.arrived, Sent { words, ..self.sent }));
    }
}

impl Timers {
    fn get(&mut self, number: u64) -> Result<&mut Timer, Errno> {
        // The number is an `int`.
        self.by_number
            .get_mut(&(number & 0xFFFF_FFFF))
            .ok_or(EINVAL)
    }

    /// Keeps only the timers of `setitimer`, as `execve` demands. `threads` are the calling thread's numbers before and
    /// after. `own` is its processor time.
    pub(crate) fn keep_intervals(&mut self, threads: [u32; 2], own: u64) {
        self.by_number.retain(|&number, _| number == INTERVAL);
        self.of_processor.keep(threads, own);
    }

    /// Removes the timers of a thread that has ended.
    pub(crate) fn remove_of(&mut self, thread: u32) {
        self.by_number
            .retain(|_, timer| timer.to != Target::Thread(thread));
    }

    /// Counts the processor time of a thread that ends.
    pub(crate) fn end_thread(&mut self, thread: u32, own: u64) {
        self.of_processor.end(thread, own);
    }

    /// Returns the time when `thread` next sends a timer's signal that is in `set`.
    pub(crate) fn next_of(&self, threads: &Threads, thread: u32, set: u64) -> Option<u64> {
        let timers = self.by_number.values();
        let dues = timers.filter_map(|timer| {
            let due = timer.due?;
            let signal = timer.sent.signal;
            let is_own = thread_of(threads, timer.to, signal) == Some(thread);
            (is_own && signal.bit() & set != 0).then_some(due)
        });
        dues.min()
    }

    pub(crate) fn create(
        &mut self,
        space: &mut Space,
        threads: &Threads,
        [clock, event, to]: [u64; 3],
    ) -> Value {
        if !time::has_timers(clock) {
            return Err(EINVAL);
        }
        let number = self.next;
        let (value, signal, how, thread) = if event == 0 {
            (number, ALARM.0, TO_PROCESS, 0)
        } else {
            let value = space.read_u64(event)?;
            let mut word = |at| space.read_u32(event.wrapping_add(at));
            (value, word(8)?.into(), word(12)?, word(16)?)
        };
        let target = match how {
            NOTHING => Target::Nobody,
            TO_PROCESS => Target::Process,
            TO_THREAD if threads.get(thread).is_some() => Target::Thread(thread),
            TO_THREAD => return Err(ESRCH),
            _ => return Err(EINVAL),
        };
        if !(1..=LAST).contains(&signal) && target != Target::Nobody {
            return Err(EINVAL);
        }
        space.write_u32(to, number as u32)?;
        self.next += 1;
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
        self.by_number.insert(number, timer);
        Ok(0)
    }

    pub(crate) fn set<W: World>(
        &mut self,
        space: &mut Space,
        signals: &mut Signals,
        threads: &Threads,
        world: &mut W,
        [number, flags, new, old]: [u64; 4],
    ) -> Value {
        let every = time::read(space, new)?;
        let first = time::read(space, new.wrapping_add(16))?;
        if old != 0 {
            self.write_time(space, world, number, old)?;
        }
        let now = world.nanoseconds();
        let timer = self.get(number)?;
        let wait = match flags & ABSOLUTE {
            0 => first,
            _ => first.saturating_sub(time::clock(world, timer.clock)?),
        };
        timer.due = (first > 0).then_some(now.saturating_add(wait));
        // A timer that is set to no time has no interval either.
        timer.every = if first > 0 { every } else { 0 };
        timer.overruns = 0;
        let (target, signal) = (timer.to, timer.sent.signal);
        if let Some(thread) = thread_of(threads, target, signal) {
            signals.make_look(threads, world, thread);
        }
        Ok(0)
    }

    /// `timer_gettime`: writes the time between two signals, and the time left.
    pub(crate) fn write_time<W: World>(
        &mut self,
        space: &mut Space,
        world: &W,
        number: u64,
        to: u64,
    ) -> Value {
        let now = world.nanoseconds();
        let timer = self.get(number)?;
        let every = timer.every;
        let left = timer
            .due
            .map_or(0, |due| match (timer.to, now.checked_sub(due)) {
                // No thread watches a timer that sends no signal. So the times are computed here.
                (Target::Nobody, Some(late)) => {
                    late.checked_rem(every).map_or(0, |late| every - late)
                }
                _ => due.saturating_sub(now).max(1),
            });
        time::write(space, to, every)?;
        time::write(space, to.wrapping_add(16), left)
    }

    pub(crate) fn overruns(&mut self, number: u64) -> Value {
        Ok(self.get(number)?.overruns.into())
    }

    pub(crate) fn delete(&mut self, number: u64) -> Value {
        self.get(number)?;
        self.by_number.remove(&(number & 0xFFFF_FFFF));
        Ok(0)
    }

    /// Sends the due timer signals that thread `number` takes, and those that no thread takes, in the order of their
    /// times.
    pub(crate) fn expire<W: World>(
        &mut self,
        signals: &mut Signals,
        threads: &mut Threads,
        number: u32,
        world: &mut W,
    ) {
        let now = world.nanoseconds();
        let timers = self.by_number.values_mut();
        let over = timers.filter(|timer| {
            let is_over = timer.due.is_some_and(|due| due <= now);
            let taker = taker_of(threads, timer.to, timer.sent.signal);
            is_over && taker.is_none_or(|taker| taker == number)
        });
        let mut over: Vec<&mut Timer> = over.collect();
        over.sort_by_key(|timer| timer.due);
        for timer in over {
            timer.expire(signals, threads, world);
        }
    }

    /// Sends the due signals of processor-time timers. Returns the time of the calling thread's next look.
    pub(crate) fn look<W: World>(
        &mut self,
        signals: &mut Signals,
        threads: &mut Threads,
        task: &Task,
        world: &W,
    ) -> Option<u64> {
        let timers = &mut self.of_processor;
        timers.look(signals, threads, task, world);
        timers.next(threads, world)
    }

    /// `setitimer`: sets the timer of elapsed time.
    pub(crate) fn set_interval<W: World>(
        &mut self,
        space: &mut Space,
        signals: &mut Signals,
        threads: &Threads,
        world: &mut W,
        [new, old]: [u64; 2],
    ) -> Value {
        let [every, first] = [new, new.wrapping_add(16)].map(|at| time::read_micros(space, at));
        let (every, first) = (every?, first?);
        // A timer that is off has no time between two signals.
        let every = if first == 0 { 0 } else { every };
        if old != 0 {
            self.tell_interval(space, world, old)?;
        }
        let due = (first > 0).then(|| world.nanoseconds().saturating_add(first));
        let timer = Timer {
            clock: time::MONOTONIC,
            to: Target::Process,
            sent: Sent {
                signal: ALARM,
                code: BY_KERNEL,
                words: [0; 2],
            },
            due,
            every,
            overruns: 0,
        };
        self.by_number.insert(INTERVAL, timer);
        if let Some(thread) = thread_of(threads, Target::Process, ALARM) {
            signals.make_look(threads, world, thread);
        }
        Ok(0)
    }

    /// Whether a timer sends signals to the process.
    pub(crate) fn has_any(&self) -> bool {
        let mut timers = self.by_number.values();
        timers.any(|timer| timer.due.is_some() && timer.to == Target::Process)
    }

    /// Makes each thread that watches a timer of the process check it. The thread `except` does so itself.
    pub(crate) fn watch_again<W: World>(
        &self,
        signals: &mut Signals,
        threads: &Threads,
        world: &mut W,
        except: u32,
    ) {
        let timers = self.by_number.values();
        for timer in timers.filter(|timer| timer.due.is_some() && timer.to == Target::Process) {
            let thread = thread_of(threads, timer.to, timer.sent.signal);
            if let Some(thread) = thread.filter(|&thread| thread != except) {
                signals.make_look(threads, world, thread);
            }
        }
    }

    /// `getitimer`: writes the time between two signals, and the time left.
    pub(crate) fn tell_interval<W: World>(&self, space: &mut Space, world: &W, to: u64) -> Value {
        let timer = self.by_number.get(&INTERVAL);
        let now = world.nanoseconds();
        let every = timer.map_or(0, |timer| timer.every);
        let due = timer.and_then(|timer| timer.due);
        // A timer that is on has at least a microsecond left.
        let left = due.map_or(0, |due| due.saturating_sub(now).max(1_000));
        time::write_micros(space, to, every)?;
        time::write_micros(space, to.wrapping_add(16), left)
    }
}
