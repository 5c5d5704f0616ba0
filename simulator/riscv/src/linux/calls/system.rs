//! Calls that describe the machine, the program's user, and limits.

use crate::linux::errno::{EINVAL, Value};
use crate::linux::time::SECOND;
use crate::linux::users::USER;
use crate::linux::world::World;
use crate::memory::Space;
use manycore_chip::config::Unit;

/// Resources of `getrlimit`.
const STACK: u64 = 3;
const FILES: u64 = 7;

/// The policies of `sched_setscheduler` that have priorities.
const FIFO: u64 = 1;
const ROUND_ROBIN: u64 = 2;

/// The command of `prctl` that names a thread.
const SET_NAME: u64 = 15;

/// `getrusage`.
pub(super) fn tell_usage<W: World>(space: &mut Space, world: &W, to: u64) -> Value {
    let busy = world.busy_nanoseconds();
    let mut words = [0; 18];
    (words[0], words[1]) = (busy / SECOND, busy % SECOND / 1_000);
    words[4] = space.resident() >> 10;
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

/// Limits are not kept: 8 MiB of stack, 1,024 files, else none.
pub(super) fn limits(space: &mut Space, resource: u64, old: u64) -> Value {
    let limit = match resource {
        STACK => 8 << 20,
        FILES => 1_024,
        _ => u64::MAX,
    };
    if old != 0 {
        space.write_u64(old, limit)?;
        let most = if resource == FILES { 4_096 } else { u64::MAX };
        space.write_u64(old.wrapping_add(8), most)?;
    }
    Ok(0)
}

/// `prctl`: a thread's name is taken, and not kept.
pub(super) fn control_process(command: u64) -> Value {
    if command == SET_NAME {
        Ok(0)
    } else {
        Err(EINVAL)
    }
}

/// `sched_setscheduler`: one policy, without priorities.
pub(super) fn set_policy(policy: u64) -> Value {
    if policy == 0 { Ok(0) } else { Err(EINVAL) }
}

/// `sched_get_priority_min`, `sched_get_priority_max`: the priority of a policy, if it has any.
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

/// `getcpu`: the core, and its NUMA node. Pointers may be null.
pub(super) fn tell_core<W: World>(space: &mut Space, world: &W, core: u64, node: u64) -> Value {
    let its_node = world.topology().number(Unit::Node, world.core());
    for (to, value) in [(core, world.core()), (node, its_node)] {
        if to != 0 {
            space.write_u32(to, value)?;
        }
    }
    Ok(0)
}
