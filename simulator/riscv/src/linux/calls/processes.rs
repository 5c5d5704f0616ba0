//! Processes: their creation, a parent's wait for its children, groups, and signals between processes.

use super::waits::await_word;
use crate::linux::errno::{EAGAIN, ECHILD, EINVAL, ENOMEM, ENOSYS, EPERM, ESRCH, Errno, Value};
use crate::linux::process::Process;
use crate::linux::signal::{BY_KILL, BY_THREAD, INFO, LAST, Sent};
use crate::linux::signals::Change;
use crate::linux::system::{Ended, News, System};
use crate::linux::task::{Interrupted, Outcome, Task};
use crate::linux::threads::Thread;
use crate::linux::time;
use crate::linux::words;
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

/// Options of `wait4` and `waitid`.
const AT_ONCE: u64 = 1;
const OF_ENDS: u64 = 4;
const KEEPS: u64 = 0x100_0000;
const OF_STOPS: u64 = 2;
const OF_CONTINUED: u64 = 8;
/// Options that change nothing, since all threads of a process wait for its children: `__WNOTHREAD`, `__WALL`.
const OF_ALL_KINDS: u64 = 0x6000_0000;
/// `__WALL` and `__WCLONE`. Without the first, the second excludes ordinary children.
const ALL: u64 = 0x4000_0000;
const UNUSUAL: u64 = 0x8000_0000;
/// The values by which `waitid` names any child, one child, and the children of a group.
const ANY: u64 = 0;
const ONE: u64 = 1;
const GROUP: u64 = 2;
/// The largest number of a process or a group.
const LARGEST: u32 = i32::MAX as u32;

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

/// The children that a parent waits for.
#[derive(Clone, Copy)]
enum Wanted {
    Any,
    One(u32),
    Group(u32),
}

impl Wanted {
    fn is(self, number: u32, group: u32) -> bool {
        match self {
            Self::Any => true,
            Self::One(wanted) => wanted == number,
            Self::Group(wanted) => wanted == group,
        }
    }
}

/// Returns a child that has ended, or that was stopped or goes on, or the outcome that makes the task wait for one.
fn await_child<W: World>(
    system: &mut System,
    task: &mut Task,
    world: &mut W,
    wanted: Wanted,
    options: u64,
) -> Result<Result<News, Outcome>, Errno> {
    if options & (UNUSUAL | ALL) == UNUSUAL {
        return Err(ECHILD);
    }
    let parent = system.of(task).number;
    let mut ended = system.ended.iter();
    let found = ended.find(|(number, it)| it.parent == parent && wanted.is(**number, it.group));
    let found = found.map(|(&number, it)| it.news(number));
    let is_any = found.is_some();
    if let Some(news) = found.filter(|_| options & OF_ENDS != 0) {
        if options & KEEPS == 0 {
            system.ended.remove(&news.number);
            system.of(task).used_by_children += news.used;
        }
        return Ok(Ok(news));
    }
    let is_child = |it: &Process| it.parent == parent && wanted.is(it.number, it.group);
    let is_meant = |change: &Change| match change {
        Change::Stopped(_) => options & OF_STOPS != 0,
        Change::Continued => options & OF_CONTINUED != 0,
    };
    for child in system.all_mut().filter(|it| is_child(it)) {
        if let Some(change) = child.signals.stop.change.filter(is_meant) {
            if options & KEEPS == 0 {
                child.signals.stop.change = None;
            }
            return Ok(Ok(News::of_change(child.number, change)));
        }
    }
    let is_any = is_any || system.all().any(is_child);
    if !is_any {
        return Err(ECHILD);
    }
    Ok(Err(if options & AT_ONCE != 0 {
        Outcome::Return(0)
    } else {
        let process = system.of(task);
        let word = words::children(parent);
        let interrupted = Interrupted::MayRestart;
        await_word(process, task, world, word, None, interrupted)
    }))
}

/// `wait4`.
pub(super) fn wait<W: World>(
    system: &mut System,
    task: &mut Task,
    world: &mut W,
    [child, status, options, usage]: [u64; 4],
) -> Result<Outcome, Errno> {
    if options as u32 as u64 & !(AT_ONCE | OF_STOPS | OF_CONTINUED | OF_ALL_KINDS | UNUSUAL) != 0 {
        return Err(EINVAL);
    }
    let wanted = match child as i32 {
        i32::MIN => return Err(ESRCH),
        -1 => Wanted::Any,
        0 => Wanted::Group(system.of(task).group),
        number @ 1.. => Wanted::One(number as u32),
        group => Wanted::Group(group.unsigned_abs()),
    };
    let news = match await_child(system, task, world, wanted, options | OF_ENDS)? {
        Ok(found) => found,
        Err(outcome) => return Ok(outcome),
    };
    let space = &mut system.of(task).memory.space;
    if status != 0 {
        space.write_u32(status, news.word())?;
    }
    if usage != 0 {
        space.write(usage, &time::usage(news.used, 0))?;
    }
    Ok(Outcome::Return(news.number.into()))
}

/// `waitid`.
pub(super) fn wait_by<W: World>(
    system: &mut System,
    task: &mut Task,
    world: &mut W,
    [kind, child, to, options]: [u64; 4],
) -> Result<Outcome, Errno> {
    let known = AT_ONCE | OF_ENDS | OF_STOPS | OF_CONTINUED | KEEPS | OF_ALL_KINDS | UNUSUAL;
    let wants = options & (OF_ENDS | OF_STOPS | OF_CONTINUED) != 0;
    if options as u32 as u64 & !known != 0 || !wants {
        return Err(EINVAL);
    }
    let wanted = match (kind, child as u32) {
        (ANY, _) => Wanted::Any,
        (ONE, number @ 1..=LARGEST) => Wanted::One(number),
        (GROUP, 0) => Wanted::Group(system.of(task).group),
        (GROUP, group @ 1..=LARGEST) => Wanted::Group(group),
        _ => return Err(EINVAL),
    };
    let info = match await_child(system, task, world, wanted, options)? {
        Ok(news) => news.notice().info(),
        Err(Outcome::Return(_)) => [0; INFO as usize],
        Err(outcome) => return Ok(outcome),
    };
    if to != 0 {
        system.of(task).memory.space.write(to, &info)?;
    }
    Ok(Outcome::Return(0))
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
    Ok(number.into())
}
