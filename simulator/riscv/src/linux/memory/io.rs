//! Bytes on their way between the program's memory and its files.

use super::Memory;
use crate::linux::errno::{EINVAL, Errno, Value};
use crate::linux::files::{Files, Open};
use crate::linux::random::Random;

/// The most bytes that one part of a call moves.
const MOST: u64 = 1 << 26;
/// The most bytes that one call copies between files.
const MOST_COPIED: u64 = 1 << 20;

impl Memory {
    /// Reads a file into parts of memory, each an address and a length; the bytes read.
    pub(crate) fn read_file(
        &mut self,
        files: &mut Files,
        random: &mut Random,
        number: u64,
        parts: &[(u64, u64)],
        offset: Option<u64>,
    ) -> Value {
        self.before_reading(files, number);
        let mut done = 0;
        for &(address, length) in parts {
            let mut bytes = vec![0; length.min(MOST) as usize];
            let at = offset.map(|offset| offset.saturating_add(done));
            let count = if let Ok(Open::Random) = files.get(number) {
                random.fill(&mut bytes);
                bytes.len()
            } else {
                files.read(number, &mut bytes, at)?
            };
            self.space.write(address, &bytes[..count])?;
            done += count as u64;
            if count < bytes.len() {
                break;
            }
        }
        Ok(done)
    }

    /// Writes parts of memory to a file; the bytes written.
    pub(crate) fn write_file(
        &mut self,
        files: &mut Files,
        number: u64,
        parts: &[(u64, u64)],
        offset: Option<u64>,
    ) -> Value {
        let mut done = 0;
        for &(address, length) in parts {
            let mut bytes = vec![0; length.min(MOST) as usize];
            self.space.read(address, &mut bytes)?;
            let at = offset.map(|offset| offset.saturating_add(done));
            let count = files.write(number, &bytes, at)?;
            done += count as u64;
            self.after_writing(files, number, at, &bytes[..count]);
        }
        Ok(done)
    }

    /// The parts of an `iovec`.
    pub(crate) fn vectors(&mut self, address: u64, count: u64) -> Result<Vec<(u64, u64)>, Errno> {
        if count > 1_024 {
            return Err(EINVAL);
        }
        let part = |at: u64| {
            let at = address.wrapping_add(16 * at);
            Ok((
                self.space.read_u64(at)?,
                self.space.read_u64(at.wrapping_add(8))?,
            ))
        };
        (0..count).map(part).collect()
    }

    /// `sendfile`, `copy_file_range`: from a file to another one, each at the place in a word
    /// that the call moves on, or where it is read or written next.
    pub(crate) fn transfer(
        &mut self,
        files: &mut Files,
        from: [u64; 2],
        to: [u64; 2],
        count: u64,
    ) -> Value {
        let ([from, from_at], [to, to_at]) = (from, to);
        if !matches!(files.get(from)?, Open::File { .. } | Open::Text { .. }) {
            return Err(EINVAL);
        }
        let mut place = |at: u64| match at {
            0 => Ok(None),
            _ => self.space.read_u64(at).map(Some),
        };
        let (start, end) = (place(from_at)?, place(to_at)?);
        self.before_reading(files, from);
        let mut bytes = vec![0; count.min(MOST_COPIED) as usize];
        let got = files.read(from, &mut bytes, start)?;
        let done = files.write(to, &bytes[..got], end)? as u64;
        self.after_writing(files, to, end, &bytes[..got]);
        for (at, place) in [(from_at, start), (to_at, end)] {
            if let Some(place) = place {
                self.space.write_u64(at, place + done)?;
            }
        }
        Ok(done)
    }

    /// `getrandom`.
    pub(crate) fn fill_random(&mut self, random: &mut Random, address: u64, length: u64) -> Value {
        let length = length.min(256);
        let mut bytes = vec![0; length as usize];
        random.fill(&mut bytes);
        self.space.write(address, &bytes)?;
        Ok(length)
    }
}
