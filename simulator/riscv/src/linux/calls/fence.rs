//! `membarrier`: a fence on all cores that run the process.
//!
//! The machine keeps the order of all memory accesses, so the call only takes time: it interrupts the cores that run
//! other threads of the process, and waits for them.
//!
//! Only the private commands exist. As in a kernel without periodic interrupts (`nohz_full`), there is no
//! `MEMBARRIER_CMD_GLOBAL`. A process registers at once. In Linux, a process with several threads waits for a grace
//! period first.

use crate::linux::errno::{EINVAL, EPERM, Value};
use crate::linux::process::Process;
use crate::linux::task::Task;
use crate::linux::world::World;

const QUERY: u64 = 0;
const PRIVATE: u64 = 1 << 3;
const REGISTER_PRIVATE: u64 = 1 << 4;
/// These two also make later instructions visible.
const SYNC_CORE: u64 = 1 << 5;
const REGISTER_SYNC_CORE: u64 = 1 << 6;
const GET_REGISTRATIONS: u64 = 1 << 9;

/// The commands, as `MEMBARRIER_CMD_QUERY` returns them.
const COMMANDS: u64 =
    PRIVATE | REGISTER_PRIVATE | SYNC_CORE | REGISTER_SYNC_CORE | GET_REGISTRATIONS;

pub(super) fn membarrier<W: World>(
    process: &mut Process,
    task: &Task,
    world: &mut W,
    command: u64,
    flags: u64,
) -> Value {
    // The kernel reads both as 32-bit numbers.
    let (command, flags) = (command & 0xFFFF_FFFF, flags & 0xFFFF_FFFF);
    if flags != 0 {
        return Err(EINVAL);
    }
    match command {
        QUERY => Ok(COMMANDS),
        // In Linux, the registration for `SYNC_CORE` is reported as both registrations.
        GET_REGISTRATIONS => Ok(match process.memory.fences & REGISTER_SYNC_CORE {
            0 => process.memory.fences,
            _ => REGISTER_PRIVATE | REGISTER_SYNC_CORE,
        }),
        REGISTER_PRIVATE | REGISTER_SYNC_CORE => {
            process.memory.fences |= command;
            Ok(0)
        }
        PRIVATE | SYNC_CORE => {
            // The command to register is the next bit.
            if process.memory.fences & command << 1 == 0 {
                return Err(EPERM);
            }
            if command == SYNC_CORE {
                process.memory.space.flush_code();
            }
            let others = process.threads.handles_beside(task.number);
            if !others.is_empty() {
                world.fence(&others);
            }
            Ok(0)
        }
        _ => Err(EINVAL),
    }
}
