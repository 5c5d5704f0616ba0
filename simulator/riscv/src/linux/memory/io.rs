//! Moves bytes between the program's memory and its files.

use super::Memory;
use crate::linux::errno::{EAGAIN, EFAULT, EINVAL, Errno, Value};
use crate::linux::files::{FROM_HERE, Files, Open, WORD};
use crate::linux::random::Random;
use crate::memory::Why;

/// The most bytes in one piece.
const AT_A_TIME: u64 = 1 << 26;
/// The most bytes that one call moves, as under Linux.
const MOST: u64 = 0x7FFF_F000;
/// The most bytes that one call copies between files.
const MOST_COPIED: u64 = 1 << 20;

/// The number of bytes of parts of memory. The program may give parts of any length.
pub(crate) fn total(parts: &[(u64, u64)]) -> u64 {
    let lengths = parts.iter().map(|(_, length)| *length);
    lengths.fold(0, u64::saturating_add)
}

/// Divides parts of memory into pieces, in order. A part or a piece is an address and a length. If all parts are empty,
/// yields one empty piece.
fn pieces(parts: &[(u64, u64)]) -> impl Iterator<Item = (u64, usize)> {
    let mut left = MOST;
    let is_empty = parts.iter().all(|(_, length)| *length == 0);
    let parts = parts.iter().enumerate();
    let parts = parts.filter(move |(at, (_, length))| *length > 0 || is_empty && *at == 0);
    parts
        .map(|(_, part)| part)
        .flat_map(move |&(address, length)| {
            let length = length.min(left);
            left -= length;
            let starts = (0..length.max(1)).step_by(AT_A_TIME as usize);
            starts.map(move |done| {
                let piece = (length - done).min(AT_A_TIME);
                (address.wrapping_add(done), piece as usize)
            })
        })
}

/// The result after a piece has failed: the number of bytes that were moved before the failure, or the error if that
/// number is 0.
fn unless(error: Errno, done: u64) -> Value {
    match done {
        0 => Err(error),
        _ => Ok(done),
    }
}

impl Memory {
    /// Reads a file into parts of memory, each an address and a length. Returns the number of bytes read.
    pub(crate) fn read_file(
        &mut self,
        files: &mut Files,
        random: &mut Random,
        number: u64,
        parts: &[(u64, u64)],
        offset: Option<u64>,
    ) -> Value {
        if parts.len() > 1 && offset.is_none() && files.is_counter(number) {
            return self.read_count(files, number, parts);
        }
        self.before_reading(files, number, offset, total(parts));
        let mut done = 0;
        for (address, length) in pieces(parts) {
            // Bytes that have no room in the program's memory stay in the file.
            let room = self.space.writable(address, length as u64) as usize;
            let at = offset.map(|offset| offset.saturating_add(done));
            if room == 0 && length > 0 {
                files.may_read(number, at)?;
                if files.is_at_end(number, at)? {
                    break;
                }
                return unless(EFAULT, done);
            }
            let mut bytes = vec![0; room];
            let count = if let Ok(Open::Random) = files.get(number) {
                random.fill(&mut bytes);
                bytes.len()
            } else {
                match files.read(number, &mut bytes, at) {
                    Ok(count) => count,
                    Err(error) => return unless(error, done),
                }
            };
            if let Err(fault) = self.space.write(address, &bytes[..count]) {
                return unless(fault.into(), done);
            }
            done += count as u64;
            if count < length {
                break;
            }
        }
        Ok(done)
    }

    /// Reads a counter's eight bytes, which may lie in several parts.
    fn read_count(&mut self, files: &mut Files, number: u64, parts: &[(u64, u64)]) -> Value {
        let mut left = 8;
        let mut places = Vec::new();
        for (address, length) in pieces(parts) {
            let length = length.min(left);
            left -= length;
            if self.space.writable(address, length as u64) < length as u64 {
                return Err(EFAULT);
            }
            places.push((address, length));
        }
        let mut bytes = vec![0; 8 - left];
        let count = files.read(number, &mut bytes, None)?;
        let mut rest = &bytes[..count];
        for (address, length) in places {
            let (now, later) = rest.split_at(length);
            self.space.write(address, now)?;
            rest = later;
        }
        Ok(count as u64)
    }

