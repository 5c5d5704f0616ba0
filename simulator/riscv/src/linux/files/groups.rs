//! Groups of files that a thread awaits together: `epoll`.

use super::streams::ready;
use crate::linux::errno::{EEXIST, EINVAL, ENOENT, Errno, Value};
use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

const EDGE: u32 = 1 << 31;
const ONCE: u32 = 1 << 30;
/// Events that are reported even if the program did not ask for them.
const ALWAYS: u32 = ready::ERROR | ready::HUNG_UP;
/// The operations of `epoll_ctl`.
const ADD: u64 = 1;
pub(super) const REMOVE: u64 = 2;
const CHANGE: u64 = 3;

/// Identifies an open file, as long as a number stands for it in a process.
pub(super) type Identity = Weak<dyn Any>;

/// The ready events of an open file that a number stood for first, and a count that changes with each arrival.
pub(super) type Ready<'a> = &'a dyn Fn(u64, &Identity) -> Result<(u32, u64), Errno>;

/// The awaited events of a file, and the program's name for it.
#[derive(Clone)]
struct Member {
    file: Identity,
    wanted: u32,
    data: u64,
    /// The latest report, if the program asks for changes only (`EPOLLET`).
    told: Option<(u32, u64)>,
    /// Whether the only report of `EPOLLONESHOT` has been made.
    spent: bool,
}

/// The files of an `epoll`, by the number that stood for the file when it was added. A file stays until no number stands
/// for it any more. Meanwhile its first number may stand for another file, which then is a member of its own: the second
/// part of a key tells them apart.
#[derive(Clone, Default)]
pub(crate) struct Group(Rc<RefCell<BTreeMap<(u64, u64), Member>>>);

impl Member {
    /// The events of a file to report, and its count.
    fn news(&self, files: Ready<'_>, number: u64) -> Option<(u32, u64)> {
        let (found, writes) = files(number, &self.file).ok()?;
        let found = found & (self.wanted | ALWAYS);
        let known = self.told == Some((found, writes));
        (found != 0 && !self.spent && !known).then_some((found, writes))
    }
}

impl Group {
    pub(super) fn identity(&self) -> Rc<dyn Any> {
        Rc::clone(&self.0) as Rc<dyn Any>
    }

    pub(super) fn ready(&self, files: Ready<'_>) -> u32 {
        let members = self.0.borrow();
        let mut members = members.iter();
        let any = members.any(|(&(number, _), member)| member.news(files, number).is_some());
        if any { ready::IN } else { 0 }
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
            told: None,
            spent: false,
        };
        match (command, known) {
            (ADD, Some(_)) => return Err(EEXIST),
            (CHANGE | REMOVE, None) => return Err(ENOENT),
            (ADD, None) => drop(members.insert((number, next), member)),
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
            if let Some(news) = member.news(files, number) {
                events.push([u64::from(news.0), member.data]);
                member.spent = member.wanted & ONCE != 0;
                member.told = (member.wanted & EDGE != 0).then_some(news);
            }
        }
        events
    }
}
