//! Processes: their creation, groups, and signals between processes.

use crate::linux::errno::{EAGAIN, EINVAL, ENOMEM, ENOSYS, EPERM, ESRCH, Errno, Value};
use crate::linux::news::Ended;
use crate::linux::process::Process;
use crate::linux::signal::{BY_KILL, BY_THREAD, LAST, Sent};
use crate::linux::system::System;
use crate::linux::task::{Outcome, Task};
use crate::linux::threads::Thread;
use crate::linux::world::World;

/// Flags of `clone`.
pub(super) mod flag {
    pub(in crate::linux::calls) const MEMORY: u64 = 0x100;
    pub(in crate::linux::calls) const FOLDER: u64 = 0x200;
    pub(in crate::linux::calls) const FILES: u64 = 0x400;
    pub(in crate::linux::calls) const HANDLERS: u64 = 0x800;
    pub(in crate::linux::calls) const WAITS: u64 = 0x4000;
    pub(in crate::linux::calls) const THREAD: u64 = 0x1_0000;
    pub(in crate::linux::calls) const TLS: u64 = 0x8_0000;
    pub(in crate::linux::calls) const TELL_PARENT: u64 = 0x10_0000;
    pub(in crate::linux::calls) const CLEAR_CHILD: u64 = 0x20_0000;
    pub(in crate::linux::calls) const TELL_CHILD: u64 = 0x100_0000;
}

const STACK_POINTER: usize = 2;
const THREAD_POINTER: usize = 4;

/// `clone`: starts a thread or a process.
pub(super) fn clone<W: World>(system: &mut System, task: &mut Task, world: &mut W) -> Outcome {
    let [flags, ..] = task.arguments();
    if flags & flag::THREAD != 0 {
        return match flags & flag::MEMORY {
            0 => Outcome::Fail(EINVAL),
            _ => begin_thread(system, task, world).into(),
        };
    }
    fork(system, task, world).unwrap_or_else(Outcome::Fail)
}

/// Returns a copy of the task, with the registers that `clone` asks for.
fn copy(task: &Task, number: u32, slot: usize) -> Task {
    let [flags, stack, _, tls, child, _] = task.arguments();
    let mut hart = task.hart.fork();
    hart.x[10] = 0;
    if stack != 0 {
        hart.x[STACK_POINTER] = stack;
    }
    if flags & flag::TLS != 0 {
        hart.x[THREAD_POINTER] = tls;
    }
    let mut new = Task::new(hart, number);
    new.slot = slot;
    new.mask = task.mask;
    if flags & flag::CLEAR_CHILD != 0 {
        new.clear = child;
    }
    new
}

fn begin_thread<W: World>(system: &mut System, task: &mut Task, world: &mut W) -> Value {
    let [flags, _, parent, _, child, _] = task.arguments();
    let number = system.take_number();
    let process = system.of(task);
    if flags & flag::TELL_PARENT != 0 {
        process.memory.space.write_u32(parent, number)?;
    }
    if flags & flag::TELL_CHILD != 0 {
        process.memory.space.write_u32(child, number)?;
    }
    let new = copy(task, number, task.slot);
    let cores = process.threads.cores_of(task.number).to_vec();
    let handle = world.spawn(new, &cores);
    let thread = Thread::new(handle, task.mask, cores);
    process.threads.add(number, thread);
    process.tasks += 1;
    process.made += 1;
    Ok(number.into())
}

/// `fork`, `vfork`. Copying the process takes no simulated time.
fn fork<W: World>(system: &mut System, task: &mut Task, world: &mut W) -> Result<Outcome, Errno> {
    let [flags, _, parent, _, child, _] = task.arguments();
    if flags & (flag::FILES | flag::FOLDER | flag::HANDLERS) != 0 {
        let process = system.of(task);
        process.miss(task, "clone of a process that shares files or handlers");
        return Err(ENOSYS);
    }
    if system.is_full() {
        return Err(EAGAIN);
    }
    let shares = flags & flag::MEMORY != 0;
    let number = system.take_number();
    let process = system.of(task);
    let lender = shares.then(|| process.lender.unwrap_or(task.slot));
    let cores = process.threads.cores_of(task.number).to_vec();
    let mut new = process.fork(number, lender).ok_or(ENOMEM)?;
    new.began = world.nanoseconds();
    if flags & flag::TELL_PARENT != 0 {
        process.memory.space.write_u32(parent, number)?;
    }
    if flags & flag::TELL_CHILD != 0 {
        let memory = if shares {
            &mut process.memory
        } else {
            &mut new.memory
        };
        memory.space.write_u32(child, number)?;
    }
    let slot = system.add(new);
    let mut main = copy(task, number, slot);
    if !shares {
        main.alternate = task.alternate;
    }
    let handle = world.spawn(main, &cores);
    let thread = Thread::new(handle, task.mask, cores);
    system.enter_thread(slot, number, thread);
    Ok(match flags & flag::WAITS {
        0 => Outcome::Return(number.into()),
        _ => Outcome::Lend(number),
    })
}

