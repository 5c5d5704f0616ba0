//! Calls that wait for, or wake, threads at the other end of a stream.

use super::waits::{await_stream, wake_readers};
use crate::linux::errno::{EPIPE, Value};
use crate::linux::process::Process;
use crate::linux::signal::{BY_THREAD, PIPE, Sent};
use crate::linux::task::{Interrupted, Outcome, Task};
use crate::linux::world::World;

/// Reads; if it `waits`, once a stream was written to.
pub(super) fn read<W: World>(
    waits: bool,
    process: &mut Process,
    task: &mut Task,
    world: &mut W,
    read: impl FnOnce(&mut Process) -> Value,
) -> Outcome {
    if waits {
        return await_stream(process, task, world, None, Interrupted::MayRestart);
    }
    read(process).into()
}

/// Writes: readers look again. A writer without a reader gets a signal.
pub(super) fn write<W: World>(
    process: &mut Process,
    task: &Task,
    world: &mut W,
    write: impl FnOnce(&mut Process) -> Value,
) -> Value {
    let done = write(process);
    if done == Err(EPIPE) {
        let threads = &mut process.threads;
        let sent = Sent::by_process(PIPE.0, BY_THREAD, process.number, 0);
        // The thread itself is there.
        let _ = process.signals.send_by(threads, world, task.number, sent);
    } else {
        look_again(process, world);
    }
    done
}

/// Changes what a number stands for, or what is waited for: readers look again.
pub(super) fn change<W: World>(
    process: &mut Process,
    world: &mut W,
    change: impl FnOnce(&mut Process) -> Value,
) -> Value {
    let done = change(process);
    look_again(process, world);
    done
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
