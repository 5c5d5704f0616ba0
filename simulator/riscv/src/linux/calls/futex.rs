//! `futex`.

use super::inherit::{self, CLOCK_IS_WALL, KIND};
use super::waits::sleep_on;
use crate::linux::errno::{EAGAIN, EFAULT, EINVAL, ENOSYS, Value};
use crate::linux::process::Process;
use crate::linux::system::System;
use crate::linux::task::{Outcome, Task};
use crate::linux::time;
use crate::linux::world::World;
use crate::memory::{END, PAGE, right};

const WAIT: u64 = 0;
const WAKE: u64 = 1;
const REQUEUE: u64 = 3;
const COMPARE_REQUEUE: u64 = 4;
const WAKE_AND_CHANGE: u64 = 5;
const WAIT_BITS: u64 = 9;
const WAKE_BITS: u64 = 10;
/// The flag that says that only threads of one process use the word.
const PRIVATE: u64 = 128;
const PRIVATE_WAKE: u64 = WAKE | PRIVATE;
const PRIVATE_REQUEUE: u64 = REQUEUE | PRIVATE;
const PRIVATE_WAKE_BITS: u64 = WAKE_BITS | PRIVATE;
const PRIVATE_WAKE_AND_CHANGE: u64 = WAKE_AND_CHANGE | PRIVATE;

/// Whether an operation of `futex` may put the thread to sleep.
pub(in crate::linux) fn waits(operation: u64) -> bool {
    matches!(operation & KIND, WAIT | WAIT_BITS)
}

/// Whether an address is no program's. Not even a wake of this process's own sleepers accepts it.
fn is_beyond(address: u64) -> bool {
    address >= END
}

pub(super) fn futex<W: World>(system: &mut System, task: &mut Task, world: &mut W) -> Outcome {
    let process = system.of(task);
    let [address, operation, value, timeout, second, third] = task.arguments();
    let known = matches!(
        operation & KIND,
        WAIT | WAKE | REQUEUE..=WAKE_AND_CHANGE | WAIT_BITS | WAKE_BITS
    ) || operation & KIND == inherit::UNLOCK
        || inherit::locks(operation);
    if !known {
        return Outcome::Fail(ENOSYS);
    }
    // The time of `WAIT_BITS` is a point of a clock, not a duration. Linux checks the time before it reads the word.
    let space = &mut process.memory.space;
    let time = match (operation & KIND, timeout) {
        (WAIT, _) | (WAIT_BITS, 0) => time::read_limit(space, timeout),
        (WAIT_BITS, _) => {
            let wall = operation & CLOCK_IS_WALL != 0;
            time::read_until(space, world, timeout, wall).map(Some)
        }
        _ => Ok(None),
    };
    let time = match time {
        Ok(time) => time,
        Err(errno) => return Outcome::Fail(errno),
    };
    if operation & KIND == inherit::UNLOCK
        && let Err(errno) = inherit::is_owner(space, task, address)
    {
        return Outcome::Fail(errno);
    }
    let of_bits = matches!(operation & KIND, WAIT_BITS | WAKE_BITS);
    if !address.is_multiple_of(4) || of_bits && third as u32 == 0 {
        return Outcome::Fail(EINVAL);
    }
    let is_shared = operation & PRIVATE == 0;
    if matches!(operation & KIND, REQUEUE | COMPARE_REQUEUE) {
        let is_less = [value, timeout].iter().any(|count| (*count as i32) < 0);
        if is_less {
            return Outcome::Fail(EINVAL);
        }
        let is_there = process.memory.space.page(address, right::READ).is_ok();
        if is_beyond(address) || is_shared && (!is_there || process.memory.never_changes(address)) {
            return Outcome::Fail(EFAULT);
        }
        if !second.is_multiple_of(4) {
            return Outcome::Fail(EINVAL);
        }
        if is_beyond(second) {
            return Outcome::Fail(EFAULT);
        }
    }
    if is_beyond(address) {
        return Outcome::Fail(EFAULT);
    }
    if is_shared && process.memory.never_changes(address) {
        return Outcome::Fail(EFAULT);
    }
    let Ok((page, _)) = process.memory.space.page(address, right::READ) else {
        // Threads can wake sleepers of their own process even without memory at the address.
        return match operation {
            PRIVATE_WAKE | PRIVATE_WAKE_BITS | PRIVATE_REQUEUE => Outcome::Return(0),
            PRIVATE_WAKE_AND_CHANGE => {
                wake_after_change(process, world, None, [value, timeout, second, third]).into()
            }
            _ => Outcome::Fail(EFAULT),
        };
    };
    let physical = page.physical + address % PAGE;
    let word = process.memory.space.read_u32(address);
    match operation & KIND {
        WAIT | WAIT_BITS if word != Ok(value as u32) => Outcome::Fail(EAGAIN),
        WAIT | WAIT_BITS => sleep_on(process, task, world, physical, time),
        // This wakes waiters for other bits too, since each waiter must expect a wake-up without a cause.
        WAKE_BITS if third as u32 != u32::MAX => {
            Outcome::Return(world.futex_wake(physical, u32::MAX))
        }
        WAKE | WAKE_BITS => {
            let count = u32::try_from(value).unwrap_or(u32::MAX);
            Outcome::Return(world.futex_wake(physical, count))
        }
        WAKE_AND_CHANGE => wake_after_change(
            process,
            world,
            Some(physical),
            [value, timeout, second, third],
        )
        .into(),
        inherit::UNLOCK => inherit::unlock(&mut process.memory.space, task, world, physical),
        _ if inherit::locks(operation) => {
            let owner = inherit::owner_of(word.unwrap_or(0));
            let mut has_owner = process.threads.get(owner).is_some();
            if is_shared {
                let is_owner = |it: &Process| !it.is_over && it.threads.get(owner).is_some();
                has_owner |= system.all().any(is_owner);
            }
            let outcome = inherit::lock(system.of(task), task, world, physical, has_owner);
            if matches!(outcome, Outcome::Await)
                && let Some(thread) = system.all_mut().find_map(|it| it.threads.get_mut(owner))
            {
                thread.awaited.insert(physical);
            }
            outcome
        }
        // Linux would move some sleepers to the other word. Here those sleepers wake, and check the word again.
        kind @ (REQUEUE | COMPARE_REQUEUE) => {
            let is_there = process.memory.space.page(second, right::READ).is_ok();
            if is_shared && (!is_there || process.memory.never_changes(second)) {
                return Outcome::Fail(EFAULT);
            }
            if kind == COMPARE_REQUEUE && word != Ok(third as u32) {
                return Outcome::Fail(EAGAIN);
            }
            let count = value.saturating_add(timeout);
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            Outcome::Return(world.futex_wake(physical, count))
        }
        _ => Outcome::Fail(ENOSYS),
    }
}

