//! Groups of files that a thread awaits together: `epoll`.

use super::streams::ready;
use crate::linux::errno::{EEXIST, EINVAL, ENOENT, Errno, Value};
use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

const EDGE: u32 = 1 << 31;
const ONCE: u32 = 1 << 30;
const EXCLUSIVE: u32 = 1 << 28;
/// Events that are reported even if the program did not ask for them.
const ALWAYS: u32 = ready::ERROR | ready::HUNG_UP;
/// The operations of `epoll_ctl`.
pub(super) const ADD: u64 = 1;
pub(super) const REMOVE: u64 = 2;
const CHANGE: u64 = 3;

/// Identifies an open file, as long as a process has a number (file descriptor) for the file.
pub(super) type Identity = Weak<dyn Any>;

/// Returns the state of an open file, from its first number and its identity.
pub(super) type Ready<'a> = &'a dyn Fn(u64, &Identity) -> Result<ready::State, Errno>;

/// The awaited events of a file, and the word by which the program knows the file.
#[derive(Clone)]
struct Member {
    file: Identity,
    wanted: u32,
    data: u64,
    /// The latest report, if the program asks for changes only (`EPOLLET`).
    reported: Option<ready::State>,
    /// Whether the only report of `EPOLLONESHOT` has been made.
    spent: bool,
}

/// The files of an `epoll`, by the number that stood for the file when it was added. A file stays until it has no
/// number any more. Meanwhile its first number may stand for another file, which then is a member of its own. The
/// second part of a key distinguishes the two files.
#[derive(Clone, Default)]
pub(crate) struct Group(Rc<RefCell<BTreeMap<(u64, u64), Member>>>);

impl Member {
    /// The awaited events of a file that have happened, and the counts of the awaited directions.
    fn state(&self, files: Ready<'_>, number: u64) -> Option<ready::State> {
        let (found, counts) = files(number, &self.file).ok()?;
        let awaits = |event, count| if self.wanted & event == 0 { 0 } else { count };
        let counts = [awaits(ready::IN, counts[0]), awaits(ready::OUT, counts[1])];
        Some((found & (self.wanted | ALWAYS), counts))
    }

    /// Whether this state has not been reported to the program.
    fn is_new(&self, (found, counts): ready::State) -> bool {
        let is_known =
            |(reported, before): ready::State| found & !reported == 0 && counts == before;
        found != 0 && !self.spent && !self.reported.is_some_and(is_known)
    }
}

impl Group {
    pub(super) fn identity(&self) -> Rc<dyn Any> {
        Rc::clone(&self.0) as Rc<dyn Any>
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// The state of the group itself. The group can be read while it has a report, and its count is the sum of its
    /// members' counts.
    pub(super) fn ready(&self, files: Ready<'_>) -> ready::State {
        let (mut found, mut arrived) = (0, 0u64);
        for (&(number, _), member) in &*self.0.borrow() {
            if let Some(state) = member.state(files, number) {
                found |= if member.is_new(state) { ready::IN } else { 0 };
                arrived = state
                    .1
                    .iter()
                    .fold(arrived, |sum, count| sum.wrapping_add(*count));
            }
        }
        (found, [arrived, 0])
    }

    /// Whether `is_it` holds for a member: a number that stood for a file, and the file.
    pub(super) fn any(&self, mut is_it: impl FnMut(u64, &Identity) -> bool) -> bool {
        let members = self.0.borrow();
        let mut members = members.iter();
        members.any(|(&(number, _), member)| is_it(number, &member.file))
    }

    /// `epoll_ctl` of a number and its file.
    pub(super) fn change(
        &self,
        command: u64,
        (number, file): (u64, Identity),
        [wanted, data]: [u64; 2],
    ) -> Value {
        let mut members = self.0.borrow_mut();
        members.retain(|_, member| member.file.strong_count() > 0);
        let mut of_number = members.range((number, 0)..=(number, u64::MAX));
        let known = of_number.find(|(_, member)| member.file.ptr_eq(&file));
        let known = known.map(|(key, _)| *key);
        let last = members.range(..=(number, u64::MAX)).next_back();
        let next = match last {
            Some(((at, serial), _)) if *at == number => serial + 1,
            _ => 0,
        };
        let member = Member {
            file,
            wanted: wanted as u32,
            data,
            reported: None,
            spent: false,
        };
        match (command, known) {
            (ADD, Some(_)) => return Err(EEXIST),
            (CHANGE | REMOVE, None) => return Err(ENOENT),
            (ADD, None) => drop(members.insert((number, next), member)),
            (CHANGE, Some(key)) if (members[&key].wanted | member.wanted) & EXCLUSIVE != 0 => {
                return Err(EINVAL);
            }
            (CHANGE, Some(key)) => drop(members.insert(key, member)),
            (REMOVE, Some(key)) => drop(members.remove(&key)),
            _ => return Err(EINVAL),
        }
        Ok(0)
    }

    /// Returns at most `most` events to report, each as two words of an `epoll_event`.
    pub(super) fn take(&self, files: Ready<'_>, most: u64) -> Vec<[u64; 2]> {
        let mut members = self.0.borrow_mut();
        let mut events = Vec::new();
        members.retain(|_, member| member.file.strong_count() > 0);
        for (&(number, _), member) in &mut *members {
            if events.len() as u64 == most {
                break;
            }
            let state = member.state(files, number);
            if let Some(news) = state.filter(|state| member.is_new(*state)) {
                events.push([u64::from(news.0), member.data]);
                member.spent = member.wanted & ONCE != 0;
                member.reported = (member.wanted & EDGE != 0).then_some(news);
            }
        }
        events
    }
}
