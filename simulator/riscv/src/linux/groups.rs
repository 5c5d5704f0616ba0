//! Groups of files that are waited for together: `epoll`.

use super::Process;
use super::errno::{EEXIST, EINVAL, ENOENT, Errno, Value};
use super::files::{Files, Open};
use super::streams::ready;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

const EDGE: u32 = 1 << 31;
const ONCE: u32 = 1 << 30;
/// What is told though nobody asked.
const ALWAYS: u32 = ready::ERROR | ready::HUNG_UP;
/// The most events that one call tells.
const MOST: u64 = 1 << 16;

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
pub(super) struct Group(Rc<RefCell<BTreeMap<u64, Member>>>);

impl Member {
    /// What there is to be told of a file.
    fn news(&self, files: &Files, number: u64) -> Option<(u32, u64)> {
        let (found, writes) = files.ready(number).ok()?;
        let found = found & (self.wanted | ALWAYS);
        let known = self.told == Some((found, writes));
        (found != 0 && !self.spent && !known).then_some((found, writes))
    }
}

impl Group {
    pub(super) fn ready(&self, files: &Files) -> u32 {
        let members = self.0.borrow();
        let mut members = members.iter();
        let any = members.any(|(&number, member)| member.news(files, number).is_some());
        if any { ready::IN } else { 0 }
    }

    pub(super) fn forget(&self, number: u64) {
        self.0.borrow_mut().remove(&number);
    }

    fn change(&self, command: u64, number: u64, [wanted, data]: [u64; 2]) -> Value {
        let mut members = self.0.borrow_mut();
        let member = Member {
            wanted: wanted as u32,
            data,
            told: None,
            spent: false,
        };
        match (command, members.contains_key(&number)) {
            (1, true) => return Err(EEXIST),
            (2 | 3, false) => return Err(ENOENT),
            (1 | 3, _) => drop(members.insert(number, member)),
            (2, _) => drop(members.remove(&number)),
            _ => return Err(EINVAL),
        }
        Ok(0)
    }

    /// Events that are to be told, each as it is written to memory.
    fn take(&self, files: &Files, most: u64) -> Vec<[u64; 2]> {
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

impl Process {
    fn group(&self, number: u64) -> Result<Group, Errno> {
        match self.files.get(number)? {
            Open::Group(group) => Ok(group.clone()),
            _ => Err(EINVAL),
        }
    }

    /// `epoll_ctl`.
    pub(super) fn change_group(&mut self, [group, command, number, event]: [u64; 4]) -> Value {
        let group = self.group(group)?;
        if matches!(
            self.files.get(number)?,
            Open::File { .. } | Open::Folder { .. }
        ) {
            return Err(Errno(1));
        }
        let event = match command {
            2 => [0; 2],
            _ => [
                self.space.read_u64(event)?,
                self.space.read_u64(event.wrapping_add(8))?,
            ],
        };
        group.change(command, number, event)
    }

    /// Tells of a group's files that are ready; how many.
    pub(super) fn tell_group(&mut self, group: u64, to: u64, most: u64) -> Value {
        let group = self.group(group)?;
        if most == 0 || most > MOST {
            return Err(EINVAL);
        }
        let events = group.take(&self.files, most);
        let bytes: Vec<u8> = events
            .iter()
            .flatten()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        self.space.write(to, &bytes)?;
        Ok(events.len() as u64)
    }
}
