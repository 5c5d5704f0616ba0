//! What is kept of the numbers of open files: `fcntl`, and what `execve` closes.

use super::errno::{EINVAL, Errno, Value};
use super::files::{Files, MOST, Open};
use super::streams::NON_BLOCKING;

/// `O_CLOEXEC`, as all calls have it that make a number.
pub(super) const CLOSES: u64 = 0o200_0000;
pub(super) const APPENDS: u64 = 0o2000;
/// `O_ACCMODE` and what `F_GETFL` tells beside it of a file.
pub(super) const KEPT: u64 = 3 | APPENDS | NON_BLOCKING;
const READS: u64 = 0;
const WRITES: u64 = 1;
const BOTH: u64 = 2;

impl Files {
    /// Whether a number is closed by `execve`.
    pub(super) fn set_closing(&mut self, number: u64, flags: u64) {
        if flags & CLOSES == 0 {
            self.closing.remove(&number);
        } else {
            self.closing.insert(number);
        }
    }

    /// Closes what another program is not to have.
    pub(super) fn close_for_exec(&mut self) {
        for number in std::mem::take(&mut self.closing) {
            // It is open, as closing it takes it out of the set.
            let _ = self.close(number);
        }
    }

    /// Sets whether who reads from nothing waits, and whether a file is written to at its end.
    pub(super) fn set_status(&self, number: u64, flags: u64) -> Result<(), Errno> {
        let (kept, changed) = match self.get(number)? {
            Open::Stream(end) => (end.flags(), NON_BLOCKING),
            Open::Events(events) => (events.flags(), NON_BLOCKING),
            Open::File { flags, .. } => (&**flags, NON_BLOCKING | APPENDS),
            _ => return Ok(()),
        };
        kept.set(kept.get() & !changed | flags & changed);
        Ok(())
    }

    /// `F_GETFL`.
    fn status(&self, number: u64) -> Value {
        Ok(match self.get(number)? {
            Open::Input | Open::Text { .. } | Open::Folder { .. } | Open::Random => READS,
            Open::Output | Open::Error => WRITES,
            Open::Group(_) => BOTH,
            Open::File { flags, .. } => flags.get(),
            Open::Events(events) => BOTH | events.flags().get() & NON_BLOCKING,
            Open::Stream(end) => {
                let way = match (end.is_socket(), end.reads()) {
                    (true, _) => BOTH,
                    (false, true) => READS,
                    (false, false) => WRITES,
                };
                way | end.flags().get() & NON_BLOCKING
            }
        })
    }

    /// `fcntl`.
    pub(super) fn control(&mut self, number: u64, command: u64, value: u64) -> Value {
        match command {
            // F_DUPFD, F_DUPFD_CLOEXEC
            0 | 1_030 => {
                let new = self.duplicate(number, value.min(MOST))?;
                self.set_closing(new, if command == 0 { 0 } else { CLOSES });
                Ok(new)
            }
            // F_GETFD, F_SETFD
            1 => {
                self.exists(number)?;
                Ok(u64::from(self.closing.contains(&number)))
            }
            2 => {
                self.exists(number)?;
                self.set_closing(number, if value & 1 == 0 { 0 } else { CLOSES });
                Ok(0)
            }
            // F_GETFL, F_SETFL
            3 => self.status(number),
            4 => self.set_status(number, value).map(|()| 0),
            // F_SETLK, F_SETLKW: one process has all locks.
            6 | 7 => self.exists(number).map(|()| 0),
            _ => Err(EINVAL),
        }
    }
}
