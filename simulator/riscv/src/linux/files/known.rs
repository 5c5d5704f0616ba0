//! File numbers (inodes) and times that programs see instead of the host's numbers and times. So all runs see the same.
//!
//! * A file gets the next number when a program first sees the file.
//! * A file that the run makes or writes has the times of the simulated clock, or times that the program sets.
//! * All times of any other file are the host's time of its last change. The clock of each run begins in 2026. Changes
//!   on the host after this beginning are moved into the last second before it, in the same order.

use super::table::Files;
use crate::linux::time::{EPOCH, SECOND};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::rc::Rc;

/// Seconds and nanoseconds.
pub(super) type Time = (u64, u64);

/// A file of the host: its device and its inode there.
type Key = (u64, u64);

/// The number of the first file.
const FIRST: u64 = 2;

/// The seconds of a year. Changes in the first year after the start go to the first half of the last second before the
/// start.
const YEAR: f64 = 31_557_600.0;

/// The numbers and times of files, which all processes share.
#[derive(Default)]
pub(super) struct Known {
    numbers: BTreeMap<Key, u64>,
    /// How many numbers files have got.
    given: u64,
    /// The last access and change of files that the run has made, written or given times.
    times: BTreeMap<Key, [Time; 2]>,
}

impl Known {
    fn number(&mut self, key: Key) -> u64 {
        *self.numbers.entry(key).or_insert_with(|| {
            self.given += 1;
            FIRST + self.given - 1
        })
    }

    /// Forgets the number of a deleted file whose inode the host has given to a new file. Some hosts do that at once,
    /// and others never.
    fn forget(&mut self, key: Key) {
        self.numbers.remove(&key);
    }
}

/// Converts the host's time to the time that programs see.
fn before_start(seconds: i64, rest: i64) -> Time {
    let since = seconds - EPOCH as i64;
    if since < 0 {
        return (seconds.max(0) as u64, rest as u64);
    }
    let years = (since as f64 + rest as f64 / SECOND as f64) / YEAR;
    let part = years / (1.0 + years);
    (EPOCH - 1, (part * (SECOND - 1) as f64) as u64)
}

fn key(data: &Metadata) -> Key {
    (data.dev(), data.ino())
}

impl Files {
    /// Sets the simulated time, in nanoseconds since the start.
    pub(crate) fn set_now(&self, nanoseconds: u64) {
        self.now.set(nanoseconds);
    }

    /// The simulated time of the wall clock.
    pub(super) fn now(&self) -> Time {
        let now = self.now.get();
        (EPOCH + now / SECOND, now % SECOND)
    }

    /// A file's number, and the times of its last access and its last change.
    pub(super) fn identity(&self, data: &Metadata) -> (u64, [Time; 2]) {
        let mut known = self.known.borrow_mut();
        let number = known.number(key(data));
        let times = known.times.get(&key(data)).copied();
        let host = || [before_start(data.mtime(), data.mtime_nsec()); 2];
        (number, times.unwrap_or_else(host))
    }

    /// The number of the file in a folder that has this inode on the host.
    pub(super) fn number_in(&self, folder: &Metadata, inode: u64) -> u64 {
        self.known.borrow_mut().number((folder.dev(), inode))
    }

    /// Sets the times of a file's last access and change. `None` keeps a time.
    pub(super) fn note_times(&self, data: &Metadata, wanted: [Option<Time>; 2]) {
        let (_, now) = self.identity(data);
        let [access, change] = [0, 1].map(|at| wanted[at].unwrap_or(now[at]));
        let mut known = self.known.borrow_mut();
        known.times.insert(key(data), [access, change]);
    }

    /// Notes that the program has written a file.
    pub(in crate::linux) fn touch(&self, file: &File) {
        if let Ok(data) = file.metadata() {
            self.note_times(&data, [None, Some(self.now())]);
        }
    }

    /// Notes that the program has made the file or link at a path. The path's folder has changed too.
    pub(super) fn touch_new(&self, host: &Path) {
        self.made(host.symlink_metadata(), host);
    }

    /// Notes that the program has made and opened a file.
    pub(super) fn touch_opened(&self, file: &File, host: &Path) {
        self.made(file.metadata(), host);
    }

    fn made(&self, data: io::Result<Metadata>, host: &Path) {
        if let Ok(data) = data {
            self.known.borrow_mut().forget(key(&data));
            self.note_times(&data, [Some(self.now()); 2]);
        }
        self.touch_folder_of(host);
    }

    /// Notes that the folder of a path has changed.
    pub(super) fn touch_folder_of(&self, host: &Path) {
        if let Some(Ok(data)) = host.parent().map(Path::metadata) {
            self.note_times(&data, [None, Some(self.now())]);
        }
    }
}

pub(super) type Shared = Rc<RefCell<Known>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_the_host_keep_their_order_and_lie_before_the_start() {
        let start = EPOCH as i64;
        let times = [
            (-5, 0),
            (0, 7),
            (start - 2, 999_999_999),
            (start, 0),
            (start, 100_000_000),
            (start + 1, 0),
            (start + 86_400, 0),
            (start + 86_401, 0),
            (start + 3_000_000_000, 0),
        ];
        let seen = times.map(|(seconds, rest)| before_start(seconds, rest));
        assert!(seen.is_sorted(), "{seen:?}");
        let mut later = seen[3..].to_vec();
        later.dedup();
        assert_eq!(later.len(), 6, "{seen:?}");
        assert_eq!(seen[2], (EPOCH - 2, 999_999_999));
        assert!(seen.iter().all(|seen| seen.0 < EPOCH));
    }
}
