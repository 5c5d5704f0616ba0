//! The reports on children that a parent gets.

use super::signal::{BY_CONTINUE, BY_DEATH, BY_EXIT, BY_STOP, CHILD, CONTINUE, Sent};
use super::signals::Change;

/// The data of a child that has ended. They remain until the parent has waited for the child.
pub(super) struct Ended {
    pub(super) parent: u32,
    pub(super) group: u32,
    pub(super) status: i32,
    pub(super) killed_by: Option<u64>,
    /// The processor time of the process and of the children that it waited for, in nanoseconds.
    pub(super) used: u64,
}

/// A report on a child: an event, as in `si_code`, its status, and the child's processor time.
#[derive(Clone, Copy)]
pub(super) struct News {
    pub(super) number: u32,
    code: i32,
    status: u64,
    pub(super) used: u64,
}

impl Ended {
    pub(super) fn news(&self, number: u32) -> News {
        let (code, status) = match self.killed_by {
            Some(signal) => (BY_DEATH, signal),
            None => (BY_EXIT, (self.status & 0xFF) as u64),
        };
        News {
            number,
            code,
            status,
            used: self.used,
        }
    }
}

impl News {
    /// The report on a child that still runs.
    pub(super) fn of_change(number: u32, change: Change) -> Self {
        let (code, status) = match change {
            Change::Stopped(signal) => (BY_STOP, signal.0),
            Change::Continued => (BY_CONTINUE, CONTINUE.0),
        };
        Self {
            number,
            code,
            status,
            used: 0,
        }
    }

    /// The `SIGCHLD` for the parent.
    pub(super) fn notice(&self) -> Sent {
        Sent::by_process(CHILD.0, self.code, self.number, self.status)
    }

    /// The status word that `wait4` writes.
    pub(super) fn word(&self) -> u32 {
        let status = self.status as u32;
        match self.code {
            BY_EXIT => status << 8,
            BY_STOP => status << 8 | 0x7F,
            BY_CONTINUE => 0xFFFF,
            _ => status,
        }
    }
}
