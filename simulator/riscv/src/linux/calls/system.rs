//! Calls that describe the machine, the program's user, and limits.

use crate::linux::errno::{EINVAL, EPERM, Value};
use crate::linux::process::Process;
use crate::linux::task::Task;
use crate::linux::time::SECOND;
use crate::linux::users::USER;
use crate::linux::world::World;
use crate::memory::Space;
use manycore_chip::config::Unit;

/// Resources of `getrlimit`.
const STACK: u64 = 3;
const FILES: u64 = 7;
/// The number of resources.
const RESOURCES: u64 = 16;

/// The policies of `sched_setscheduler` that have priorities.
const FIFO: u64 = 1;
const ROUND_ROBIN: u64 = 2;

/// Commands of `prctl`.
const SET_NAME: u64 = 15;
const GET_NAME: u64 = 16;
const GET_DUMPABLE: u64 = 3;
const SET_DUMPABLE: u64 = 4;
const SET_TIMER_SLACK: u64 = 29;
const GET_TIMER_SLACK: u64 = 30;
const SET_NO_NEW_PRIVILEGES: u64 = 38;
const GET_NO_NEW_PRIVILEGES: u64 = 39;
/// Bytes of a thread's name, including the zero at its end.
const NAME: usize = 16;

/// The values of `who` in `getrusage`, as 32 bits.
const ITSELF: u32 = 0;
const CHILDREN: u32 = u32::MAX;
const THREAD: u32 = 1;

/// `getrusage`. `RUSAGE_SELF` includes the children, so `RUSAGE_CHILDREN` reports 0.
pub(super) fn tell_usage<W: World>(space: &mut Space, world: &W, who: u64, to: u64) -> Value {
    let (busy, resident) = match who as u32 {
        ITSELF => (world.busy_nanoseconds(), space.most_resident()),
        THREAD => (world.own_nanoseconds(), space.most_resident()),
        CHILDREN => (0, 0),
        _ => return Err(EINVAL),
    };
    let mut words = [0; 18];
    (words[0], words[1]) = (busy / SECOND, busy % SECOND / 1_000);
    words[4] = resident >> 10;
    space.write(to, &words.map(u64::to_le_bytes).concat())?;
    Ok(0)
}

/// `sysinfo`.
pub(super) fn tell_system(space: &mut Space, to: u64) -> Value {
    let mut bytes = [0; 112];
    let total = 1u64 << 34;
    bytes[32..40].copy_from_slice(&total.to_le_bytes());
    bytes[40..48].copy_from_slice(&total.to_le_bytes());
    bytes[104..108].copy_from_slice(&1u32.to_le_bytes());
    space.write(to, &bytes)?;
    Ok(0)
}

/// `uname`.
pub(super) fn tell_name(space: &mut Space, to: u64) -> Value {
    let fields = [
        "Linux",
        "manycore",
        "6.1.0",
        "#1 simulated",
        "riscv64",
        "(none)",
    ];
    for (at, text) in (0u64..).zip(fields) {
        let mut field = [0; 65];
        field[..text.len()].copy_from_slice(text.as_bytes());
        space.write(to.wrapping_add(65 * at), &field)?;
    }
    Ok(0)
}

/// `prlimit64`. The limit of the stack applies to the program that the process runs next. The limits of files apply at
/// once. The system keeps no other limits.
pub(super) fn limits(process: &mut Process, [resource, new, old]: [u64; 3]) -> Value {
    let space = &mut process.memory.space;
    let [limit, most] = match resource {
        STACK => [process.stack_limit, u64::MAX],
        FILES => process.files.limits,
        RESOURCES.. => return Err(EINVAL),
        _ => [u64::MAX; 2],
    };
    let wanted = match new {
        0 => None,
        _ => Some([space.read_u64(new)?, space.read_u64(new.wrapping_add(8))?]),
    };
    match wanted {
        Some([soft, hard]) if soft > hard => return Err(EINVAL),
        Some([_, hard]) if hard > most => return Err(EPERM),
        Some([soft, _]) if resource == STACK => process.stack_limit = soft,
        Some(both) if resource == FILES => process.files.limits = both,
        _ => {}
    }
    if old != 0 {
        space.write_u64(old, limit)?;
        space.write_u64(old.wrapping_add(8), most)?;
    }
    Ok(0)
}

/// `prctl`.
pub(super) fn control_process(
    process: &mut Process,
    task: &Task,
    [command, value]: [u64; 2],
) -> Value {
    match (command, value) {
        (SET_NAME, _) => {
            let mut bytes = Vec::new();
            for at in 0..NAME as u64 - 1 {
                let mut byte = [0];
                process
                    .memory
                    .space
                    .read(value.wrapping_add(at), &mut byte)?;
                if byte == [0] {
                    break;
                }
                bytes.push(byte[0]);
            }
            if let Some(thread) = process.threads.get_mut(task.number) {
                thread.name = Some(String::from_utf8_lossy(&bytes).into());
            }
            Ok(0)
        }
        (GET_NAME, _) => {
            let name = process.name_of(task.number);
            let mut bytes = [0; NAME];
            let length = name.len().min(NAME - 1);
            bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
            process.memory.space.write(value, &bytes)?;
            Ok(0)
        }
        (GET_DUMPABLE, _) | (GET_NO_NEW_PRIVILEGES, _) => Ok(1),
        (SET_DUMPABLE, 0 | 1) | (SET_NO_NEW_PRIVILEGES, 1) | (SET_TIMER_SLACK, _) => Ok(0),
        (GET_TIMER_SLACK, _) => Ok(50_000),
        _ => Err(EINVAL),
    }
}

/// `sched_setscheduler`: accepts the only policy, which has no priorities.
pub(super) fn set_policy(policy: u64) -> Value {
    if policy == 0 { Ok(0) } else { Err(EINVAL) }
}

/// `sched_get_priority_min`, `sched_get_priority_max`: returns 0 if the policy has no priorities.
pub(super) fn priority(policy: u64, priority: u64) -> Value {
    let has_any = matches!(policy, FIFO | ROUND_ROBIN);
    Ok(if has_any { priority } else { 0 })
}

/// `getresuid`, `getresgid`.
pub(super) fn tell_users(space: &mut Space, to: [u64; 3]) -> Value {
    for to in to {
        space.write_u32(to, USER)?;
    }
    Ok(0)
}

/// `getcpu`: writes the core and its NUMA node. Either pointer may be null.
pub(super) fn tell_core<W: World>(space: &mut Space, world: &W, core: u64, node: u64) -> Value {
    let its_node = world.topology().number(Unit::Node, world.core());
    for (to, value) in [(core, world.core()), (node, its_node)] {
        if to != 0 {
            space.write_u32(to, value)?;
        }
    }
    Ok(0)
}
