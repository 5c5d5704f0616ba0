//! Waits in the kernel, and how signals end them.
//!
//! A thread sleeps on a word of memory, or on one that no program has, until it is woken, its time
//! is over, or a signal comes that it takes. Then its handler runs, and the call returns `EINTR`,
//! or is made again. A signal without a handler that does not kill is dropped, and the wait goes
//! on.

use super::errno::{EAGAIN, EINTR, Errno};
use super::inherit;
use super::signals::{Signal, bits};
use super::task::{Outcome, Phase, Task, TaskState, errno};
use super::world::Wake;
use super::{Process, World};
use crate::memory::PAGE;

/// Where readers of streams sleep. The page at zero is no program's.
const STREAMS: u64 = PAGE + 4;

const READ: u64 = 63;
const READV: u64 = 65;
const FUTEX: u64 = 98;
const NANOSLEEP: u64 = 101;
const CLOCK_NANOSLEEP: u64 = 115;
const RECVFROM: u64 = 207;

/// Where a thread sleeps that nobody wakes but by a signal.
fn nowhere(task: &Task) -> u64 {
    PAGE + 8 * u64::from(task.number)
}

impl Process {
    /// The task sleeps on a word for at most so long, and is `then` what the outcome says. Signals
    /// in `more` end the sleep though the task does not take them.
    fn sleep<W: World>(
        &mut self,
        task: &mut Task,
        world: &mut W,
        [word, more]: [u64; 2],
        time: Option<u64>,
        then: Outcome,
    ) -> Outcome {
        let now = world.nanoseconds();
        let time = task.rest_of_wait(now).or(time);
        task.deadline = time.map(|time| now.saturating_add(time));
        let open = !task.mask | more;
        if self.is_sent_of(task.number, open) {
            return Outcome::Interrupted;
        }
        let due = self.next_timer_of(task.number, open);
        let due = due.map(|due| due.saturating_sub(now));
        task.has_timer = due.is_some_and(|due| time.is_none_or(|time| due < time));
        if let Some(thread) = self.threads.get_mut(&task.number) {
            thread.asleep_to = !open;
        }
        world.futex_wait(word, if task.has_timer { due } else { time });
        then
    }

    /// Sleeps on a futex.
    pub(super) fn sleep_on<W: World>(
        &mut self,
        task: &mut Task,
        world: &mut W,
        word: u64,
        time: Option<u64>,
    ) -> Outcome {
        self.sleep(task, world, [word, 0], time, Outcome::Sleep)
    }

    /// Sleeps for a time, or until a signal comes.
    pub(super) fn sleep_for<W: World>(
        &mut self,
        task: &mut Task,
        world: &mut W,
        time: Result<Option<u64>, Errno>,
    ) -> Outcome {
        let word = nowhere(task);
        match time {
            Ok(time) => self.sleep(task, world, [word, 0], time, Outcome::Nap),
            Err(errno) => Outcome::Fail(errno),
        }
    }

    /// Sleeps until a stream is written to or closed, for so long, and makes its call again.
    pub(super) fn await_stream<W: World>(
        &mut self,
        task: &mut Task,
        world: &mut W,
        time: Option<u64>,
    ) -> Outcome {
        self.await_word(task, world, STREAMS, time)
    }

    /// Sleeps until a word's sleepers are woken, for so long, and makes its call again.
    pub(super) fn await_word<W: World>(
        &mut self,
        task: &mut Task,
        world: &mut W,
        word: u64,
        time: Option<u64>,
    ) -> Outcome {
        self.sleep(task, world, [word, 0], time, Outcome::Await)
    }

    /// A stream was written to, or an end of it closed.
    pub(super) fn wake_readers<W: World>(world: &mut W) {
        world.futex_wake(STREAMS, u32::MAX);
    }

    /// `rt_sigsuspend`: another mask until a handler has run.
    pub(super) fn suspend<W: World>(
        &mut self,
        task: &mut Task,
        world: &mut W,
        mask: u64,
    ) -> Outcome {
        let mask = match self.space.read_u64(mask) {
            Ok(mask) => mask,
            Err(fault) => return Outcome::Fail(fault.into()),
        };
        if task.suspended.is_none() {
            task.suspended = Some(self.replace_mask(task, mask));
        }
        let word = nowhere(task);
        self.sleep(task, world, [word, 0], None, Outcome::Await)
    }

