//! Calls about the content of open files: reads, writes, seeks and truncation.

use super::listing::whence;
use super::open::Open;
use super::paths::{ACCESS, IN_MEMORY, READ_ONLY, WRITE_ONLY};
use super::streams::APPENDS;
use super::table::Files;
use crate::linux::errno::{
    EBADF, EFBIG, EINVAL, EISDIR, ENODEV, ENOTDIR, ENXIO, EOPNOTSUPP, EPIPE, ESPIPE, Errno, Value,
};
use crate::memory::Space;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::rc::Rc;

/// The flag of `fallocate` with which the file's length stays the same.
const KEEP_LENGTH: u64 = 1;

impl Files {
    pub(crate) fn content(&self, number: u64) -> Result<Rc<[u8]>, Errno> {
        let Open::File { file, .. } = self.get(number)? else {
            return Err(ENODEV);
        };
        let mut bytes = vec![0; file.metadata()?.len() as usize];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(bytes.into())
    }

    /// Fails if a file may not be read, at its position or at `offset`. Calls check this before they check the memory.
    pub(crate) fn may_read(&mut self, number: u64, offset: Option<u64>) -> Result<(), Errno> {
        if offset.is_some() && !matches!(self.get(number)?, Open::Random) {
            // This read fails for a stream, which has no offsets.
            self.read(number, &mut [], offset)?;
        }
        match self.get(number)? {
            Open::Output | Open::Error => Err(EBADF),
            Open::File { flags, .. } if flags.get() & ACCESS == WRITE_ONLY => Err(EBADF),
            open if open.end().is_some_and(|end| !end.reads()) => Err(EBADF),
            _ => Ok(()),
        }
    }

    /// Fails if a file may not be written, at its position or at `offset`.
    pub(crate) fn may_write(&mut self, number: u64, offset: Option<u64>) -> Result<(), Errno> {
        if offset.is_some() {
            self.write(number, &[], offset)?;
        }
        match self.get(number)? {
            Open::Input => Err(EBADF),
            Open::File { flags, .. } if flags.get() & ACCESS == READ_ONLY => Err(EBADF),
            open if open.end().is_some_and(|end| !end.writes()) => Err(EBADF),
            _ => Ok(()),
        }
    }

    /// Whether a file of the host is written at its end.
    pub(crate) fn appends(&self, number: u64) -> bool {
        matches!(self.get(number), Ok(Open::File { flags, .. }) if flags.get() & APPENDS != 0)
    }

    /// Fails if the file is a stream without a reader.
    pub(crate) fn has_reader(&self, number: u64) -> Result<(), Errno> {
        match self.get(number)?.end() {
            Some(end) if end.is_refused() => Err(EPIPE),
            _ => Ok(()),
        }
    }

    /// Whether reads and writes of this file move a count of eight bytes.
    pub(crate) fn is_counter(&self, number: u64) -> bool {
        matches!(self.get(number), Ok(Open::Events(_) | Open::Clock(_)))
    }

    /// Extends a file in memory to the place of a write that has failed because its bytes are behind the end of a
    /// mapped file. Linux does the same.
    pub(crate) fn grow_to(&self, number: u64, offset: Option<u64>) -> Result<(), Errno> {
        let Open::File { file, path, .. } = self.get(number)? else {
            return Ok(());
        };
        let at = offset.map_or_else(|| (&**file).stream_position(), Ok)?;
        if path.starts_with(IN_MEMORY) && at > file.metadata()?.len() {
            file.set_len(at)?;
        }
        Ok(())
    }

    /// The length of a file of the host. `None` for other files.
    pub(crate) fn end_of(&self, number: u64) -> Result<Option<u64>, Errno> {
        Ok(match self.get(number)? {
            Open::File { file, .. } => Some(file.metadata()?.len()),
            _ => None,
        })
    }

    /// Whether `offset` (or the file's position if `offset` is `None`) is at or behind the file's end.
    pub(crate) fn is_at_end(&self, number: u64, offset: Option<u64>) -> Result<bool, Errno> {
        let Open::File { file, .. } = self.get(number)? else {
            return Ok(false);
        };
        let at = match offset {
            Some(offset) => offset,
            None => (&**file).stream_position()?,
        };
        Ok(at >= file.metadata()?.len())
    }

    /// Reads into `to`. Returns the number of bytes.
    pub(crate) fn read(
        &mut self,
        number: u64,
        to: &mut [u8],
        offset: Option<u64>,
    ) -> Result<usize, Errno> {
        Ok(match (self.get(number)?, offset) {
            (Open::Input, None) => self.input.borrow_mut().read(to)?,
            (Open::File { file, .. }, Some(offset)) => file.read_at(to, offset)?,
            (Open::File { file, .. }, None) => (&**file).read(to)?,
            (Open::Text { bytes, at }, offset) => {
                let from = offset.unwrap_or(*at.borrow()).min(bytes.len() as u64) as usize;
                let length = to.len().min(bytes.len() - from);
                to[..length].copy_from_slice(&bytes[from..from + length]);
                if offset.is_none() {
                    *at.borrow_mut() = (from + length) as u64;
                }
                length
            }
            (Open::Stream(end), None) => end.read(to, false)?,
            (Open::Socket(socket), None) => socket.for_reading()?.read(to, false)?,
            (Open::Events(events), None) => events.read(to)?,
            (Open::Clock(clock), None) => clock.read(to)?,
            (Open::Folder { .. } | Open::Made { .. }, _) => return Err(EISDIR),
            (open, Some(_)) if open.has_no_places() => return Err(ESPIPE),
            _ => return Err(EBADF),
        })
    }

