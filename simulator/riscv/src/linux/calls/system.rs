//! Calls that describe the machine, the program's user, and limits.

use crate::linux::errno::{EINVAL, EPERM, Value};
use crate::linux::process::Process;
use crate::linux::signal::LAST;
use crate::linux::system::System;
use crate::linux::task::Task;
use crate::linux::time;
use crate::linux::users::USER;
use crate::linux::world::World;
use crate::memory::Space;
use manycore_chip::config::Unit;

/// Resources of `getrlimit`.
const STACK: u64 = 3;
const FILES: u64 = 7;
/// The number of resources.
const RESOURCES: u64 = 16;

/// Commands of `prctl`.
const SET_DEATH_SIGNAL: u64 = 1;
const GET_DEATH_SIGNAL: u64 = 2;
const SET_REAPER: u64 = 36;
const GET_REAPER: u64 = 37;
const GET_KEEPS_CAPABILITIES: u64 = 7;
const GET_SECCOMP: u64 = 21;
const HAS_IN_BOUND: u64 = 23;
const LAST_CAPABILITY: u64 = 40;
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

/// `getrusage`.
pub(super) fn tell_usage<W: World>(
    system: &mut System,
    task: &Task,
    world: &W,
    [who, to]: [u64; 2],
) -> Value {
    let own = system.used(task, world);
    let process = system.of(task);
    let space = &mut process.memory.space;
    let (busy, resident) = match who as u32 {
        ITSELF => (own, space.most_resident()),
        THREAD => (world.own_nanoseconds(), space.most_resident()),
        CHILDREN => (process.used_by_children, 0),
        _ => return Err(EINVAL),
    };
    space.write(to, &time::usage(busy, resident))?;
    Ok(0)
}

/// `times`, in hundredths of a second.
pub(super) fn tell_ticks<W: World>(system: &mut System, task: &Task, world: &W, to: u64) -> Value {
    const TICK: u64 = time::SECOND / 100;
    let own = system.used(task, world);
    let process = system.of(task);
    let words = [own / TICK, 0, process.used_by_children / TICK, 0];
    let space = &mut process.memory.space;
    if to != 0 {
        space.write(to, &words.map(u64::to_le_bytes).concat())?;
    }
    Ok(world.nanoseconds() / TICK)
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
/// once. Other limits have no effect.
pub(super) fn limits(process: &mut Process, [resource, new, old]: [u64; 3]) -> Value {
    let space = &mut process.memory.space;
    let [limit, most] = match resource {
        STACK => [process.stack_limit, u64::MAX],
        FILES => process.files.limits,
        RESOURCES.. => return Err(EINVAL),
        _ => process
            .limits
            .get(&resource)
            .copied()
            .unwrap_or([u64::MAX; 2]),
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
        Some(both) => drop(process.limits.insert(resource, both)),
        None => {}
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
        (SET_DEATH_SIGNAL, 0..=LAST) => {
            process.death_signal = value;
            Ok(0)
        }
        (GET_DEATH_SIGNAL, _) => {
            let signal = process.death_signal as u32;
            process.memory.space.write_u32(value, signal)?;
            Ok(0)
        }
        (SET_REAPER, _) => {
            process.is_reaper = value != 0;
            Ok(0)
        }
        (GET_REAPER, _) => {
            let is_reaper = process.is_reaper.into();
            process.memory.space.write_u32(value, is_reaper)?;
            Ok(0)
        }
        (GET_DUMPABLE, _) | (GET_NO_NEW_PRIVILEGES, _) => Ok(1),
        (SET_DUMPABLE, 0 | 1) | (SET_NO_NEW_PRIVILEGES, 1) | (SET_TIMER_SLACK, _) => Ok(0),
        (GET_TIMER_SLACK, _) => Ok(50_000),
        (GET_KEEPS_CAPABILITIES | GET_SECCOMP, _) => Ok(0),
        (HAS_IN_BOUND, 0..=LAST_CAPABILITY) => Ok(1),
        _ => Err(EINVAL),
    }
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
