//! Calls about pipes and FIFOs: `openat` of a FIFO, which waits for the other side, and `splice`, `tee` and `vmsplice`.

use super::streams::written;
use super::waits::{await_stream, wake_readers};
use super::{changed, made};
use crate::linux::errno::{EAGAIN, EBADF, EINVAL, EPIPE, ESPIPE, Errno, known_flags};
use crate::linux::files::Open;
use crate::linux::files::streams::End;
use crate::linux::process::Process;
use crate::linux::system::System;
use crate::linux::task::{Interrupted, Outcome, Task};
use crate::linux::world::World;

/// Flags of `splice`, `tee` and `vmsplice`. Pages are always copied, so only one of them has an effect.
const FLAGS: u64 = 0xF;
const DO_NOT_WAIT: u64 = 2;
/// The most bytes that one call moves.
const MOST: u64 = 1 << 20;

/// `openat`. If the file is a FIFO, waits until both sides are open.
pub(super) fn open<W: World>(
    system: &mut System,
    task: &mut Task,
    world: &mut W,
    at: [u64; 2],
    [flags, mode]: [u64; 2],
) -> Result<Outcome, Errno> {
    let process = system.of(task);
    if !process.files.is_opening(task.number) {
        let number = made::open(process, world, at, [flags, mode]);
        let number = changed::after_opening(system, task, number, flags)?;
        let process = system.of(task);
        if !process.files.is_fifo(number) {
            return Ok(Outcome::Return(number));
        }
        // Threads may wait for this side.
        wake_readers(world);
        if !process.files.keep_opening(task.number, number) {
            return Ok(Outcome::Return(number));
        }
    }
    let process = system.of(task);
    Ok(match process.files.end_opening(task.number) {
        Some(number) => Outcome::Return(number),
        None => wait_for_file(process, task, world),
    })
}

/// Sleeps until a thread changes a file, and makes the call again.
fn wait_for_file<W: World>(process: &mut Process, task: &mut Task, world: &mut W) -> Outcome {
    await_stream(process, task, world, None, Interrupted::MayRestart)
}

/// Like [`wait_for_file`], for at most `limit` nanoseconds. A socket may set a limit, and a pipe has none. When the time is
/// over, the call returns `EAGAIN`.
fn wait_at_most<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    limit: Option<u64>,
) -> Outcome {
    let now = world.nanoseconds();
    // A call that waits for a pipe has no limit, even if it waited for a socket before.
    task.until = task.until.filter(|_| limit.is_some());
    let left = task.until.map(|until| until.saturating_sub(now));
    if left.or(limit) == Some(0) {
        return Outcome::Fail(EAGAIN);
    }
    await_stream(process, task, world, limit, Interrupted::within(limit))
}

/// Why a call moves nothing now.
enum Obstacle {
    /// It has to wait.
    Wait,
    /// It has to wait for bytes of a socket, for at most this time in nanoseconds.
    WaitForBytes(Option<u64>),
    /// It has to wait for room in a blocking socket, whatever its flags are, for at most this time in nanoseconds.
    WaitForRoom(Option<u64>),
    Error(Errno),
}

impl From<Errno> for Obstacle {
    fn from(error: Errno) -> Self {
        Self::Error(error)
    }
}

/// Makes a call that moves bytes. While it has to wait, sleeps and makes the call again, unless `waits` is false.
fn moving<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    waits: bool,
    done: Result<u64, Obstacle>,
) -> Outcome {
    let done = match done {
        Err(Obstacle::WaitForRoom(limit)) => return wait_at_most(process, task, world, limit),
        Err(Obstacle::WaitForBytes(limit)) if waits => {
            return wait_at_most(process, task, world, limit);
        }
        Err(Obstacle::Wait) if waits => return wait_at_most(process, task, world, None),
        Err(Obstacle::Wait | Obstacle::WaitForBytes(_)) => Err(EAGAIN),
        Err(Obstacle::Error(error)) => Err(error),
        Ok(count) => Ok(count),
    };
    if done == Err(EPIPE) || done.is_ok_and(|count| count > 0) {
        return written(process, task, world, done, 0).into();
    }
    done.into()
}