    /// Writes `from`. Returns the number of bytes.
    pub(crate) fn write(
        &mut self,
        number: u64,
        from: &[u8],
        offset: Option<u64>,
    ) -> Result<usize, Errno> {
        match (self.get(number)?, offset) {
            (Open::Output, None) => {
                let mut output = self.output.borrow_mut();
                output.write_all(from)?;
                output.flush()?;
            }
            (Open::Error, None) => self.error.borrow_mut().write_all(from)?,
            // As under Linux, a file with `O_APPEND` is written at its end, not at the offset.
            (Open::File { file, flags, .. }, Some(_)) if flags.get() & APPENDS != 0 => {
                file.write_all_at(from, file.metadata()?.len())?;
                self.touch(file);
            }
            (Open::File { file, .. }, Some(offset)) => {
                file.write_all_at(from, offset)?;
                if !from.is_empty() {
                    self.touch(file);
                }
            }
            (Open::File { file, flags, .. }, None) => {
                if from.is_empty() {
                    return Ok(0);
                }
                let mut host = &**file;
                if flags.get() & APPENDS != 0 {
                    host.seek(SeekFrom::End(0))?;
                }
                host.write_all(from)?;
                self.touch(file);
            }
            (Open::Stream(end), None) => return end.write(from),
            (Open::Socket(socket), None) => return socket.for_writing()?.write(from),
            (Open::Events(events), None) => return events.write(from),
            (Open::Random, _) => {}
            (open, Some(_)) if open.has_no_places() => return Err(ESPIPE),
            _ => return Err(EBADF),
        }
        Ok(from.len())
    }

    pub(crate) fn seek(&mut self, number: u64, offset: i64, from: u64) -> Value {
        let open = self.get(number)?;
        if from > whence::LAST {
            return Err(EINVAL);
        }
        match open {
            Open::File { file, .. } => {
                let to = match from {
                    whence::START => SeekFrom::Start(u64::try_from(offset).map_err(|_| EINVAL)?),
                    whence::HERE => SeekFrom::Current(offset),
                    whence::END => SeekFrom::End(offset),
                    // A file's only hole is behind its end. Other holes of the host's file system are not shown.
                    _ => {
                        let size = file.metadata()?.len();
                        let at = u64::try_from(offset).ok().filter(|&at| at < size);
                        let at = at.ok_or(ENXIO)?;
                        SeekFrom::Start(if from == whence::DATA { at } else { size })
                    }
                };
                Ok((&**file).seek(to)?)
            }
            Open::Text { bytes, at } => {
                let base = match from {
                    whence::START => 0,
                    whence::HERE => *at.borrow(),
                    whence::END => bytes.len() as u64,
                    _ => return Err(EINVAL),
                };
                let to = base.checked_add_signed(offset).ok_or(EINVAL)?;
                *at.borrow_mut() = to;
                Ok(to)
            }
            Open::Folder { listing, .. } | Open::Made { listing, .. } => {
                listing.borrow_mut().seek(offset, from)
            }
            // Counts have no position.
            Open::Events(_) => Ok(0),
            _ => Err(ESPIPE),
        }
    }

    /// `ftruncate`: gives a file another length. Returns the file.
    pub(crate) fn truncate(&mut self, number: u64, length: u64) -> Result<Rc<File>, Errno> {
        match self.get(number)? {
            Open::File { file, .. } => {
                file.set_len(length)?;
                self.touch(file);
                Ok(Rc::clone(file))
            }
            _ => Err(EINVAL),
        }
    }

    /// `fallocate`: extends a file to at least this length, unless the mode keeps the length.
    pub(crate) fn allocate(&mut self, number: u64, mode: u64, [start, length]: [u64; 2]) -> Value {
        let open = self.get(number)?;
        if (start as i64) < 0 || (length as i64) <= 0 {
            return Err(EINVAL);
        }
        let Open::File { file, flags, .. } = open else {
            return Err(ENODEV);
        };
        if flags.get() & ACCESS == READ_ONLY {
            return Err(EBADF);
        }
        let length = start + length;
        if length > i64::MAX as u64 {
            return Err(EFBIG);
        }
        match mode {
            0 if file.metadata()?.len() < length => {
                file.set_len(length)?;
                self.touch(file);
            }
            0 | KEEP_LENGTH => {}
            _ => return Err(EOPNOTSUPP),
        }
        Ok(0)
    }

    pub(crate) fn set_mode(&mut self, number: u64, mode: u64) -> Value {
        let mode = fs::Permissions::from_mode(mode as u32 & 0o7777);
        match self.get(number)? {
            Open::File { file, .. } => file.set_permissions(mode)?,
            Open::Folder { path, .. } => fs::set_permissions(path, mode)?,
            _ => {}
        }
        Ok(0)
    }

    /// `getdents64`.
    pub(crate) fn entries(&self, space: &mut Space, number: u64, to: u64, length: u64) -> Value {
        let (Open::Folder { path, listing } | Open::Made { path, listing, .. }) =
            self.get(number)?
        else {
            return Err(ENOTDIR);
        };
        let bytes = listing.borrow_mut().take(self, path, length)?;
        space.write(to, &bytes)?;
        Ok(bytes.len() as u64)
    }
}
