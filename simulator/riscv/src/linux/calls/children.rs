//! A parent's wait for its children.

use super::waits::await_word;
use crate::linux::errno::{ECHILD, EINVAL, ESRCH, Errno};
use crate::linux::news::News;
use crate::linux::process::Process;
use crate::linux::signal::INFO;
use crate::linux::signals::Change;
use crate::linux::system::System;
use crate::linux::task::{Interrupted, Outcome, Task};
use crate::linux::time;
use crate::linux::words;
use crate::linux::world::World;

/// Options of `wait4` and `waitid`: `WNOHANG`, `WEXITED`, `WNOWAIT`, `WSTOPPED`, `WCONTINUED`.
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

/// Returns a report on a child that has ended, stopped or continued. Without one, returns the
/// call's outcome: to wait, or to return 0.
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
    for child in system.all_mut().filter(|it| is_child(it) && !it.is_over) {
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
