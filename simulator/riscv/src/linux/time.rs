//! Clocks, which show simulated time, and the formats of times in the program's memory.

use super::errno::{EINVAL, EPERM, Errno, Value};
use super::world::World;
use crate::memory::Space;

/// The wall clock at the start of every run, in seconds: 2026-01-01 00:00:00 UTC.
pub(super) const EPOCH: u64 = 1_767_225_600;
pub(super) const SECOND: u64 = 1_000_000_000;
/// The flag (`TIMER_ABSTIME`) with which a time is a point of its clock, and not a duration.
pub(super) const ABSOLUTE: u64 = 1;

/// The numbers of the clocks.
pub(super) const REALTIME: u64 = 0;
pub(super) const MONOTONIC: u64 = 1;
const PROCESS_CPUTIME: u64 = 2;
const THREAD_CPUTIME: u64 = 3;
const MONOTONIC_RAW: u64 = 4;
const REALTIME_COARSE: u64 = 5;
const MONOTONIC_COARSE: u64 = 6;
const BOOTTIME: u64 = 7;
const TAI: u64 = 11;

/// The time of a clock, in nanoseconds.
pub(super) fn clock<W: World>(world: &W, number: u64) -> Result<u64, Errno> {
    match number {
        REALTIME | REALTIME_COARSE | TAI => Ok(EPOCH * SECOND + world.nanoseconds()),
        MONOTONIC | MONOTONIC_RAW | MONOTONIC_COARSE | BOOTTIME => Ok(world.nanoseconds()),
        PROCESS_CPUTIME => Ok(world.busy_nanoseconds()),
        THREAD_CPUTIME => Ok(world.own_nanoseconds()),
        // These are the clocks of `pthread_getcpuclockid`.
        number if (number as i32) < 0 => Ok(world.busy_nanoseconds()),
        _ => Err(EINVAL),
    }
}

/// Whether programs can make timers of a clock. Clocks of processor time have no timers.
pub(super) fn has_timers(number: u64) -> bool {
    matches!(
        number,
        REALTIME | MONOTONIC | MONOTONIC_RAW | REALTIME_COARSE | BOOTTIME
    )
}

/// Reads a `timespec`. Returns nanoseconds.
pub(super) fn read(space: &mut Space, address: u64) -> Result<u64, Errno> {
    read_parts(space, address, SECOND)
}

/// Reads a time limit. A null pointer means no limit.
pub(super) fn read_limit(space: &mut Space, address: u64) -> Result<Option<u64>, Errno> {
    match address {
        0 => Ok(None),
        _ => read(space, address).map(Some),
    }
}

/// Reads a point of the wall clock or of the monotonic clock. Returns the nanoseconds until this point.
pub(super) fn read_until<W: World>(
    space: &mut Space,
    world: &W,
    address: u64,
    wall: bool,
) -> Result<u64, Errno> {
    let time = read(space, address)?;
    let clock = clock(world, if wall { REALTIME } else { MONOTONIC })?;
    Ok(time.saturating_sub(clock))
}

/// Reads a `timeval`. Returns nanoseconds.
pub(super) fn read_micros(space: &mut Space, address: u64) -> Result<u64, Errno> {
    read_parts(space, address, 1_000_000)
}

/// Reads seconds, and a fraction in units of `1 / parts` seconds. Returns nanoseconds.
fn read_parts(space: &mut Space, address: u64, parts: u64) -> Result<u64, Errno> {
    let seconds = space.read_u64(address)?;
    let rest = space.read_u64(address.wrapping_add(8))?;
    if seconds > i64::MAX as u64 || rest >= parts {
        return Err(EINVAL);
    }
    // A time of 584 years or more means for ever.
    let whole = seconds.saturating_mul(SECOND);
    Ok(whole.saturating_add(rest * (SECOND / parts)))
}

/// Writes a `timespec`, unless the pointer is null.
pub(super) fn write(space: &mut Space, address: u64, nanoseconds: u64) -> Value {
    if address != 0 {
        space.write_u64(address, nanoseconds / SECOND)?;
        space.write_u64(address.wrapping_add(8), nanoseconds % SECOND)?;
    }
    Ok(0)
}

pub(super) fn write_micros(space: &mut Space, address: u64, nanoseconds: u64) -> Value {
    space.write_u64(address, nanoseconds / SECOND)?;
    space.write_u64(address.wrapping_add(8), nanoseconds % SECOND / 1_000)?;
    Ok(0)
}

/// `clock_gettime`.
pub(super) fn get<W: World>(space: &mut Space, world: &W, number: u64, to: u64) -> Value {
    write(space, to, clock(world, number)?)
}

/// `clock_settime`: only the administrator may set the wall clock, and no other clock can be set.
pub(super) fn set(space: &mut Space, number: u64, from: u64) -> Value {
    match number {
        REALTIME => read(space, from).and(Err(EPERM)),
        _ => Err(EINVAL),
    }
}

/// `clock_getres`.
pub(super) fn tell_resolution<W: World>(
    space: &mut Space,
    world: &W,
    number: u64,
    to: u64,
) -> Value {
    clock(world, number)?;
    write(space, to, 1)
}

/// `gettimeofday`.
pub(super) fn tell_of_day<W: World>(space: &mut Space, world: &W, to: u64) -> Value {
    write_micros(space, to, clock(world, REALTIME)?)
}

/// A `rusage` with this processor time, and this resident memory in bytes.
pub(super) fn usage(busy: u64, resident: u64) -> Vec<u8> {
    let mut words = [0; 18];
    (words[0], words[1]) = (busy / SECOND, busy % SECOND / 1_000);
    words[4] = resident >> 10;
    words.map(u64::to_le_bytes).concat()
}
