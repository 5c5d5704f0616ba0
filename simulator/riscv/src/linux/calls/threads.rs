//! Calls about one thread: its end, its cores, its yields.

use crate::linux::errno::{EINVAL, ESRCH, Errno, Value};
use crate::linux::process::Process;
use crate::linux::robust::{leave_mutexes, wake_one};
use crate::linux::task::{Outcome, Task};
use crate::linux::threads::Threads;
use crate::linux::world::World;
use crate::memory::Space;

/// The size in bytes of the head of a robust list.
const ROBUST_LIST: u64 = 24;

/// Ends a thread: zeroes the thread's word, and wakes a joiner that sleeps on the word.
pub(super) fn end<W: World>(process: &mut Process, task: &mut Task, world: &mut W) -> Outcome {
    leave_mutexes(process, task.number, world);
    process.threads.remove(task.number);
    process.timers.remove_of(task.number);
    if task.clear != 0 && process.memory.space.write_u32(task.clear, 0).is_ok() {
        wake_one(&mut process.memory.space, world, task.clear);
    }
    Outcome::End
}

/// Returns the thread number that a call names. 0 names the caller.
fn numbered(task: &Task, thread: u64) -> u32 {
    match thread {
        0 => task.number,
        _ => thread as u32,
    }
}

/// `sched_getaffinity`.
pub(super) fn tell_affinity<W: World>(
    space: &mut Space,
    threads: &Threads,
    task: &Task,
    world: &W,
    [thread, length, to]: [u64; 3],
) -> Value {
    let number = numbered(task, thread);
    let own = &threads.get(number).ok_or(ESRCH)?.cores;
    let cores = world.cores() as usize;
    let bytes = cores.div_ceil(64) * 8;
    if length < bytes as u64 || !length.is_multiple_of(8) {
        return Err(EINVAL);
    }
    let mut mask = vec![0u8; bytes];
    for core in 0..cores {
        if own.is_empty() || own.contains(&core) {
            mask[core / 8] |= 1 << (core % 8);
        }
    }
    space.write(to, &mask)?;
    Ok(bytes as u64)
}

/// `sched_setaffinity`.
pub(super) fn set_affinity<W: World>(
    space: &mut Space,
    threads: &mut Threads,
    task: &Task,
    world: &mut W,
    [thread, length, from]: [u64; 3],
) -> Result<Outcome, Errno> {
    let number = numbered(task, thread);
    let mut mask = vec![0u8; length.min(1_024) as usize];
    space.read(from, &mut mask)?;
    let cores = (0..world.cores() as usize).filter(|&core| {
        mask.get(core / 8)
            .is_some_and(|byte| byte >> (core % 8) & 1 == 1)
    });
    let cores: Vec<usize> = cores.collect();
    let thread = threads.get_mut(number).ok_or(ESRCH)?;
    if cores.is_empty() || !world.set_affinity(thread.handle, &cores) {
        return Err(EINVAL);
    }
    thread.cores = cores;
    Ok(if number == task.number {
        Outcome::Move
    } else {
        Outcome::Return(0)
    })
}

/// `set_tid_address`: sets a word. When the thread ends, the word is zeroed and its sleeper is woken.
pub(super) fn set_clear(task: &mut Task, address: u64) -> Value {
    task.clear = address;
    Ok(task.number.into())
}

/// `set_robust_list`: sets the list of mutexes that the thread's end unlocks.
pub(super) fn set_robust(threads: &mut Threads, task: &Task, [list, length]: [u64; 2]) -> Value {
    if length != ROBUST_LIST {
        return Err(EINVAL);
    }
    if let Some(thread) = threads.get_mut(task.number) {
        thread.robust = list;
    }
    Ok(0)
}

/// `get_robust_list`, of a thread of the caller's process.
pub(super) fn tell_robust(
    process: &mut Process,
    task: &Task,
    [number, list, length]: [u64; 3],
) -> Value {
    let number = match number as u32 {
        0 => task.number(),
        number => number,
    };
    let space = &mut process.memory.space;
    let thread = process.threads.get(number).ok_or(ESRCH)?;
    space.write_u64(length, ROBUST_LIST)?;
    space.write_u64(list, thread.robust)?;
    Ok(0)
}

/// `sched_yield`.
pub(super) fn make_way<W: World>(world: &mut W) -> Outcome {
    world.yield_now();
    Outcome::Yield
}
