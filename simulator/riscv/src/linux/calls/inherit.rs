//! Mutexes with priority inheritance (`FUTEX_LOCK_PI`). All threads have one priority, so the
//! kernel only writes the owner into the word.

use super::waits::await_word;
use crate::linux::errno::{EAGAIN, EDEADLK, EPERM, ESRCH, ETIMEDOUT, Errno, Value};
use crate::linux::process::Process;
use crate::linux::robust::{OWNER_DIED, WAITERS};
use crate::linux::task::{Interrupted, Outcome, Task};
use crate::linux::time;
use crate::linux::world::World;
use crate::memory::Space;

/// The bits of a `futex` operation without its flags.
pub(super) const KIND: u64 = 0x7F;
/// The flag that says that the time is a point of the wall clock.
pub(super) const CLOCK_IS_WALL: u64 = 256;

/// `FUTEX_LOCK_PI`, `FUTEX_UNLOCK_PI`, `FUTEX_TRYLOCK_PI`, `FUTEX_LOCK_PI2`.
const LOCK: u64 = 6;
pub(super) const UNLOCK: u64 = 7;
const TRY: u64 = 8;
const LOCK_BY_CLOCK: u64 = 13;

/// Whether an operation of `futex` locks such a mutex. No signal makes this operation fail.
pub(super) fn locks(operation: u64) -> bool {
    matches!(operation & KIND, LOCK | TRY | LOCK_BY_CLOCK)
}

/// The number of the thread that owns a mutex with this word, or 0.
pub(super) fn owner_of(word: u32) -> u32 {
    word & !(WAITERS | OWNER_DIED)
}

/// Takes a mutex, or sleeps on the mutex's word and then makes the call again. `has_owner` says whether the owner in the
/// word is a thread.
pub(super) fn lock<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    physical: u64,
    has_owner: bool,
) -> Outcome {
    let outcome = try_lock(process, task, world, physical, has_owner).unwrap_or_else(Outcome::Fail);
    if matches!(outcome, Outcome::Return(_) | Outcome::Fail(_)) {
        task.until = None;
    }
    outcome
}

fn try_lock<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    physical: u64,
    has_owner: bool,
) -> Result<Outcome, Errno> {
    let [address, operation, _, timeout, ..] = task.arguments();
    let word = process.memory.space.read_u32(address)?;
    let owner = owner_of(word);
    if owner == 0 {
        process
            .memory
            .space
            .write_u32(address, task.number | word)?;
        return Ok(Outcome::Return(0));
    }
    if owner == task.number {
        return Err(EDEADLK);
    }
    if operation & KIND == TRY {
        return Err(EAGAIN);
    }
    if !has_owner {
        // Waiters take the mutex of an owner that has ended.
        if word & WAITERS == 0 {
            return Err(ESRCH);
        }
        let word = task.number | WAITERS | OWNER_DIED;
        process.memory.space.write_u32(address, word)?;
        return Ok(Outcome::Return(0));
    }
    let time = match timeout {
        0 => None,
        _ => {
            let wall = operation & KIND == LOCK || operation & CLOCK_IS_WALL != 0;
            Some(time::read_until(
                &mut process.memory.space,
                world,
                timeout,
                wall,
            )?)
        }
    };
    if time == Some(0) {
        return Err(ETIMEDOUT);
    }
    process.memory.space.write_u32(address, word | WAITERS)?;
    let interrupted = Interrupted::Restarts;
    Ok(await_word(
        process,
        task,
        world,
        physical,
        time,
        interrupted,
    ))
}

/// Succeeds if the task holds the mutex at an address.
pub(super) fn is_owner(space: &mut Space, task: &Task, address: u64) -> Result<(), Errno> {
    match owner_of(space.read_u32(address)?) == task.number {
        true => Ok(()),
        false => Err(EPERM),
    }
}

/// Unlocks the task's mutex. All waiters try again, and the first waiter takes the mutex.
pub(super) fn unlock<W: World>(
    space: &mut Space,
    task: &Task,
    world: &mut W,
    physical: u64,
) -> Outcome {
    let [address, ..] = task.arguments();
    let mut unlock = || -> Value {
        space.write_u32(address, 0)?;
        world.futex_wake(physical, u32::MAX);
        Ok(0)
    };
    unlock().into()
}
