//! Waits for files that other threads make ready: `ppoll`, `pselect6`, `epoll_pwait`.

use super::waits::{await_stream, sleep_for};
use crate::linux::errno::{EINVAL, Errno, Value};
use crate::linux::files::streams::ready;
use crate::linux::process::Process;
use crate::linux::task::{Interrupted, Outcome, Task};
use crate::linux::time;
use crate::linux::world::World;

/// The most numbers that `pselect6` looks at.
const MOST: u64 = 4_096;
const NOT_OPEN: u32 = 0x20;
/// States that let a read return at once. `WRITES` has those for a write.
const READS: u32 = ready::IN | ready::HUNG_UP | ready::ERROR;
const WRITES: u32 = ready::OUT | ready::ERROR;

/// The limits of a wait: its time, and the address of a signal mask (or 0).
struct Limits {
    time: Option<u64>,
    mask: u64,
    /// Whether a signal that the mask lets through counts even if the wait has no time. `epoll_pwait` does not look.
    ends_by_signals: bool,
    interrupted: Interrupted,
}

/// `ppoll`.
pub(super) fn poll<W: World>(process: &mut Process, task: &mut Task, world: &mut W) -> Outcome {
    let [files, count, request, mask, ..] = task.arguments();
    if count == 0 && mask == 0 {
        let time = time::read_limit(&mut process.memory.space, request);
        return sleep_for(process, task, world, time, Interrupted::Ends);
    }
    let outcome = time::read_limit(&mut process.memory.space, request).and_then(|time| {
        let limits = Limits {
            time,
            mask,
            ends_by_signals: true,
            interrupted: Interrupted::Ends,
        };
        await_files(process, task, world, limits, |process| {
            look_at_list(process, files, count)
        })
    });
    outcome.unwrap_or_else(Outcome::Fail)
}

/// `pselect6`.
pub(super) fn select<W: World>(process: &mut Process, task: &mut Task, world: &mut W) -> Outcome {
    let [count, reads, writes, others, request, mask] = task.arguments();
    let sets = [(reads, READS), (writes, WRITES), (others, 0)];
    let mut wait = || -> Result<Outcome, Errno> {
        let time = time::read_limit(&mut process.memory.space, request)?;
        let mask = if mask == 0 {
            0
        } else {
            process.memory.space.read_u64(mask)?
        };
        let limits = Limits {
            time,
            mask,
            ends_by_signals: true,
            interrupted: Interrupted::Ends,
        };
        await_files(process, task, world, limits, |process| {
            look_at_sets(process, count, sets, false)
        })
    };
    // After the wait, the call writes the sets.
    match wait() {
        Ok(Outcome::Return(_)) => look_at_sets(process, count, sets, true).into(),
        outcome => outcome.unwrap_or_else(Outcome::Fail),
    }
}

/// `epoll_pwait`.
pub(super) fn await_group<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
) -> Outcome {
    let [group, to, most, milliseconds, mask, _] = task.arguments();
    let milliseconds = u64::try_from(milliseconds as i32).ok();
    let time = milliseconds.map(|time| time * 1_000_000);
    let limits = Limits {
        time,
        mask,
        ends_by_signals: false,
        interrupted: Interrupted::EndsByStop,
    };
    await_files(process, task, world, limits, |process| {
        let space = &mut process.memory.space;
        process.files.tell_group(space, group, to, most)
    })
    .unwrap_or_else(Outcome::Fail)
}

/// Waits until `look` finds ready files or the time is over. Returns their number.
fn await_files<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    limits: Limits,
    look: impl FnOnce(&mut Process) -> Value,
) -> Result<Outcome, Errno> {
    let wait = || -> Result<Outcome, Errno> {
        process.files.look_at_clocks(world.nanoseconds());
        process.expire_timers(task, world);
        let pending = process.signals.takeable(&process.threads, task.number);
        process.files.pending.set(pending);
        process.files.arrived.set(process.signals.arrived);
        let found = look(process)?;
        let now = world.nanoseconds();
        let left = task.until.map(|until| until.saturating_sub(now));
        let is_over = left.or(limits.time) == Some(0);
        if found != 0 || is_over && !limits.ends_by_signals {
            return Ok(Outcome::Return(found));
        }
        if limits.mask != 0 && task.suspended.is_none() {
            let mask = process.memory.space.read_u64(limits.mask)?;
            task.suspended = Some(process.threads.replace_mask(task, mask));
        }
        let interrupted = limits.interrupted;
        if is_over {
            let (signals, threads) = (&process.signals, &process.threads);
            task.interrupted = interrupted;
            // After a signal without a handler, the call is made again, and its time is still over.
            task.deadline = Some(now);
            return Ok(match signals.is_sent_of(threads, task.number, !task.mask) {
                true => Outcome::Interrupted,
                false => Outcome::Return(0),
            });
        }
        Ok(await_stream(process, task, world, limits.time, interrupted))
    };
    let outcome = wait();
    if matches!(outcome, Ok(Outcome::Return(_)) | Err(_)) {
        task.until = None;
        if let Some(mask) = task.suspended.take() {
            process.threads.replace_mask(task, mask);
        }
    }
    outcome
}

/// Looks at an array of `pollfd` and writes each file's state. Returns the number of ready files.
fn look_at_list(process: &mut Process, list: u64, count: u64) -> Value {
    if count > process.files.limits[0] {
        return Err(EINVAL);
    }
    let (files, space) = (&process.files, &mut process.memory.space);
    let mut total = 0;
    for at in (0..count).map(|at| list.wrapping_add(8 * at)) {
        let number = space.read_u32(at)?;
        let wanted = space.read_u32(at.wrapping_add(4))? & 0xFFFF;
        let found = if (number as i32) < 0 {
            0
        } else {
            match files.ready(number.into()) {
                Ok((found, _)) => found & (wanted | ready::ERROR | ready::HUNG_UP),
                Err(_) => NOT_OPEN,
            }
        };
        space.write_u32(at.wrapping_add(4), wanted | found << 16)?;
        total += u64::from(found != 0);
    }
    Ok(total)
}

/// Looks at sets of files, each with the states that count as ready. With `write`, leaves only ready files in the sets.
/// Returns their number.
fn look_at_sets(process: &mut Process, count: u64, sets: [(u64, u32); 3], write: bool) -> Value {
    if count > MOST {
        return Err(EINVAL);
    }
    let (files, space) = (&process.files, &mut process.memory.space);
    let mut total = 0;
    for (set, counts) in sets.into_iter().filter(|(set, _)| *set != 0) {
        for first in (0..count).step_by(64) {
            let at = set.wrapping_add(first / 8);
            let bits = space.read_u64(at)?;
            let mut found = 0;
            for bit in (0..64.min(count - first)).filter(|bit| bits >> bit & 1 == 1) {
                let is_ready = match files.ready(first + bit) {
                    Ok((ready, _)) => ready & counts != 0,
                    // As under Linux, a file's place (`O_PATH`) counts as ready, although it cannot be read.
                    Err(_) => files.get_place(first + bit).map(|_| true)?,
                };
                found |= u64::from(is_ready) << bit;
            }
            if write {
                space.write_u64(at, found)?;
            }
            total += u64::from(found.count_ones());
        }
    }
    Ok(total)
}
