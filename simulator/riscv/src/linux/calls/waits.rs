//! Waits in the kernel, and how signals end them.
//!
//! A thread sleeps on a word of memory, or on a word that only the kernel uses. The sleep ends when another thread
//! wakes the sleeper, when the time of the sleep is over, or when the sleeper takes a signal. If the signal has a
//! handler, the handler runs, and the call returns `EINTR` or is made again. Otherwise the signal kills or stops the
//! process, or is dropped. After a stop, some calls return `EINTR` (`signal(7)` lists them), and other waits go on.

use crate::linux::errno::{EAGAIN, EINTR, Errno};
use crate::linux::process::Process;
use crate::linux::signal::{CONTINUING, UNSTOPPABLE};
use crate::linux::task::{Interrupted, Outcome, Phase, Task, TaskState, Wake};
use crate::linux::threads::AtStop;
use crate::linux::time::{self, ABSOLUTE};
use crate::linux::words::{STREAMS, nowhere};
use crate::linux::world::World;

/// Puts the task to sleep on a word for at most `time` nanoseconds, and returns `then`. Returns `Outcome::Interrupted`
/// if a signal is already pending. Signals in `more` end the sleep even if the task's mask blocks them.
fn sleep<W: World>(
    process: &mut Process,
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
    // Set before the first way out: a stop must not find the value of an earlier wait.
    if let Some(thread) = process.threads.get_mut(task.number) {
        thread.at_stop = match task.interrupted {
            Interrupted::EndsByStop => AtStop::Ends,
            _ => AtStop::GoesOn,
        };
    }
    if process
        .signals
        .is_sent_of(&process.threads, task.number, open)
    {
        return Outcome::Interrupted;
    }
    // A reader of a `signalfd` may wait for a signal that no thread takes, and a blocked SIGCONT lets the process go on.
    let sends = open | process.signals.watched | CONTINUING;
    let due = process.timers.next_of(&process.threads, task.number, sends);
    let clock = match word {
        STREAMS => process.files.look_at_clocks(now),
        _ => None,
    };
    let due = due.into_iter().chain(clock).min();
    let due = due.map(|due| due.saturating_sub(now));
    task.has_timer = due.is_some_and(|due| time.is_none_or(|time| due < time));
    if let Some(thread) = process.threads.get_mut(task.number) {
        thread.asleep_to = !open;
        thread.sleeps_in = [task.hart.x[17], task.hart.x[10]];
    }
    world.futex_wait(word, if task.has_timer { due } else { time });
    then
}

/// Sleeps on a futex's word.
pub(super) fn sleep_on<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    word: u64,
    time: Option<u64>,
) -> Outcome {
    task.interrupted = Interrupted::MayRestart;
    sleep(process, task, world, [word, 0], time, Outcome::Sleep)
}

/// Sleeps for a time, or until a signal comes.
pub(super) fn sleep_for<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    time: Result<Option<u64>, Errno>,
    interrupted: Interrupted,
) -> Outcome {
    let word = nowhere(task);
    task.interrupted = interrupted;
    match time {
        Ok(time) => sleep(process, task, world, [word, 0], time, Outcome::Nap),
        Err(errno) => Outcome::Fail(errno),
    }
}

/// `nanosleep`, `clock_nanosleep`.
pub(super) fn nap<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    [number, flags, request, rest]: [u64; 4],
) -> Outcome {
    let time = time::read(&mut process.memory.space, request).and_then(|time| {
        let now = time::clock(world, number)?;
        Ok(if flags & ABSOLUTE != 0 {
            time.saturating_sub(now)
        } else {
            time
        })
    });
    let interrupted = match flags & ABSOLUTE {
        0 => Interrupted::EndsWithRest(rest),
        _ => Interrupted::Ends,
    };
    sleep_for(process, task, world, time.map(Some), interrupted)
}

/// Sleeps until a thread writes to a stream or closes one, or until the time is over. Then makes the call again.
pub(super) fn await_stream<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    time: Option<u64>,
    interrupted: Interrupted,
) -> Outcome {
    await_word(process, task, world, STREAMS, time, interrupted)
}

/// Like [`await_stream`], with the limit that a socket's reads or writes may have. When the time is over, the call returns
/// the bytes that it has moved, or `EAGAIN`.
pub(super) fn await_socket<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    writes: bool,
) -> Outcome {
    let [number, ..] = task.arguments();
    let limit = process.files.limit(number, writes);
    let now = world.nanoseconds();
    let left = task.until.map(|until| until.saturating_sub(now));
    if left.or(limit) == Some(0) {
        return match std::mem::take(&mut task.moved) {
            0 => Outcome::Fail(EAGAIN),
            moved => Outcome::Return(moved),
        };
    }
    await_stream(process, task, world, limit, Interrupted::within(limit))
}

/// Sleeps until a thread wakes the word's sleepers, or until the time is over. Then makes the call again.
pub(super) fn await_word<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    word: u64,
    time: Option<u64>,
    interrupted: Interrupted,
) -> Outcome {
    task.interrupted = interrupted;
    sleep(process, task, world, [word, 0], time, Outcome::Await)
}

/// Wakes the readers of streams after a write or a close.
pub(super) fn wake_readers<W: World>(world: &mut W) {
    world.futex_wake(STREAMS, u32::MAX);
}