/// The end at a number, if it belongs to a pipe or a FIFO.
fn pipe_at(process: &Process, number: u64) -> Result<Option<End>, Errno> {
    let end = process.files.get(number)?.end();
    Ok(end.filter(|end| !end.is_socket()))
}

/// How many bytes can be read from a pipe. 0 means that there is no writer.
fn available(end: &End) -> Result<u64, Obstacle> {
    match end.awaits() {
        true => Err(Obstacle::Wait),
        false => Ok(end.waiting() as u64),
    }
}

/// The room in a pipe that has readers.
fn room(end: &End) -> Result<u64, Obstacle> {
    match (end.is_refused(), end.room() as u64) {
        (true, _) => Err(EPIPE.into()),
        (false, 0) => Err(Obstacle::Wait),
        (false, room) => Ok(room),
    }
}

/// Reads `count` bytes of a pipe, which stay there.
fn look(end: &End, count: u64) -> Result<Vec<u8>, Errno> {
    let mut bytes = vec![0; count as usize];
    let got = end.read(&mut bytes, true)?;
    bytes.truncate(got);
    Ok(bytes)
}

fn is_spliced(process: &Process, number: u64) -> bool {
    process.files.get(number).is_ok_and(Open::is_spliced)
}

/// `splice`: moves bytes between files, of which at least one is a pipe.
pub(super) fn splice<W: World>(process: &mut Process, task: &mut Task, world: &mut W) -> Outcome {
    let [from, from_at, to, to_at, length, flags] = task.arguments();
    if length == 0 {
        return Outcome::Return(0);
    }
    let mut waits = flags & DO_NOT_WAIT == 0;
    let mut check = || -> Result<[Option<End>; 2], Errno> {
        known_flags(flags, FLAGS)?;
        let ends = [pipe_at(process, from)?, pipe_at(process, to)?];
        let is_placed = |end: &Option<End>, at| end.is_some() && at != 0;
        if is_placed(&ends[0], from_at) || is_placed(&ends[1], to_at) {
            return Err(ESPIPE);
        }
        process.files.may_read(from, None)?;
        process.files.may_write(to, None)?;
        for (number, at) in [(from, from_at), (to, to_at)] {
            if at != 0 {
                process.files.has_places(number, EINVAL)?;
                let place = process.memory.space.read_u64(at)?;
                i64::try_from(place).map_err(|_| EINVAL)?;
            }
        }
        waits &= ends.iter().flatten().all(End::is_blocking);
        match &ends {
            [None, None] => Err(EINVAL),
            [Some(one), Some(other)] if one.is_of_pipe(other) => Err(EINVAL),
            [_, None] if process.files.appends(to) || !is_spliced(process, to) => Err(EINVAL),
            _ => Ok(ends),
        }
    };
    let done = check()
        .map_err(Obstacle::from)
        .and_then(|[source, target]| match source {
            Some(source) => from_pipe(process, (&source, target), [to, to_at], length),
            None => to_pipe(process, [from, from_at], (to, target), length, world),
        });
    moving(process, task, world, waits, done)
}

/// Moves bytes from a pipe to a file, whose end is `target` if it is a pipe.
fn from_pipe(
    process: &mut Process,
    (source, target): (&End, Option<End>),
    [to, to_at]: [u64; 2],
    length: u64,
) -> Result<u64, Obstacle> {
    let count = available(source)?.min(length).min(MOST);
    // Linux asks for room before it finds that the source has ended.
    let room = target.map_or(Ok(MOST), |target| room(&target))?;
    if count == 0 {
        return Ok(0);
    }
    let bytes = look(source, count.min(room))?;
    let place = match to_at {
        0 => None,
        _ => Some(process.memory.space.read_u64(to_at).map_err(Errno::from)?),
    };
    let files = &mut process.files;
    let done = match files.write(to, &bytes, place) {
        Err(EAGAIN) if files.is_blocking_stream(to) => {
            return Err(Obstacle::WaitForRoom(files.limit(to, true)));
        }
        done => done?,
    };
    let moved = &bytes[..done];
    process.memory.after_writing(files, to, place, moved);
    look_away(source, done)?;
    if let Some(place) = place {
        let space = &mut process.memory.space;
        let next = place.wrapping_add(done as u64);
        space.write_u64(to_at, next).map_err(Errno::from)?;
    }
    Ok(done as u64)
}

