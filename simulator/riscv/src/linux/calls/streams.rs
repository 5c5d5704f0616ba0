//! Calls that wait for, or wake, threads at the other end of a stream.

use super::waits::{await_socket, await_stream, wake_readers};
use crate::linux::errno::{EAGAIN, EINPROGRESS, EINVAL, EOPNOTSUPP, EPIPE, Errno, Value};
use crate::linux::files::{SET_CAPACITY, signal_info};
use crate::linux::memory::total;
use crate::linux::process::Process;
use crate::linux::signal::{BY_KILL, PIPE, Sent};
use crate::linux::task::{Interrupted, Outcome, Task};
use crate::linux::world::World;
use crate::memory::{Fault, Space};

/// Flags of `send` and `recv`.
const PEEK: u64 = 2;
const ALL: u64 = 0x100;
pub(super) const DO_NOT_WAIT: u64 = 0x40;
const NO_SIGNAL: u64 = 0x4000;

/// Bytes of a signal that a program reads from a `signalfd`.
const SIGNAL: u64 = 128;

/// Parts of memory to write: each an address and a length.
type Parts = Vec<(u64, u64)>;

/// Reads. With `waits`, sleeps until a thread writes to a stream, and then makes the call again.
pub(super) fn read<W: World>(
    waits: bool,
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    read: impl FnOnce(&mut Process) -> Value,
) -> Outcome {
    if waits {
        return await_socket(process, task, world, false);
    }
    let [number, ..] = task.arguments();
    let was_full = process.files.is_full(number);
    let done = read(process);
    if was_full {
        wake_readers(world);
    }
    done.into()
}

/// `readv`.
pub(super) fn read_vector<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
) -> Outcome {
    let [number, address, count, ..] = task.arguments();
    let parts = match process.parts_to_read(number, [address, count], None) {
        Ok(parts) => parts,
        Err(errno) => return Outcome::Fail(errno),
    };
    let waits = process.files.awaits_writer(number, total(&parts), world);
    read(waits, process, task, world, |process| {
        process.read(number, &parts, None)
    })
}

/// `writev`, with the flags of `sendmsg`.
pub(super) fn write_vector<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    flags: u64,
) -> Outcome {
    let [number, address, count, ..] = task.arguments();
    match process.parts_to_write(number, [address, count], None) {
        Ok(parts) if parts.is_empty() => Outcome::Return(0),
        parts => write_parts(process, task, world, parts, flags),
    }
}

/// Reads a file, or reads signals from a `signalfd`.
pub(super) fn read_any<W: World>(
    waits: bool,
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    read_bytes: impl FnOnce(&mut Process) -> Value,
) -> Outcome {
    let [number, to, length, ..] = task.arguments();
    let Some((set, blocks)) = process.files.signals(number) else {
        return read(waits, process, task, world, read_bytes);
    };
    process.expire_timers(task, world);
    let mut taken = Vec::new();
    while taken.len() as u64 + SIGNAL <= length {
        let (signals, threads) = (&mut process.signals, &mut process.threads);
        let Some(sent) = signals.next_of(threads, task.number, set) else {
            break;
        };
        match signal_info(&sent.info()) {
            Ok(bytes) => taken.extend(bytes),
            Err(errno) => return Outcome::Fail(errno),
        }
    }
    match (taken.len(), blocks) {
        _ if length < SIGNAL => Outcome::Fail(EINVAL),
        (0, true) => await_stream(process, task, world, None, Interrupted::MayRestart),
        (0, false) => Outcome::Fail(EAGAIN),
        (count, _) => match process.memory.space.write(to, &taken) {
            Ok(()) => Outcome::Return(count as u64),
            Err(fault) => Outcome::Fail(fault.into()),
        },
    }
}

/// Writes, and makes the waiting readers of streams look again. A writer without a reader gets `SIGPIPE`.
pub(super) fn write<W: World>(
    process: &mut Process,
    task: &Task,
    world: &mut W,
    write: impl FnOnce(&mut Process) -> Value,
) -> Value {
    let done = write(process);
    written(process, task, world, done, 0)
}

/// Like [`write`]. If a blocking stream has no room at all, waits for a reader and makes the call again.
pub(super) fn wait_for_room<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    send: impl FnOnce(&mut Process) -> Value,
) -> Outcome {
    let [number, ..] = task.arguments();
    let waits = process.files.is_blocking_stream(number);
    match write(process, task, world, send) {
        Err(EAGAIN) if waits => await_socket(process, task, world, true),
        done => done.into(),
    }
}