/// `rt_sigsuspend`: sleeps with another mask until a handler has run.
pub(super) fn suspend<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    mask: u64,
) -> Outcome {
    let mask = match process.memory.space.read_u64(mask) {
        Ok(mask) => mask,
        Err(fault) => return Outcome::Fail(fault.into()),
    };
    if task.suspended.is_none() {
        task.suspended = Some(process.threads.replace_mask(task, mask));
    }
    let word = nowhere(task);
    task.interrupted = Interrupted::Ends;
    sleep(process, task, world, [word, 0], None, Outcome::Await)
}

/// `rt_sigtimedwait`: takes a signal of a set without running its handler.
pub(super) fn await_signal<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    [set, info, request]: [u64; 3],
) -> Outcome {
    let mut wait = || -> Result<Outcome, Errno> {
        let set = process.memory.space.read_u64(set)? & !UNSTOPPABLE;
        let time = time::read_limit(&mut process.memory.space, request)?;
        process.threads.wait_for(task, set);
        process.expire_timers(task, world);
        let (signals, threads) = (&mut process.signals, &mut process.threads);
        if let Some(sent) = signals.next_of(threads, task.number, set) {
            if info != 0 {
                process.memory.space.write(info, &sent.info())?;
            }
            return Ok(Outcome::Return(sent.signal.0));
        }
        let now = world.nanoseconds();
        let left = task.until.map(|until| until.saturating_sub(now)).or(time);
        if left == Some(0) {
            return Err(EAGAIN);
        }
        let word = nowhere(task);
        task.interrupted = Interrupted::EndsByStop;
        Ok(sleep(
            process,
            task,
            world,
            [word, set],
            time,
            Outcome::Await,
        ))
    };
    let outcome = wait().unwrap_or_else(Outcome::Fail);
    if matches!(outcome, Outcome::Return(_) | Outcome::Fail(_)) {
        task.until = None;
        process.threads.wait_for(task, 0);
    }
    outcome
}

/// Continues a task after its sleep.
pub(in crate::linux) fn woken<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
) -> Option<TaskState> {
    if let Some(thread) = process.threads.get_mut(task.number) {
        thread.asleep_to = 0;
    }
    match (world.woken(), task.phase) {
        (Wake::Disturbed, _) => return interrupt(process, task, world),
        (Wake::Late, _) if task.has_timer => return interrupt(process, task, world),
        (Wake::Late, Phase::Sleeps) => task.give_late(),
        (Wake::Called, Phase::Sleeps) | (_, Phase::Naps) => task.give(0),
        _ => task.begin_again(),
    }
    None
}

/// Ends the task's wait if the task takes a signal, or if the process is stopped and the call ends by that. Otherwise the
/// wait goes on. A stopped process takes no signals.
pub(in crate::linux) fn interrupt<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
) -> Option<TaskState> {
    process.expire_timers(task, world);
    let thread = process.threads.get_mut(task.number);
    let mut ends = thread.is_some_and(|thread| {
        std::mem::replace(&mut thread.at_stop, AtStop::GoesOn) == AtStop::Ended
    });
    while !process.signals.stop.is_on()
        && let Some(sent) = process.signals.next(&mut process.threads, task)
    {
        let Some(restarts) = process.signals.restarts(sent.signal) else {
            if process.stops(sent.signal) {
                ends |= task.interrupted == Interrupted::EndsByStop;
                continue;
            }
            if process.signals.ignores(sent.signal) {
                continue;
            }
            return Some(process.die(sent.signal, "sent by the program"));
        };
        end_wait(process, task, world, restarts);
        if !process.deliver(task, sent) {
            return Some(process.die(sent.signal, "its handler has no stack"));
        }
        return None;
    }
    if ends {
        end_wait(process, task, world, false);
        if let Some(mask) = task.suspended.take() {
            process.threads.replace_mask(task, mask);
        }
    } else {
        task.begin_again();
    }
    None
}

/// Ends the task's wait with a result, or prepares the call to be made again if that is what it does after a signal.
/// `restarts` says whether the signal's handler wants that.
fn end_wait<W: World>(process: &mut Process, task: &mut Task, world: &mut W, restarts: bool) {
    let again = match task.interrupted {
        Interrupted::Restarts => true,
        Interrupted::MayRestart => restarts && task.deadline.is_none(),
        Interrupted::Ends | Interrupted::EndsByStop | Interrupted::EndsWithRest(_) => false,
    };
    if let Some(number) = process.files.end_opening(task.number) {
        task.give(number);
    } else if task.moved > 0 {
        // The call returns the number of bytes that it has moved.
        let moved = std::mem::take(&mut task.moved);
        task.give(moved);
    } else if again {
        // The handler returns to the call's instruction.
        task.hart.pc = task.hart.pc.wrapping_sub(4);
        task.phase = Phase::Runs;
    } else {
        if let Interrupted::EndsWithRest(to) = task.interrupted {
            let now = world.nanoseconds();
            let rest = task.deadline.map_or(0, |end| end.saturating_sub(now));
            // If the pointer is wrong, the program does not get the rest of the time. The wait is over in any case.
            let _ = time::write(&mut process.memory.space, to, rest);
        }
        task.give(EINTR.negated());
    }
    task.until = None;
    process.threads.wait_for(task, 0);
    if process.files.drop_opening(task.number) {
        // Threads may wait for the side that is gone.
        wake_readers(world);
    }
}
