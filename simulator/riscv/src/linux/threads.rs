//! Threads: `clone`, `futex`, the end of a thread, where threads may run.

use super::errno::{EAGAIN, EFAULT, EINVAL, ENOSYS, ESRCH, Errno, Value};
use super::inherit::{self, OWNER_DIED, WAITERS};
use super::task::{Outcome, Task};
use super::{Process, Thread, World, time};
use crate::memory::right;

const SHARES_MEMORY: u64 = 0x100;
const IS_THREAD: u64 = 0x1_0000;
const SET_TLS: u64 = 0x8_0000;
const SET_PARENT: u64 = 0x10_0000;
const CLEAR_CHILD: u64 = 0x20_0000;
const SET_CHILD: u64 = 0x100_0000;

const STACK_POINTER: usize = 2;
const THREAD_POINTER: usize = 4;
const CLOCK_IS_WALL: u64 = 256;

impl Process {
    /// Makes a thread; a process of its own is not supported.
    pub(super) fn clone_task<W: World>(&mut self, task: &mut Task, world: &mut W) -> Value {
        let [flags, stack, parent, tls, child, _] = task.arguments();
        if flags & (SHARES_MEMORY | IS_THREAD) != SHARES_MEMORY | IS_THREAD {
            let call = task.hart.pc.wrapping_sub(4);
            let place = self.describe_place(call, task.hart.x[1]);
            self.failure.get_or_insert(format!(
                "the program makes another process (fork) at {place}; only threads are supported"
            ));
            return Err(ENOSYS);
        }
        let number = self.next_thread;
        if flags & SET_PARENT != 0 {
            self.space.write_u32(parent, number)?;
        }
        if flags & SET_CHILD != 0 {
            self.space.write_u32(child, number)?;
        }
        self.next_thread += 1;
        let mut hart = task.hart.fork();
        hart.x[10] = 0;
        if stack != 0 {
            hart.x[STACK_POINTER] = stack;
        }
        if flags & SET_TLS != 0 {
            hart.x[THREAD_POINTER] = tls;
        }
        let mut new = Task::new(hart, number);
        new.mask = task.mask;
        if flags & CLEAR_CHILD != 0 {
            new.clear = child;
        }
        let cores = self.cores_of(task.number).to_vec();
        let handle = world.spawn(new, &cores);
        self.threads
            .insert(number, Thread::new(handle, task.mask, cores));
        Ok(number.into())
    }

    /// A thread ends: who joins it waits for its word to become zero.
    pub(super) fn exit_thread<W: World>(&mut self, task: &mut Task, world: &mut W) -> Outcome {
        self.unlock_robust(task, world);
        self.threads.remove(&task.number);
        self.timers.remove_of(task.number);
        if task.clear != 0 && self.space.write_u32(task.clear, 0).is_ok() {
            self.wake_one(world, task.clear);
        }
        Outcome::End
    }

    /// Tells those who wait for mutexes of a thread that ends, and left them locked.
    fn unlock_robust<W: World>(&mut self, task: &Task, world: &mut W) {
        const MOST: u32 = 2_048;
        let list = self.threads.get(&task.number);
        let list = list.map_or(0, |thread| thread.robust);
        if list == 0 {
            return;
        }
        let word = |process: &mut Self, at: u64| process.space.read_u64(at).unwrap_or(0);
        // The list's entries, where their mutexes are from there, and one that is on its way.
        let from = word(self, list.wrapping_add(8));
        let mut entries = vec![word(self, list.wrapping_add(16))];
        let mut entry = word(self, list);
        while entry != 0 && entry & !1 != list && entries.len() < MOST as usize {
            entries.push(entry);
            entry = word(self, entry & !1);
        }
        for entry in entries.into_iter().filter(|&entry| entry != 0) {
            let address = (entry & !1).wrapping_add(from);
            let Ok(value) = self.space.read_u32(address) else {
                continue;
            };
            let owned = value & !(WAITERS | OWNER_DIED) == task.number;
            if owned
                && self
                    .space
                    .write_u32(address, value & WAITERS | OWNER_DIED)
                    .is_ok()
            {
                self.wake_one(world, address);
            }
        }
    }

    /// Wakes one thread that sleeps on a word.
    fn wake_one<W: World>(&mut self, world: &mut W, address: u64) {
        if let Ok((page, _)) = self.space.page(address, right::WRITE) {
            world.futex_wake(page.physical + address % crate::memory::PAGE, 1);
        }
    }