/// Sends a signal to a process, or to one of its threads.
fn send<W: World>(process: &mut Process, world: &mut W, thread: Option<u32>, sent: Sent) -> Value {
    let (signals, threads) = (&mut process.signals, &mut process.threads);
    match thread {
        Some(thread) => signals.send_by(threads, world, thread, sent),
        None => signals.send_to_process(threads, world, sent),
    }
}

/// `kill`: sends a signal to a process, to a group, or to all other processes.
pub(super) fn kill<W: World>(
    system: &mut System,
    task: &Task,
    world: &mut W,
    [to, number]: [u64; 2],
) -> Value {
    let process = system.of(task);
    let (own, group) = (process.number, process.group);
    if number > LAST {
        return Err(EINVAL);
    }
    let sent = Sent::by_process(number, BY_KILL, own, 0);
    let is_meant = |process: &Process| match to as i32 {
        0 => process.group == group,
        -1 => process.number != own,
        one @ 1.. => process.number == one as u32,
        group => process.group == group.unsigned_abs(),
    };
    let mut is_any = false;
    for process in system.all_mut().filter(|it| !it.is_over && is_meant(it)) {
        is_any = true;
        send(process, world, None, sent)?;
    }
    system.tell_changes(world);
    let parent = u64::from(to as i32 == 1);
    let mut ended = system.ended.iter();
    let is_ended = |(child, it): (&u32, &Ended)| match to as i32 {
        one @ 1.. => *child == one as u32,
        group => group < -1 && it.group == group.unsigned_abs(),
    };
    match (is_any || ended.any(is_ended), parent) {
        (true, _) => Ok(0),
        (false, 1) => Err(EPERM),
        (false, _) => Err(ESRCH),
    }
}

/// `tkill`, `tgkill`: sends a signal to a thread of any process, or of the named process.
pub(super) fn kill_thread<W: World>(
    system: &mut System,
    task: &Task,
    world: &mut W,
    process: Option<u64>,
    [thread, number]: [u64; 2],
) -> Value {
    let sender = system.of(task).number;
    let sent = Sent::by_process(number, BY_THREAD, sender, 0);
    let thread = thread as u32;
    let found = system.all_mut().find(|it| {
        let is_meant = process.is_none_or(|number| number as u32 == it.number);
        is_meant && !it.is_over && it.threads.get(thread).is_some()
    });
    let done = send(found.ok_or(ESRCH)?, world, Some(thread), sent);
    system.tell_changes(world);
    done
}

/// `rt_sigqueueinfo`, `rt_tgsigqueueinfo`: sends a signal with a value to a process or a thread.
pub(super) fn queue<W: World>(
    system: &mut System,
    task: &Task,
    world: &mut W,
    (process, thread): (u64, Option<u64>),
    [number, info]: [u64; 2],
) -> Value {
    system.numbered(process as u32).ok_or(ESRCH)?;
    let sender = system.of(task);
    let space = &mut sender.memory.space;
    let code = space.read_u32(info.wrapping_add(8))? as i32;
    let value = space.read_u64(info.wrapping_add(24))?;
    // Only the kernel may send codes from 0 on, or name a thread, to other processes.
    if (code >= 0 || code == BY_THREAD) && process as u32 != sender.number {
        return Err(EPERM);
    }
    let sent = Sent::by_process(number, code, sender.number, value);
    let process = system.numbered(process as u32).ok_or(ESRCH)?;
    let done = send(process, world, thread.map(|thread| thread as u32), sent);
    system.tell_changes(world);
    done
}

/// Returns the process number that a call names. 0 names the caller's process.
fn named(system: &mut System, task: &Task, process: u64) -> u32 {
    match process as u32 {
        0 => system.of(task).number,
        number => number,
    }
}

/// `setpgid`: sets the group of the caller or of a child.
pub(super) fn set_group(system: &mut System, task: &Task, [process, group]: [u64; 2]) -> Value {
    let own = system.of(task);
    let (own, session) = (own.number, own.session);
    let number = named(system, task, process);
    let group = match group as i32 {
        ..0 => return Err(EINVAL),
        0 => number,
        group => group as u32,
    };
    let is_in = |it: &Process| it.group == group && it.session == session;
    let is_group = system.all().any(is_in);
    let process = system.numbered(number).ok_or(ESRCH)?;
    if number != own && process.parent != own {
        return Err(ESRCH);
    }
    let is_leader = process.session == number;
    if is_leader || process.session != session || group != number && !is_group {
        return Err(EPERM);
    }
    process.group = group;
    system.note_orphaned_groups();
    Ok(0)
}

/// `getpgid`, `getsid`.
pub(super) fn tell_of(
    system: &mut System,
    task: &Task,
    process: u64,
    what: impl FnOnce(&Process) -> u32,
) -> Value {
    let number = named(system, task, process);
    Ok(what(system.numbered(number).ok_or(ESRCH)?).into())
}

/// `setsid`.
pub(super) fn begin_session(system: &mut System, task: &Task) -> Value {
    let number = system.of(task).number;
    if system.all().any(|process| process.group == number) {
        return Err(EPERM);
    }
    let process = system.of(task);
    (process.session, process.group) = (number, number);
    system.note_orphaned_groups();
    Ok(number.into())
}
