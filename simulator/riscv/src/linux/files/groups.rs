//! Groups of files that are waited for together: `epoll`.

use super::streams::ready;
use crate::linux::errno::{EEXIST, EINVAL, ENOENT, Errno, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

const EDGE: u32 = 1 << 31;
const ONCE: u32 = 1 << 30;
/// What is told though nobody asked.
const ALWAYS: u32 = ready::ERROR | ready::HUNG_UP;
/// What `epoll_ctl` does with a file.
const ADD: u64 = 1;
pub(super) const REMOVE: u64 = 2;
const CHANGE: u64 = 3;

/// The events for which a number's file is ready, and a count that changes with each arrival.
pub(super) type Ready<'a> = &'a dyn Fn(u64) -> Result<(u32, u64), Errno>;

/// What of a file is waited for, and what the program calls it.
#[derive(Clone, Copy)]
struct Member {
    wanted: u32,
    data: u64,
    /// What was told last, of one who is told of changes only.
    told: Option<(u32, u64)>,
    /// It was told once, which is enough.
    spent: bool,
}

/// The files of an `epoll`, by number.
#[derive(Clone, Default)]
pub(crate) struct Group(Rc<RefCell<BTreeMap<u64, Member>>>);

impl Member {
    /// What there is to be told of a file.
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

    /// Events that are to be told, each as it is written to memory.
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