    /// `rt_sigtimedwait`: takes one of some signals without its handler.
    pub(super) fn await_signal<W: World>(
        &mut self,
        task: &mut Task,
        world: &mut W,
        [set, info, request]: [u64; 3],
    ) -> Outcome {
        let mut wait = || -> Result<Outcome, Errno> {
            let set = self.space.read_u64(set)?;
            let time = match request {
                0 => None,
                _ => Some(self.read_time(request)?),
            };
            self.wait_for(task, set);
            self.expire_timers(task.number, world.nanoseconds());
            if let Some(sent) = self.next_signal_of(task.number, set) {
                if info != 0 {
                    self.space.write(info, &sent.info())?;
                }
                return Ok(Outcome::Return(sent.signal.0));
            }
            let now = world.nanoseconds();
            let left = task.until.map(|until| until.saturating_sub(now)).or(time);
            if left == Some(0) {
                return Err(EAGAIN);
            }
            let word = nowhere(task);
            Ok(self.sleep(task, world, [word, set], time, Outcome::Await))
        };
        let outcome = wait().unwrap_or_else(Outcome::Fail);
        if matches!(outcome, Outcome::Return(_) | Outcome::Fail(_)) {
            task.until = None;
            self.wait_for(task, 0);
        }
        outcome
    }

    /// The task waits for signals that it need not take.
    fn wait_for(&mut self, task: &Task, set: u64) {
        if let Some(thread) = self.threads.get_mut(&task.number) {
            thread.waits_for = set;
        }
    }

    /// `rt_sigpending`.
    pub(super) fn tell_pending(&mut self, task: &Task, to: u64) -> Result<u64, Errno> {
        let thread = self.threads.get(&task.number);
        let pending = thread.map_or(0, |thread| bits(&thread.pending));
        let pending = pending | bits(&self.signals.pending);
        self.space.write_u64(to, pending & task.mask)?;
        Ok(0)
    }

    /// No thread sleeps any more: another machine goes on, where each makes its call again.
    pub(crate) fn wake_all(&mut self) {
        for thread in self.threads.values_mut() {
            thread.asleep_to = 0;
        }
    }

    /// Whether a signal that is sent to a thread ends its sleep, if it sleeps.
    pub(super) fn ends_sleep(&self, thread: u32, signal: Signal) -> bool {
        let thread = self.threads.get(&thread);
        thread.is_some_and(|thread| thread.asleep_to & signal.bit() == 0)
    }
}

impl Task {
    /// The task was asleep, and is not any more.
    pub(super) fn woken<W: World>(
        &mut self,
        process: &mut Process,
        world: &mut W,
    ) -> Option<TaskState> {
        if let Some(thread) = process.threads.get_mut(&self.number) {
            thread.asleep_to = 0;
        }
        match (world.woken(), self.phase) {
            (Wake::Disturbed, _) => return self.interrupt(process, world),
            (Wake::Late, _) if self.has_timer => return self.interrupt(process, world),
            (Wake::Late, Phase::Sleeps) => self.give_late(),
            (Wake::Called, Phase::Sleeps) | (_, Phase::Naps) => self.give(0),
            _ => self.begin_again(),
        }
        None
    }

    /// Makes the system call again, for what is left of its time.
    pub(super) fn begin_again(&mut self) {
        self.until = self.deadline;
        self.phase = Phase::Called;
    }

    /// A wait in the kernel is over if a signal is there that the task takes.
    pub(super) fn interrupt<W: World>(
        &mut self,
        process: &mut Process,
        world: &mut W,
    ) -> Option<TaskState> {
        let now = world.nanoseconds();
        process.expire_timers(self.number, now);
        while let Some(sent) = process.next_signal(self) {
            let Some(restarts) = process.restarts(sent.signal) else {
                if process.ignores(sent.signal) {
                    continue;
                }
                return Some(self.die(process, sent.signal, "sent by the program".into()));
            };
            let operation = self.hart.x[11];
            if self.hart.x[17] == FUTEX && inherit::locks(operation)
                || restarts
                    && self.deadline.is_none()
                    && matches!(self.hart.x[17], READ | READV | RECVFROM | FUTEX)
            {
                // The handler returns to the call.
                self.hart.pc = self.hart.pc.wrapping_sub(4);
                self.phase = Phase::Runs;
            } else {
                self.tell_rest(process, now);
                self.give(errno(EINTR));
            }
            self.until = None;
            process.wait_for(self, 0);
            if !process.deliver(self, sent) {
                let what = "its handler has no stack".into();
                return Some(self.die(process, sent.signal, what));
            }
            return None;
        }
        self.begin_again();
        None
    }

    /// What is left of a nap, where `nanosleep` or `clock_nanosleep` is told to write it.
    fn tell_rest(&mut self, process: &mut Process, now: u64) {
        let [_, b, _, d, ..] = self.arguments();
        let to = match self.hart.x[17] {
            NANOSLEEP => b,
            CLOCK_NANOSLEEP if b & super::time::ABSOLUTE == 0 => d,
            _ => return,
        };
        let rest = self.deadline.map_or(0, |end| end.saturating_sub(now));
        // A pointer that is wrong is the program's loss: the wait is over in any case.
        let _ = process.write_time(to, rest);
    }
}