/// `connect`. If the listener's queue is full, a blocking socket waits for an `accept`, and makes the call again.
pub(super) fn connect<W: World>(process: &mut Process, task: &mut Task, world: &mut W) -> Outcome {
    let [number, address, length, ..] = task.arguments();
    let space = &mut process.memory.space;
    let outcome = match process.files.connect(space, [number, address, length]) {
        Err(EAGAIN) if process.files.is_blocking_socket(number) => {
            await_socket(process, task, world, true)
        }
        done => {
            look_again(process, world);
            done.into()
        }
    };
    match outcome {
        // The limit of `SO_SNDTIMEO` has ended the wait. TCP goes on without the caller.
        Outcome::Fail(EAGAIN)
            if process.files.is_tcp(number) && process.files.is_blocking_socket(number) =>
        {
            Outcome::Fail(EINPROGRESS)
        }
        outcome => outcome,
    }
}

/// Wakes the waiting readers and writers after a call that has moved bytes, or sends `SIGPIPE` after a failed one.
pub(super) fn written<W: World>(
    process: &mut Process,
    task: &Task,
    world: &mut W,
    done: Value,
    flags: u64,
) -> Value {
    if done != Err(EPIPE) {
        look_again(process, world);
    } else if flags & NO_SIGNAL == 0 {
        let threads = &mut process.threads;
        let sent = Sent::by_process(PIPE.0, BY_KILL, process.number, 0);
        // The sending cannot fail, since the receiver is the running thread.
        let _ = process.signals.send_by(threads, world, task.number, sent);
    }
    done
}

/// Writes parts of memory to the file in the call's first argument. If a stream has no room for all bytes, waits for
/// readers and writes the rest.
pub(super) fn write_parts<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    parts: Result<Parts, Errno>,
    flags: u64,
) -> Outcome {
    let [number, ..] = task.arguments();
    let parts = match parts {
        Ok(parts) => parts,
        Err(errno) => return Outcome::Fail(errno),
    };
    let blocks =
        process.files.is_blocking_stream(number) || process.files.is_blocking_count(number);
    let waits = flags & DO_NOT_WAIT == 0 && blocks;
    let before = std::mem::take(&mut task.moved);
    let rest = without(&parts, before);
    let done = process.write(number, &rest, None);
    let done = written(process, task, world, done, flags);
    if !waits {
        return done.into();
    }
    match done {
        Ok(count) if before + count < total(&parts) => {
            let rest = without(&parts, before + count);
            if is_missing(process, &rest) {
                return Outcome::Return(before + count);
            }
            task.moved = before + count;
        }
        Err(EAGAIN) => task.moved = before,
        Ok(count) => return Outcome::Return(before + count),
        Err(_) if before > 0 => return Outcome::Return(before),
        Err(errno) => return Outcome::Fail(errno),
    }
    await_socket(process, task, world, true)
}

/// Whether the first byte of these parts of memory cannot be read. No reader of the stream could end a wait for that.
fn is_missing(process: &mut Process, parts: &[(u64, u64)]) -> bool {
    let mut parts = parts.iter().filter(|(_, length)| *length > 0);
    let space = &mut process.memory.space;
    let first = parts.next();
    first.is_some_and(|&(address, _)| space.read(address, &mut [0]).is_err())
}

/// Returns the parts without their first `done` bytes.
fn without(parts: &[(u64, u64)], mut done: u64) -> Parts {
    let left = parts.iter().map(|&(address, length)| {
        let skipped = done.min(length);
        done -= skipped;
        (address.wrapping_add(skipped), length - skipped)
    });
    left.collect()
}

/// The offsets in a `msghdr`: length of the name, parts, number of parts, length of the control data, flags.
mod header {
    pub(super) const NAME_LENGTH: u64 = 8;
    pub(super) const PARTS: u64 = 16;
    pub(super) const COUNT: u64 = 24;
    pub(super) const BESIDE: u64 = 40;
    pub(super) const FLAGS: u64 = 48;
}

fn parts_of(process: &mut Process, message: u64) -> Result<Parts, Errno> {
    let space = &mut process.memory.space;
    let parts = space.read_u64(message.wrapping_add(header::PARTS))?;
    let count = space.read_u64(message.wrapping_add(header::COUNT))?;
    process.memory.vectors(parts, count)
}

/// `sendto`.
pub(super) fn send<W: World>(process: &mut Process, task: &mut Task, world: &mut W) -> Outcome {
    let [number, address, length, flags, ..] = task.arguments();
    let parts = process.files.is_socket(number);
    let parts = parts.map(|_| vec![(address, length)]);
    write_parts(process, task, world, parts, flags)
}