/// `FUTEX_WAKE_OP`: changes another word and wakes sleepers of the first word. If the other word's old value passes a
/// comparison, wakes the other word's sleepers too. A first word without memory has no sleepers.
fn wake_after_change<W: World>(
    process: &mut Process,
    world: &mut W,
    physical: Option<u64>,
    [count, other_count, other, what]: [u64; 4],
) -> Value {
    if !other.is_multiple_of(4) {
        return Err(EINVAL);
    }
    let (page, _) = process.memory.space.page(other, right::WRITE)?;
    let other_physical = page.physical + other % PAGE;
    let part = |from: u32| ((what << (52 - from)) as i64 >> 52) as u32;
    let (operand, compared) = (part(12), part(0));
    let operand = match what >> 31 & 1 {
        0 => operand,
        _ => 1u32.wrapping_shl(operand),
    };
    let old = process.memory.space.read_u32(other)?;
    let new = match what >> 28 & 7 {
        0 => operand,
        1 => old.wrapping_add(operand),
        2 => old | operand,
        3 => old & !operand,
        4 => old ^ operand,
        _ => return Err(ENOSYS),
    };
    let (left, right) = (old as i32, compared as i32);
    let holds = match what >> 24 & 15 {
        0 => left == right,
        1 => left != right,
        2 => left < right,
        3 => left <= right,
        4 => left > right,
        5 => left >= right,
        _ => return Err(ENOSYS),
    };
    process.memory.space.write_u32(other, new)?;
    let few = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    let mut woken = physical.map_or(0, |word| world.futex_wake(word, few(count)));
    if holds {
        woken += world.futex_wake(other_physical, few(other_count));
    }
    Ok(woken)
}
