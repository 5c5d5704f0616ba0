//! Groups of files that a thread awaits together: `epoll`.

use super::streams::ready;
use crate::linux::errno::{EEXIST, EINVAL, ENOENT, Errno, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

const EDGE: u32 = 1 << 31;
const ONCE: u32 = 1 << 30;
/// Events that are reported even if the program did not ask for them.
const ALWAYS: u32 = ready::ERROR | ready::HUNG_UP;
/// The operations of `epoll_ctl`.
const ADD: u64 = 1;
pub(super) const REMOVE: u64 = 2;
const CHANGE: u64 = 3;

/// Returns the ready events of a number's file, and a count that changes with each arrival.
pub(super) type Ready<'a> = &'a dyn Fn(u64) -> Result<(u32, u64), Errno>;

/// The awaited events of a file, and the program's value for it.
#[derive(Clone, Copy)]
struct Member {
    wanted: u32,
    data: u64,
    /// The latest report, if the program asks for changes only (`EPOLLET`).
    told: Option<(u32, u64)>,
    /// Whether the only report of `EPOLLONESHOT` has been made.
    spent: bool,
}

/// The files of an `epoll` group, by number.
#[derive(Clone, Default)]
pub(crate) struct Group(Rc<RefCell<BTreeMap<u64, Member>>>);

impl Member {
    /// The events of a file to report, and its count.
    fn news(&self, files: Ready<'_>, number: u64) -> Option<(u32, u64)> {
        let (found, writes) = files(number).ok()?;
        let found = found & (self.wanted | ALWAYS);
        let known = self.told == Some((found, writes));
        (found != 0 && !self.spent && !known).then_some((found, writes))
    }
}

impl Group {
    pub(super) fn ready(&self, files: Ready<'_>) -> u32 {
        let members = self.0.borrow();
        let mut members = members.iter();
        let any = members.any(|(&number, member)| member.news(files, number).is_some());
        if any { ready::IN } else { 0 }
    }

    pub(super) fn forget(&self, number: u64) {
        self.0.borrow_mut().remove(&number);
    }

    pub(super) fn change(&self, command: u64, number: u64, [wanted, data]: [u64; 2]) -> Value {
        let mut members = self.0.borrow_mut();
        let member = Member {
            wanted: wanted as u32,
            data,
            told: None,
            spent: false,
        };
        match (command, members.contains_key(&number)) {
            (ADD, true) => return Err(EEXIST),
            (CHANGE | REMOVE, false) => return Err(ENOENT),
            (ADD | CHANGE, _) => drop(members.insert(number, member)),
            (REMOVE, _) => drop(members.remove(&number)),
            _ => return Err(EINVAL),
        }
        Ok(0)
    }

    /// Returns at most `most` events to report, each as two words of an `epoll_event`.
    pub(super) fn take(&self, files: Ready<'_>, most: u64) -> Vec<[u64; 2]> {
        let mut members = self.0.borrow_mut();
        let mut events = Vec::new();
        for (&number, member) in &mut *members {
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
