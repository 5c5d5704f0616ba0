//! Reads and writes of vectors with flags: `preadv2`, `pwritev2`.

use super::streams::{self, read_vector, write_vector};
use crate::linux::errno::{EAGAIN, EOPNOTSUPP, Errno, Value, known_flags};
use crate::linux::process::Process;
use crate::linux::task::{Outcome, Task};
use crate::linux::world::World;

/// Flags. `RWF_HIPRI`, `RWF_DSYNC` and `RWF_SYNC` change nothing, since a write is in the file at once.
const POLLS: u64 = 1;
const SYNCS_DATA: u64 = 2;
const SYNCS: u64 = 4;
const DO_NOT_WAIT: u64 = 8;
const APPENDS: u64 = 0x10;
const KNOWN: u64 = POLLS | SYNCS_DATA | SYNCS | DO_NOT_WAIT | APPENDS;

fn check(flags: u64) -> Result<(), Errno> {
    known_flags(flags, KNOWN).map_err(|_| EOPNOTSUPP)
}

/// `preadv2`, from `place`, or from the file's position if `place` is `None`.
pub(super) fn read<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    (place, flags): (Option<u64>, u64),
) -> Result<Outcome, Errno> {
    check(flags)?;
    let [number, at, count, ..] = task.arguments();
    if place.is_some() {
        return Ok(process.read_parts(number, [at, count], place).into());
    }
    if flags & DO_NOT_WAIT != 0 && process.files.awaits_writer(number, u64::MAX, world) {
        return Err(EAGAIN);
    }
    Ok(read_vector(process, task, world))
}

/// `pwritev2`, to `place`, or to the file's position if `place` is `None`.
pub(super) fn write<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    (place, flags): (Option<u64>, u64),
) -> Result<Outcome, Errno> {
    check(flags)?;
    let [number, at, count, ..] = task.arguments();
    let end = match flags & APPENDS {
        0 => None,
        _ => process.files.end_of(number)?,
    };
    if place.is_some() || end.is_some() {
        let mut written = || -> Value {
            let written = process.write_parts(number, [at, count], end.or(place))?;
            if let (Some(end), None) = (end, place) {
                process
                    .files
                    .seek(number, (end + written) as i64, FROM_START)?;
            }
            Ok(written)
        };
        return Ok(written().into());
    }
    let flags = match flags & DO_NOT_WAIT {
        0 => 0,
        _ => streams::DO_NOT_WAIT,
    };
    Ok(write_vector(process, task, world, flags))
}

/// `SEEK_SET`.
const FROM_START: u64 = 0;
