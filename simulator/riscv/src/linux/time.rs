//! Clocks, which show simulated time, and what else the kernel tells of the machine.

use super::errno::{EINVAL, Errno, Value};
use super::task::{Outcome, Task};
use super::{Process, World};

/// The wall clock at the start of every run: 2026-01-01 00:00:00 UTC.
pub(super) const EPOCH: u64 = 1_767_225_600;
pub(super) const SECOND: u64 = 1_000_000_000;
pub(super) const ABSOLUTE: u64 = 1;

/// What a clock shows, in nanoseconds.
pub(super) fn clock<W: World>(world: &W, number: u64) -> Result<u64, Errno> {
    match number {
        // Wall clocks.
        0 | 5 => Ok(EPOCH * SECOND + world.nanoseconds()),
        // Since the start.
        1 | 4 | 6 | 7 => Ok(world.nanoseconds()),
        // Processor time; that of a thread is not kept apart.
        2 | 3 => Ok(world.busy_nanoseconds()),
        // Those of `pthread_getcpuclockid`.
        number if (number as i32) < 0 => Ok(world.busy_nanoseconds()),
        _ => Err(EINVAL),
    }
}

impl Process {
    /// A `timespec`, in nanoseconds.
    pub(super) fn read_time(&mut self, address: u64) -> Result<u64, Errno> {
        let (seconds, rest) = (
            self.space.read_u64(address)?,
            self.space.read_u64(address.wrapping_add(8))?,
        );
        if seconds > 1 << 33 || rest >= SECOND {
            return Err(EINVAL);
        }
        Ok(seconds * SECOND + rest)
    }

    pub(super) fn write_time(&mut self, address: u64, nanoseconds: u64) -> Value {
        if address != 0 {
            self.space.write_u64(address, nanoseconds / SECOND)?;
            self.space
                .write_u64(address.wrapping_add(8), nanoseconds % SECOND)?;
        }
        Ok(0)
    }

    pub(super) fn tell_time<W: World>(&mut self, world: &W, number: u64, to: u64) -> Value {
        let now = clock(world, number)?;
        self.write_time(to, now)
    }

    pub(super) fn tell_time_of_day<W: World>(&mut self, world: &W, to: u64) -> Value {
        let now = clock(world, 0)?;
        self.space.write_u64(to, now / SECOND)?;
        self.space
            .write_u64(to.wrapping_add(8), now % SECOND / 1_000)?;
        Ok(0)
    }

    /// `times`, in hundredths of a second.
    pub(super) fn tell_times<W: World>(&mut self, world: &W, to: u64) -> Value {
        let ticks = world.busy_nanoseconds() / 10_000_000;
        let words = [ticks, 0, 0, 0].map(u64::to_le_bytes).concat();
        if to != 0 {
            self.space.write(to, &words)?;
        }
        Ok(world.nanoseconds() / 10_000_000)
    }

    pub(super) fn tell_usage<W: World>(&mut self, world: &W, to: u64) -> Value {
        let busy = world.busy_nanoseconds();
        let mut words = [0; 18];
        (words[0], words[1]) = (busy / SECOND, busy % SECOND / 1_000);
        words[4] = self.space.resident() >> 10;
        self.space
            .write(to, &words.map(u64::to_le_bytes).concat())?;
        Ok(0)
    }

    pub(super) fn tell_system(&mut self, to: u64) -> Value {
        let mut bytes = [0; 112];
        let total = 1u64 << 34;
        bytes[32..40].copy_from_slice(&total.to_le_bytes());
        bytes[40..48].copy_from_slice(&total.to_le_bytes());
        bytes[104..108].copy_from_slice(&1u32.to_le_bytes());
        self.space.write(to, &bytes)?;
        Ok(0)
    }

    pub(super) fn tell_name(&mut self, to: u64) -> Value {
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
            self.space.write(to.wrapping_add(65 * at), &field)?;
        }
        Ok(0)
    }

    /// Limits are not kept: 8 MiB of stack, 1,024 files, else none.
    pub(super) fn limits(&mut self, resource: u64, old: u64) -> Value {
        let limit = match resource {
            3 => 8 << 20,
            7 => 1_024,
            _ => u64::MAX,
        };
        if old != 0 {
            self.space.write_u64(old, limit)?;
            self.space.write_u64(
                old.wrapping_add(8),
                if resource == 7 { 4_096 } else { u64::MAX },
            )?;
        }
        Ok(0)
    }

    /// `clock_nanosleep`.
    pub(super) fn nap<W: World>(
        &mut self,
        task: &mut Task,
        world: &mut W,
        [number, flags, request, _]: [u64; 4],
    ) -> Outcome {
        let time = self.read_time(request).and_then(|time| {
            let now = clock(world, number)?;
            Ok(if flags & ABSOLUTE != 0 {
                time.saturating_sub(now)
            } else {
                time
            })
        });
        self.sleep_for(task, world, time.map(Some))
    }
}
