//! Flags of open files and of their numbers: `fcntl`, `ioctl`, and the numbers that `execve` closes.

use super::open::Open;
use super::streams::{APPENDS, NON_BLOCKING};
use super::table::Files;
use crate::linux::errno::{EBADF, EINVAL, ENOTTY, Errno, Value, known_flags};
use crate::memory::Space;
use std::io::Seek;

/// `O_CLOEXEC`. Most calls that make a number have a flag of the same value.
pub(super) const CLOSES: u64 = 0o200_0000;
/// Flags of `memfd_create`: `MFD_CLOEXEC`, `MFD_HUGETLB` with the bits of its size, `MFD_NOEXEC_SEAL`, `MFD_EXEC`, and
/// all flags with `MFD_ALLOW_SEALING`.
const MEMORY_CLOSES: u64 = 1;
const LARGE_PAGES: u64 = 4;
const PAGE_SIZES: u64 = 0x3F << 26;
const NOT_RUN: u64 = 8;
const RUN: u64 = 0x10;
const MEMORY_FLAGS: u64 = 0x1F;
/// Flags of `close_range`. Processes never share numbers, so `NOT_SHARED` does nothing.
const CLOSES_LATER: u64 = 4;
const NOT_SHARED: u64 = 2;
const READS: u64 = 0;
const WRITES: u64 = 1;
const BOTH: u64 = 2;
/// The flags of a file that `fcntl` changes.
const CHANGED: u64 = NON_BLOCKING | APPENDS;

/// Commands of `fcntl`.
const DUPLICATE: u64 = 0;
const GET_CLOSES: u64 = 1;
const SET_CLOSES: u64 = 2;
const GET_STATUS: u64 = 3;
const SET_STATUS: u64 = 4;
const GET_LOCK: u64 = 5;
const SET_LOCK: u64 = 6;
const AWAIT_LOCK: u64 = 7;
const DUPLICATE_CLOSES: u64 = 1_030;
pub(in crate::linux) const SET_CAPACITY: u64 = 1_031;
const CAPACITY: u64 = 1_032;
/// `FD_CLOEXEC`.
const CLOSING: u64 = 1;
/// `F_UNLCK`, as `F_GETLK` writes it.
const NO_LOCK: [u8; 2] = [2, 0];

/// Commands of `ioctl`: `FIONREAD`, `FIONBIO`, `FIONCLEX`, `FIOCLEX`.
const COUNT: u64 = 0x541B;
const SET_BLOCKING: u64 = 0x5421;
const STAY_OPEN: u64 = 0x5450;
const CLOSE: u64 = 0x5451;

impl Files {
    /// Sets whether `execve` closes a number.
    pub(crate) fn set_closing(&mut self, number: u64, flags: u64) {
        if flags & CLOSES == 0 {
            self.closing.remove(&number);
        } else {
            self.closing.insert(number);
        }
    }

    /// `close_range`: closes open numbers from `first` to `last`, or makes `execve` close them.
    pub(crate) fn close_range(&mut self, [first, last, flags]: [u64; 3]) -> Value {
        let (first, last) = (first as u32 as u64, last as u32 as u64);
        if first > last || flags & !(CLOSES_LATER | NOT_SHARED) != 0 {
            return Err(EINVAL);
        }
        for number in self.numbers(first..=last) {
            if flags & CLOSES_LATER != 0 {
                self.set_closing(number, CLOSES);
            } else {
                self.close(number)?;
            }
        }
        Ok(0)
    }

    /// Closes the numbers that the next program does not get.
    pub(crate) fn close_for_exec(&mut self) {
        for number in std::mem::take(&mut self.closing) {
            // The number is open, since closing it removes it from the set.
            let _ = self.close(number);
        }
    }

    /// Sets whether a reader waits (`NON_BLOCKING`), and whether a file is written at its end (`APPENDS`). A stream
    /// stores the second flag without using it.
    pub(crate) fn set_status(&self, number: u64, flags: u64) -> Result<(), Errno> {
        let kept = match self.get(number)? {
            Open::Stream(end) => end.flags(),
            Open::Events(events) => events.flags(),
            Open::Clock(clock) => clock.flags(),
            Open::Signals(signals) => signals.flags(),
            Open::Socket(socket) => socket.flags(),
            Open::File { flags, .. } => &**flags,
            _ => return Ok(()),
        };
        kept.set(kept.get() & !CHANGED | flags & CHANGED);
        Ok(())
    }