    /// Writes parts of memory to a file. Returns the number of bytes written.
    pub(crate) fn write_file(
        &mut self,
        files: &mut Files,
        number: u64,
        parts: &[(u64, u64)],
        offset: Option<u64>,
    ) -> Value {
        if parts.len() > 1 && parts[0].1 == 0 && files.is_counter(number) {
            // Linux writes part after part, and a counter refuses a part of fewer than eight bytes.
            return Err(EINVAL);
        }
        if parts.len() > 1 && files.lacks_room(number, total(parts)) {
            return Err(EAGAIN);
        }
        match offset {
            None => files.may_write(number, None)?,
            Some(_) => files.exists(number)?,
        }
        let mut done = 0;
        for (address, length) in pieces(parts) {
            let mut bytes = vec![0; length];
            let at = offset.map(|offset| offset.saturating_add(done));
            let mut copied = self.space.read(address, &mut bytes);
            if let Err(fault) = copied {
                files.may_write(number, at)?;
                if length as u64 != WORD && files.is_counter(number) {
                    return Err(EINVAL);
                }
                if fault.why == Why::BehindFile {
                    // Linux finds this fault when it copies, after it has checked the file. qemu finds other faults
                    // earlier.
                    files.has_reader(number)?;
                    files.grow_to(number, at)?;
                    // The bytes are there now if they are in the same file.
                    copied = self.space.read(address, &mut bytes);
                }
            }
            if let Err(fault) = copied {
                return unless(fault.into(), done);
            }
            let count = match files.write(number, &bytes, at) {
                Ok(count) => count,
                Err(error) => return unless(error, done),
            };
            done += count as u64;
            self.after_writing(files, number, at, &bytes[..count]);
            if count < bytes.len() {
                break;
            }
        }
        Ok(done)
    }

    /// Reads the parts of an `iovec`.
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
        let parts: Result<Vec<_>, Errno> = (0..count).map(part).collect();
        match parts {
            Ok(parts) if parts.iter().any(|(_, length)| (*length as i64) < 0) => Err(EINVAL),
            parts => parts,
        }
    }

    /// `sendfile`: copies bytes from one file to another. A word may hold the offset in a file, and
    /// the call advances it. Without a word, the call uses the file's position.
    pub(crate) fn transfer(
        &mut self,
        files: &mut Files,
        from: [u64; 2],
        to: [u64; 2],
        count: u64,
    ) -> Value {
        let ([from, from_at], [to, to_at]) = (from, to);
        files.get(to)?;
        if !matches!(files.get(from)?, Open::File { .. } | Open::Text { .. }) {
            return Err(EINVAL);
        }
        let mut place = |at: u64| match at {
            0 => Ok(None),
            _ => self.space.read_u64(at).map(Some),
        };
        let (start, end) = (place(from_at)?, place(to_at)?);
        self.before_reading(files, from, start, count);
        let mut bytes = vec![0; count.min(MOST_COPIED) as usize];
        let got = files.read(from, &mut bytes, start)?;
        let written = files.write(to, &bytes[..got], end);
        let done = written.unwrap_or(0);
        if start.is_none() && done < got {
            // A later call reads the bytes again that a full stream has not taken.
            files.seek(from, done as i64 - got as i64, FROM_HERE)?;
        }
        let done = written? as u64;
        self.after_writing(files, to, end, &bytes[..done as usize]);
        for (at, place) in [(from_at, start), (to_at, end)] {
            if let Some(place) = place {
                self.space.write_u64(at, place + done)?;
            }
        }
        Ok(done)
    }

    /// `copy_file_range`, which copies to no stream.
    pub(crate) fn copy(
        &mut self,
        files: &mut Files,
        from: [u64; 2],
        to: [u64; 2],
        count: u64,
    ) -> Value {
        match files.get(to[0])?.is_awaited() {
            true => Err(EINVAL),
            false => self.transfer(files, from, to, count),
        }
    }

    /// `getrandom`.
    pub(crate) fn fill_random(&mut self, random: &mut Random, address: u64, length: u64) -> Value {
        let mut done = 0;
        for (address, length) in pieces(&[(address, length)]) {
            let mut bytes = vec![0; length];
            random.fill(&mut bytes);
            if let Err(fault) = self.space.write(address, &bytes) {
                return unless(fault.into(), done);
            }
            done += length as u64;
        }
        Ok(done)
    }
}