/// `sendmsg`: sends bytes. It does not support files or credentials.
pub(super) fn send_message<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
) -> Outcome {
    let [number, message, flags, ..] = task.arguments();
    let mut parts = || -> Result<Parts, Errno> {
        process.files.is_socket(number)?;
        let beside = message.wrapping_add(header::BESIDE);
        if process.memory.space.read_u64(beside)? != 0 {
            process.miss(task, "sendmsg of files or credentials");
            return Err(EOPNOTSUPP);
        }
        parts_of(process, message)
    };
    let parts = parts();
    write_parts(process, task, world, parts, flags)
}

/// Receives bytes into parts of memory. If there are none, waits for a writer and makes the call again. With
/// `MSG_WAITALL`, waits until all parts are full or no more bytes can come.
fn receive_parts<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    parts: &[(u64, u64)],
    flags: u64,
) -> Outcome {
    let [number, ..] = task.arguments();
    let is_tcp = process.files.is_tcp(number);
    let peeks = flags & PEEK != 0;
    let waits_for_all = flags & ALL != 0 && (!peeks || is_tcp && flags & DO_NOT_WAIT == 0);
    loop {
        if is_tcp && task.moved > 0 && process.files.is_reset(number) {
            // Unlike a Unix socket, TCP keeps the error for the next call.
            return Outcome::Return(std::mem::take(&mut task.moved));
        }
        if process.files.awaits_sender(number, flags, world) {
            return await_socket(process, task, world, false);
        }
        let before = std::mem::take(&mut task.moved);
        // Bytes that the call has only looked at are still there.
        let before = if peeks { 0 } else { before };
        let rest = without(parts, before);
        let was_full = process.files.is_full(number);
        let space = &mut process.memory.space;
        let done = process.files.receive(space, number, &rest, flags);
        if was_full {
            wake_readers(world);
        }
        match done {
            Err(errno) if before == 0 => return Outcome::Fail(errno),
            Ok(count @ 1..) if waits_for_all && count < total(&rest) => {
                task.moved = before + count;
                let may_wait = process.files.is_blocking_stream(number);
                if peeks && may_wait && process.files.may_get_more(number) {
                    return await_socket(process, task, world, false);
                } else if peeks {
                    return Outcome::Return(std::mem::take(&mut task.moved));
                }
            }
            done => return Outcome::Return(before + done.unwrap_or(0)),
        }
    }
}

/// `recvfrom`.
pub(super) fn receive<W: World>(process: &mut Process, task: &mut Task, world: &mut W) -> Outcome {
    let [_, address, length, flags, ..] = task.arguments();
    receive_parts(process, task, world, &[(address, length)], flags)
}

/// `recvmsg`.
pub(super) fn receive_message<W: World>(
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
) -> Result<Outcome, Errno> {
    let [_, message, flags, ..] = task.arguments();
    let parts = parts_of(process, message)?;
    let outcome = receive_parts(process, task, world, &parts, flags);
    let is_over = matches!(outcome, Outcome::Return(_));
    // A signal may end the wait of a call that has moved bytes, and such a call is not made again.
    if is_over || task.moved > 0 {
        let told = tell_message(&mut process.memory.space, message);
        // A task that sleeps already gets the fault at the end of its call.
        if is_over {
            told?;
        }
    }
    Ok(outcome)
}

/// Writes the fields of a `msghdr` that say what was received beside bytes: nothing.
fn tell_message(space: &mut Space, message: u64) -> Result<(), Fault> {
    space.write_u32(message.wrapping_add(header::NAME_LENGTH), 0)?;
    space.write_u64(message.wrapping_add(header::BESIDE), 0)?;
    space.write_u32(message.wrapping_add(header::FLAGS), 0)
}

/// Makes a call that changes the file behind a number, or what a thread waits for. Then makes the waiting readers of
/// streams look again.
pub(super) fn change<W: World>(
    process: &mut Process,
    world: &mut W,
    change: impl FnOnce(&mut Process) -> Value,
) -> Value {
    let done = change(process);
    look_again(process, world);
    done
}

/// `fcntl`. Waiting writers look again if their pipe may have more room.
pub(super) fn control<W: World>(
    process: &mut Process,
    world: &mut W,
    [number, command, value]: [u64; 3],
) -> Value {
    let space = &mut process.memory.space;
    let done = process.files.control(space, number, command, value)?;
    if command == SET_CAPACITY {
        wake_readers(world);
    }
    Ok(done)
}

fn look_again<W: World>(process: &Process, world: &mut W) {
    if process.files.has_streams() {
        wake_readers(world);
    }
}

/// `shutdown`.
pub(super) fn shut<W: World>(process: &Process, world: &mut W, number: u64, how: u64) -> Value {
    let done = process.files.shut(number, how)?;
    wake_readers(world);
    Ok(done)
}