    /// `F_GETFL`.
    fn status(&self, number: u64) -> Value {
        Ok(match self.entry(number)? {
            Open::Place { flags, .. } => *flags,
            Open::Input | Open::Text { .. } | Open::Random => READS,
            Open::Folder { .. } | Open::Made { .. } => READS,
            Open::Output | Open::Error => WRITES,
            Open::Group(_) => BOTH,
            Open::Clock(clock) => BOTH | clock.flags().get() & CHANGED,
            Open::Signals(signals) => BOTH | signals.flags().get() & CHANGED,
            Open::Socket(socket) => BOTH | socket.flags().get() & CHANGED,
            Open::File { flags, .. } => flags.get(),
            Open::Events(events) => BOTH | events.flags().get() & CHANGED,
            Open::Stream(end) => {
                let way = match (end.reads(), end.writes()) {
                    (true, true) => BOTH,
                    (true, false) => READS,
                    (false, _) => WRITES,
                };
                way | end.flags().get() & CHANGED
            }
        })
    }

    /// `fcntl`.
    pub(crate) fn control(
        &mut self,
        space: &mut Space,
        number: u64,
        command: u64,
        value: u64,
    ) -> Value {
        // A number is an `int`.
        let number = number & 0xFFFF_FFFF;
        match command {
            DUPLICATE => self.duplicate(number, value, 0),
            DUPLICATE_CLOSES => self.duplicate(number, value, CLOSES),
            GET_CLOSES => {
                self.entry(number)?;
                Ok(u64::from(self.closing.contains(&number)))
            }
            SET_CLOSES => {
                self.entry(number)?;
                self.set_closing(number, if value & CLOSING == 0 { 0 } else { CLOSES });
                Ok(0)
            }
            GET_STATUS => self.status(number),
            SET_STATUS => self.set_status(number, value).map(|()| 0),
            SET_CAPACITY | CAPACITY => {
                let end = self.get(number)?.end().ok_or(EBADF)?;
                match command {
                    CAPACITY => end.capacity(),
                    _ => end.set_capacity(value),
                }
            }
            // The answer is that no other process has a lock.
            GET_LOCK => {
                self.exists(number)?;
                space.write(value, &NO_LOCK)?;
                Ok(0)
            }
            // Every process gets every lock that it asks for.
            SET_LOCK | AWAIT_LOCK => self.exists(number).map(|()| 0),
            _ => self.exists(number).and(Err(EINVAL)),
        }
    }

    /// `ioctl`. There are no terminals, so their commands fail.
    pub(crate) fn control_device(
        &mut self,
        space: &mut Space,
        number: u64,
        command: u64,
        to: u64,
    ) -> Value {
        let open = self.get(number)?;
        match (command, open.end()) {
            (COUNT, Some(end)) => space.write_u32(to, end.unread() as u32)?,
            (COUNT, None) if let Open::File { file, .. } = open => {
                let at = (&**file).stream_position()?;
                let left = file.metadata()?.len().wrapping_sub(at);
                space.write_u32(to, left as u32)?;
            }
            (SET_BLOCKING, _) => {
                let on = space.read_u32(to)? != 0;
                let others = self.status(number)? & !NON_BLOCKING;
                self.set_status(number, others | if on { NON_BLOCKING } else { 0 })?;
            }
            (STAY_OPEN, _) => self.set_closing(number, 0),
            (CLOSE, _) => self.set_closing(number, CLOSES),
            _ => return Err(ENOTTY),
        }
        Ok(0)
    }
}

/// The mode of a file that `memfd_create` makes with these flags, and the flags for its number.
pub(super) fn memory_flags(flags: u64) -> Result<(u32, u64), Errno> {
    let sizes = match flags & LARGE_PAGES {
        0 => 0,
        _ => PAGE_SIZES,
    };
    known_flags(flags, MEMORY_FLAGS | sizes)?;
    let mode = match flags & (NOT_RUN | RUN) {
        0 | RUN => 0o777,
        NOT_RUN => 0o666,
        _ => return Err(EINVAL),
    };
    let closes = match flags & MEMORY_CLOSES {
        0 => 0,
        _ => CLOSES,
    };
    Ok((mode, closes))
}