    pub(super) fn futex<W: World>(&mut self, task: &mut Task, world: &mut W) -> Outcome {
        let [address, operation, value, timeout, second, third] = task.arguments();
        if !address.is_multiple_of(4) {
            return Outcome::Fail(EINVAL);
        }
        let Ok((page, _)) = self.space.page(address, right::READ) else {
            return Outcome::Fail(EFAULT);
        };
        let physical = page.physical + address % crate::memory::PAGE;
        let word = self.space.read_u32(address);
        match operation & 0x7F {
            // FUTEX_WAIT, FUTEX_WAIT_BITSET: the second's time is a point of a clock.
            kind @ (0 | 9) => {
                if word != Ok(value as u32) {
                    return Outcome::Fail(EAGAIN);
                }
                let time = if timeout == 0 {
                    Ok(None)
                } else {
                    self.read_time(timeout).and_then(|time| match kind {
                        0 => Ok(Some(time)),
                        _ => {
                            let wall = operation & CLOCK_IS_WALL != 0;
                            let now = time::clock(world, u64::from(!wall))?;
                            Ok(Some(time.saturating_sub(now)))
                        }
                    })
                };
                match time {
                    Ok(time) => self.sleep_on(task, world, physical, time),
                    Err(errno) => Outcome::Fail(errno),
                }
            }
            // Of a part of the bits: who waits for others is woken for nothing, which it must
            // expect, and nobody is left out.
            10 if third as u32 != u32::MAX => Outcome::Return(world.futex_wake(physical, u32::MAX)),
            // FUTEX_WAKE, FUTEX_WAKE_BITSET
            1 | 10 => {
                let count = u32::try_from(value).unwrap_or(u32::MAX);
                Outcome::Return(world.futex_wake(physical, count))
            }
            // FUTEX_WAKE_OP
            5 => self
                .wake_after_change(world, physical, [value, timeout, second, third])
                .into(),
            inherit::UNLOCK => self.unlock_inheriting(task, world, physical),
            _ if inherit::locks(operation) => self.lock_inheriting(task, world, physical),
            // FUTEX_REQUEUE, FUTEX_CMP_REQUEUE: those who would be moved to the other word are
            // woken, and find out for themselves.
            kind @ (3 | 4) => {
                if kind == 4 && word != Ok(third as u32) {
                    return Outcome::Fail(EAGAIN);
                }
                let _ = second;
                let count = value.saturating_add(timeout);
                let count = u32::try_from(count).unwrap_or(u32::MAX);
                Outcome::Return(world.futex_wake(physical, count))
            }
            _ => Outcome::Fail(ENOSYS),
        }
    }

    /// `FUTEX_WAKE_OP`: changes another word, wakes those who sleep on the first one, and those on
    /// the other one if it held what is said.
    fn wake_after_change<W: World>(
        &mut self,
        world: &mut W,
        physical: u64,
        [count, other_count, other, what]: [u64; 4],
    ) -> Value {
        if !other.is_multiple_of(4) {
            return Err(EINVAL);
        }
        let (page, _) = self.space.page(other, right::WRITE)?;
        let other_physical = page.physical + other % crate::memory::PAGE;
        let part = |from: u32| ((what << (52 - from)) as i64 >> 52) as u32;
        let (operand, compared) = (part(12), part(0));
        let operand = match what >> 31 & 1 {
            0 => operand,
            _ => 1u32.wrapping_shl(operand),
        };
        let old = self.space.read_u32(other)?;
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
        self.space.write_u32(other, new)?;
        let few = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let mut woken = world.futex_wake(physical, few(count));
        if holds {
            woken += world.futex_wake(other_physical, few(other_count));
        }
        Ok(woken)
    }

    pub(super) fn affinity<W: World>(
        &mut self,
        task: &Task,
        world: &W,
        thread: u64,
        length: u64,
        to: u64,
    ) -> Value {
        let number = if thread == 0 {
            task.number
        } else {
            thread as u32
        };
        let own = &self.threads.get(&number).ok_or(ESRCH)?.cores;
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
        self.space.write(to, &mask)?;
        Ok(bytes as u64)
    }

    pub(super) fn set_affinity<W: World>(
        &mut self,
        task: &mut Task,
        world: &mut W,
        thread: u64,
        length: u64,
        from: u64,
    ) -> Result<Outcome, Errno> {
        let number = if thread == 0 {
            task.number
        } else {
            thread as u32
        };
        let mut mask = vec![0u8; length.min(1_024) as usize];
        self.space.read(from, &mut mask)?;
        let cores = (0..world.cores() as usize).filter(|&core| {
            mask.get(core / 8)
                .is_some_and(|byte| byte >> (core % 8) & 1 == 1)
        });
        let cores: Vec<usize> = cores.collect();
        let thread = self.threads.get_mut(&number).ok_or(ESRCH)?;
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
}