/// Removes bytes that [`look`] has returned.
fn look_away(source: &End, count: usize) -> Result<(), Errno> {
    source.read(&mut vec![0; count], false).map(|_| ())
}

/// Moves bytes from a file that is no pipe to a pipe.
fn to_pipe<W: World>(
    process: &mut Process,
    from: [u64; 2],
    (to, target): (u64, Option<End>),
    length: u64,
    world: &W,
) -> Result<u64, Obstacle> {
    let target = target.ok_or(EINVAL)?;
    let count = room(&target)?.min(length).min(MOST);
    let number = from[0];
    // Linux asks for room before it asks the file for bytes.
    if !is_spliced(process, number) {
        return Err(EINVAL.into());
    }
    if process.files.get(number)?.is_awaited() {
        if process.files.awaits_writer(number, count, world) {
            return Err(Obstacle::WaitForBytes(process.files.limit(number, false)));
        }
        let mut bytes = vec![0; count as usize];
        let got = process.files.read(number, &mut bytes, None)?;
        return Ok(target.write(&bytes[..got]).map(|count| count as u64)?);
    }
    let (memory, files) = (&mut process.memory, &mut process.files);
    Ok(memory.transfer(files, from, [to, 0], count)?)
}

/// `tee`: copies bytes from one pipe to another.
pub(super) fn tee<W: World>(process: &mut Process, task: &mut Task, world: &mut W) -> Outcome {
    let [from, to, length, flags, ..] = task.arguments();
    let mut waits = flags & DO_NOT_WAIT == 0;
    let mut copy = || -> Result<u64, Obstacle> {
        known_flags(flags, FLAGS)?;
        if length == 0 {
            return Ok(0);
        }
        let (source, target) = (pipe_at(process, from)?, pipe_at(process, to)?);
        process.files.may_read(from, None)?;
        process.files.may_write(to, None)?;
        let (Some(source), Some(target)) = (source, target) else {
            return Err(EINVAL.into());
        };
        if source.is_of_pipe(&target) {
            return Err(EINVAL.into());
        }
        waits &= source.is_blocking() && target.is_blocking();
        let count = available(&source)?.min(length).min(MOST);
        let count = count.min(room(&target)?);
        if count == 0 {
            return Ok(0);
        }
        let bytes = look(&source, count)?;
        Ok(target.write(&bytes).map(|count| count as u64)?)
    };
    let done = copy();
    moving(process, task, world, waits, done)
}

/// `vmsplice`: moves bytes between memory and a pipe, as far as there are bytes, or room.
pub(super) fn vmsplice<W: World>(process: &mut Process, task: &mut Task, world: &mut W) -> Outcome {
    let [number, address, count, flags, ..] = task.arguments();
    let waits = flags & DO_NOT_WAIT == 0;
    let mut copy = || -> Result<u64, Obstacle> {
        known_flags(flags, FLAGS)?;
        let end = pipe_at(process, number)?;
        let parts = process.memory.vectors(address, count)?;
        let Some(end) = end else {
            return Err(EBADF.into());
        };
        if parts.iter().all(|(_, length)| *length == 0) {
            return Ok(0);
        }
        if !end.writes() {
            return match available(&end)? {
                0 => Ok(0),
                _ => Ok(process.read(number, &parts, None)?),
            };
        }
        let mut left = room(&end)?;
        let parts = parts.into_iter().map(|(address, length)| {
            let length = length.min(left);
            left -= length;
            (address, length)
        });
        Ok(process.write(number, &parts.collect::<Vec<_>>(), None)?)
    };
    let done = copy();
    moving(process, task, world, waits, done)
}
