//! Mutexes whose owner has the priority of who waits (`FUTEX_LOCK_PI`). All threads have one
//! priority, so what is left is that the kernel writes the owner into the word.

use super::errno::{EAGAIN, EDEADLK, EPERM, ESRCH, ETIMEDOUT, Errno};
use super::task::{Outcome, Task};
use super::{Process, World, time};

pub(super) const WAITERS: u32 = 1 << 31;
pub(super) const OWNER_DIED: u32 = 1 << 30;
/// `FUTEX_LOCK_PI`, `FUTEX_UNLOCK_PI`, `FUTEX_TRYLOCK_PI`, `FUTEX_LOCK_PI2`.
const LOCK: u64 = 6;
pub(super) const UNLOCK: u64 = 7;
const TRY: u64 = 8;
const LOCK_BY_CLOCK: u64 = 13;
const CLOCK_IS_WALL: u64 = 256;

/// Whether an operation of `futex` locks such a mutex: a signal never ends it.
pub(super) fn locks(operation: u64) -> bool {
    matches!(operation & 0x7F, LOCK | TRY | LOCK_BY_CLOCK)
}

impl Process {
    /// Takes a mutex, or sleeps on its word and makes the call again.
    pub(super) fn lock_inheriting<W: World>(
        &mut self,
        task: &mut Task,
        world: &mut W,
        physical: u64,
    ) -> Outcome {
        let outcome = self
            .try_inheriting(task, world, physical)
            .unwrap_or_else(Outcome::Fail);
        if matches!(outcome, Outcome::Return(_) | Outcome::Fail(_)) {
            task.until = None;
        }
        outcome
    }

    fn try_inheriting<W: World>(
        &mut self,
        task: &mut Task,
        world: &mut W,
        physical: u64,
    ) -> Result<Outcome, Errno> {
        let [address, operation, _, timeout, ..] = task.arguments();
        let word = self.space.read_u32(address)?;
        let owner = word & !(WAITERS | OWNER_DIED);
        if owner == 0 {
            self.space.write_u32(address, task.number | word)?;
            return Ok(Outcome::Return(0));
        }
        if owner == task.number {
            return Err(EDEADLK);
        }
        if operation & 0x7F == TRY {
            return Err(EAGAIN);
        }
        if !self.threads.contains_key(&owner) {
            return Err(ESRCH);
        }
        let time = match timeout {
            0 => None,
            _ => {
                let wall = operation & 0x7F == LOCK || operation & CLOCK_IS_WALL != 0;
                let now = time::clock(world, u64::from(!wall))?;
                Some(self.read_time(timeout)?.saturating_sub(now))
            }
        };
        if time == Some(0) {
            return Err(ETIMEDOUT);
        }
        self.space.write_u32(address, word | WAITERS)?;
        Ok(self.await_word(task, world, physical, time))
    }

    /// Gives a mutex back. All who wait try again: the first to come has it.
    pub(super) fn unlock_inheriting<W: World>(
        &mut self,
        task: &Task,
        world: &mut W,
        physical: u64,
    ) -> Outcome {
        let [address, ..] = task.arguments();
        let mut unlock = || -> Result<u64, Errno> {
            if self.space.read_u32(address)? & !(WAITERS | OWNER_DIED) != task.number {
                return Err(EPERM);
            }
            self.space.write_u32(address, 0)?;
            world.futex_wake(physical, u32::MAX);
            Ok(0)
        };
        unlock().into()
    }
}
