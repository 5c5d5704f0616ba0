//! Policies, priorities and nice values. A program may set what an ordinary user may set. Nothing has an effect.

use crate::linux::errno::{EACCES, EINVAL, EPERM, ESRCH, Errno, Value};
use crate::linux::process::Process;
use crate::linux::system::System;
use crate::linux::task::Task;
use crate::linux::time;

/// Policies: without priorities, with priorities, and with deadlines.
const OTHER: u64 = 0;
const FIFO: u64 = 1;
const ROUND_ROBIN: u64 = 2;
const BATCH: u64 = 3;
const IDLE: u64 = 5;
const DEADLINE: u64 = 6;
/// The flag of a policy that a child does not inherit.
const RESETS: u64 = 0x4000_0000;

/// The time slice of a thread without priority, in nanoseconds, that `sched_rr_get_interval` returns.
const SLICE: u64 = 4_000_000;

/// What `setpriority` names: a process, a group, a user.
const LAST_KIND: u64 = 2;
const LEAST_NICE: i64 = -20;
const MOST_NICE: i64 = 19;

/// The process that has the thread of this number. 0 means the caller's process.
fn process_of<'a>(
    system: &'a mut System,
    task: &Task,
    number: u64,
) -> Result<&'a mut Process, Errno> {
    let number = match number as i32 {
        ..0 => return Err(EINVAL),
        0 => task.number(),
        number => number as u32,
    };
    let mut all = system.all_mut();
    let found = all.find(|it| !it.is_over && it.threads.get(number).is_some());
    found.ok_or(ESRCH)
}

/// Reads a `sched_param`.
fn priority_at(system: &mut System, task: &Task, from: u64) -> Result<u32, Errno> {
    match from {
        0 => Err(EINVAL),
        _ => Ok(system.of(task).memory.space.read_u32(from)?),
    }
}

/// `sched_setscheduler`.
pub(super) fn set_policy(
    system: &mut System,
    task: &Task,
    [number, policy, from]: [u64; 3],
) -> Value {
    let priority = priority_at(system, task, from)?;
    let process = process_of(system, task, number)?;
    match (policy & !RESETS, priority) {
        (policy @ (OTHER | BATCH | IDLE), 0) => {
            process.policy = policy;
            Ok(0)
        }
        (FIFO | ROUND_ROBIN, 1..=99) => Err(EPERM),
        _ => Err(EINVAL),
    }
}

/// `sched_setparam`.
pub(super) fn set_priority(system: &mut System, task: &Task, [number, from]: [u64; 2]) -> Value {
    let priority = priority_at(system, task, from)?;
    process_of(system, task, number)?;
    match priority {
        0 => Ok(0),
        _ => Err(EINVAL),
    }
}

/// `sched_getscheduler`.
pub(super) fn tell_policy(system: &mut System, task: &Task, number: u64) -> Value {
    Ok(process_of(system, task, number)?.policy)
}

/// `sched_getparam`.
pub(super) fn tell_priority(system: &mut System, task: &Task, [number, to]: [u64; 2]) -> Value {
    if to == 0 {
        return Err(EINVAL);
    }
    process_of(system, task, number)?;
    system.of(task).memory.space.write_u32(to, 0)?;
    Ok(0)
}

/// `sched_rr_get_interval`.
pub(super) fn tell_slice(system: &mut System, task: &Task, [number, to]: [u64; 2]) -> Value {
    process_of(system, task, number)?;
    time::write(&mut system.of(task).memory.space, to, SLICE)
}

/// `sched_get_priority_min`, `sched_get_priority_max`: returns 0 if the policy has no priorities.
pub(super) fn limit(policy: u64, priority: u64) -> Value {
    match policy {
        FIFO | ROUND_ROBIN => Ok(priority),
        OTHER | BATCH | IDLE | DEADLINE => Ok(0),
        _ => Err(EINVAL),
    }
}

/// `setpriority`. A nice value never falls.
pub(super) fn set_nice(system: &mut System, task: &Task, [kind, number, nice]: [u64; 3]) -> Value {
    if kind > LAST_KIND {
        return Err(EINVAL);
    }
    let process = process_of(system, task, number).map_err(|_| ESRCH)?;
    let nice = i64::from(nice as i32).clamp(LEAST_NICE, MOST_NICE);
    if nice < process.nice {
        return Err(EACCES);
    }
    process.nice = nice;
    Ok(0)
}

/// `getpriority`: returns 20 minus the nice value.
pub(super) fn tell_nice(system: &mut System, task: &Task, [kind, number]: [u64; 2]) -> Value {
    if kind > LAST_KIND {
        return Err(EINVAL);
    }
    let process = process_of(system, task, number).map_err(|_| ESRCH)?;
    Ok((MOST_NICE + 1 - process.nice) as u64)
}
