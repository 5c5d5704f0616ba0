//! The memory of a process: `brk`, `mmap` and related calls, and mapped files.

mod io;
mod shared;

pub(crate) use io::total;

use super::errno::{EEXIST, EFAULT, EINVAL, ENOMEM, EOPNOTSUPP, Errno, Value};
use super::files::Files;
use super::names::Names;
use crate::memory::{Content, END, PAGE, Part, Physical, Region, Space, right};
use std::rc::Rc;

/// Mappings without a given address lie below this address. The main thread's stack lies above it.
pub(crate) const MAPPINGS: u64 = 0x3F_0000_0000;

/// All rights.
const ANY: u8 = right::READ | right::WRITE | right::EXECUTE;

/// The bits that make a mapping shared or private. With `SHARED_VALIDATE` (unlike `SHARED`), `mmap` refuses the flag
/// `SYNCHRONOUS`.
const KIND: u64 = 0xF;
const SHARED: u64 = 1;
const PRIVATE: u64 = 2;
const SHARED_VALIDATE: u64 = 3;
const SYNCHRONOUS: u64 = 0x8_0000;
const FIXED: u64 = 0x10;
const ANONYMOUS: u64 = 0x20;
const POPULATE: u64 = 0x8000;
const FIXED_NOREPLACE: u64 = 0x10_0000;
/// Flags of `mremap`.
const MAY_MOVE: u64 = 1;
const MOVES_TO: u64 = 2;
/// `MREMAP_DONTUNMAP`.
const KEEPS: u64 = 4;
const DONT_NEED: u64 = 4;
/// The advice that `madvise` accepts. Only `DONT_NEED` has an effect.
const KNOWN_ADVICE: [u64; 17] = [0, 1, 2, 3, 4, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 20, 21];

/// Returns the length of the whole pages for this many bytes.
fn pages(length: u64) -> Result<u64, Errno> {
    match length {
        0 => Err(EINVAL),
        1..END => Ok(length.next_multiple_of(PAGE)),
        _ => Err(ENOMEM),
    }
}

/// Checks the guest's range of pages, and rounds its length up.
fn range(address: u64, length: u64) -> Result<(u64, u64), Errno> {
    let length = pages(length)?;
    if !address.is_multiple_of(PAGE) {
        return Err(EINVAL);
    }
    match address.checked_add(length) {
        Some(end) if end <= END => Ok((address, length)),
        _ => Err(ENOMEM),
    }
}

/// The memory of a process.
pub(crate) struct Memory {
    pub(crate) space: Space,
    /// The start and end of the heap. `brk` moves the end.
    heap: (u64, u64),
    /// The registrations for `membarrier`, as bits of its commands. Processes that share this memory share them.
    pub(super) fences: u64,
}

impl Memory {
    /// Creates empty memory for a process, which takes its frames from the machine's memory.
    pub(crate) fn new(physical: Physical) -> Self {
        Self {
            space: Space::new(physical),
            heap: (0, 0),
            fences: 0,
        }
    }

    /// Returns a copy for another process. Returns `None` if there is no room for the copy.
    pub(crate) fn fork(&self) -> Option<Self> {
        Some(Self {
            space: self.space.fork()?,
            heap: self.heap,
            fences: self.fences,
        })
    }

    pub(crate) fn begin_heap(&mut self, at: u64) {
        self.heap = (at, at);
    }

    pub(crate) fn brk(&mut self, wanted: u64) -> u64 {
        let (start, now) = self.heap;
        let old = now.next_multiple_of(PAGE);
        let end = wanted.checked_next_multiple_of(PAGE).unwrap_or(END);
        if wanted < start || end >= END {
            return now;
        }
        if end > old {
            if !self.space.is_free(old, end - old) {
                return now;
            }
            let region = Region {
                end,
                rights: right::READ | right::WRITE,
                content: Content::Zero,
                name: "[heap]".into(),
                was_written: false,
            };
            self.space.map(old, region);
        } else if end < old {
            self.space.unmap(end, old - end);
        }
        self.heap.1 = wanted;
        wanted
    }

    pub(crate) fn mmap(
        &mut self,
        files: &Files,
        names: &mut Names,
        [hint, length, rights, flags, file, offset]: [u64; 6],
    ) -> Value {
        let length = pages(length)?;
        if !offset.is_multiple_of(PAGE) {
            return Err(EINVAL);
        }
        let is_anonymous = flags & ANONYMOUS != 0;
        if !is_anonymous {
            files.get(file)?;
        }
        let is_shared = match flags & KIND {
            SHARED => true,
            PRIVATE => false,
            // No file here is persistent memory, which keeps its content when the power fails.
            SHARED_VALIDATE if !is_anonymous && flags & SYNCHRONOUS != 0 => return Err(EOPNOTSUPP),
            SHARED_VALIDATE if !is_anonymous => true,
            _ => return Err(EINVAL),
        };
        let fixed = flags & (FIXED | FIXED_NOREPLACE) != 0;
        let start = if fixed {
            range(hint, length)?;
            if flags & FIXED_NOREPLACE != 0 && !self.space.is_free(hint, length) {
                return Err(EEXIST);
            }
            hint
        } else {
            let hint = hint / PAGE * PAGE;
            let end = hint.checked_add(length);
            let usable = hint >= PAGE * 16 && end.is_some_and(|end| end <= END);
            if usable && self.space.is_free(hint, length) {
                hint
            } else {
                self.space.free_below(MAPPINGS, length).ok_or(ENOMEM)?
            }
        };
        let rights = rights as u8 & ANY;
        let (content, name) = if is_anonymous && is_shared {
            let part = Part::new(self.space.physical(), start, length);
            (Content::Shared(part), Rc::from(""))
        } else if is_anonymous {
            (Content::Zero, Rc::from(""))
        } else {
            let mapped = self.map_file(files, file, [start, offset], (is_shared, rights));
            if mapped.is_err() && files.get(file)?.end().is_some_and(|end| end.is_socket()) {
                // Linux unmaps the range before it asks the socket.
                self.space.unmap(start, length);
            }
            let mapped = mapped?;
            if !is_shared && rights & right::EXECUTE != 0 {
                // The file is a library. Its code is based at the address that corresponds to offset 0 of the file.
                self.before_reading(files, file, Some(0), u64::MAX);
                names.add(&files.content(file)?, start.wrapping_sub(offset));
            }
            mapped
        };
        self.space.map(
            start,
            Region {
                end: start + length,
                rights,
                content,
                name,
                // Linux writes such pages at once.
                was_written: flags & POPULATE != 0 && rights & right::WRITE != 0,
            },
        );
        Ok(start)
    }

    pub(crate) fn munmap(&mut self, address: u64, length: u64) -> Value {
        let (start, length) = range(address, length)?;
        self.space.unmap(start, length);
        Ok(0)
    }

    pub(crate) fn mprotect(&mut self, address: u64, length: u64, rights: u64) -> Value {
        if length == 0 {
            return Ok(0);
        }
        let (start, length) = range(address, length)?;
        if self.space.protect(start, length, rights as u8 & ANY) {
            Ok(0)
        } else {
            Err(ENOMEM)
        }
    }

    pub(crate) fn madvise(&mut self, address: u64, length: u64, advice: u64) -> Value {
        if !address.is_multiple_of(PAGE) || !KNOWN_ADVICE.contains(&advice) {
            return Err(EINVAL);
        }
        if length == 0 {
            return Ok(0);
        }
        let (start, length) = range(address, length)?;
        if advice == DONT_NEED {
            self.space.forget(start, length);
        }
        match self.space.is_mapped(start, length) {
            true => Ok(0),
            false => Err(ENOMEM),
        }
    }

    /// `mremap`: grows or shrinks a range in place, or moves it. The flags may ask for the address `to`.
    pub(crate) fn mremap(
        &mut self,
        [start, old]: [u64; 2],
        [to, new]: [u64; 2],
        flags: u64,
    ) -> Value {
        let keeps = flags & KEEPS != 0;
        if flags & !(MAY_MOVE | MOVES_TO | KEEPS) != 0
            || flags & MAY_MOVE == 0 && flags != 0
            || keeps && old != new
            || !start.is_multiple_of(PAGE)
        {
            return Err(EINVAL);
        }
        let (old, new) = (old.checked_next_multiple_of(PAGE), pages(new)?);
        let old = old.filter(|old| *old < END).ok_or(EINVAL)?;
        if flags & MOVES_TO != 0 {
            let (to, new) = range(to, new)?;
            if to < start.saturating_add(old) && start < to + new {
                return Err(EINVAL);
            }
            let kept = self.movable(start, old.min(new))?;
            self.space.unmap(to, new);
            if new < old {
                self.space.unmap(start + new, old - new);
            }
            return self.move_range([start, kept], [to, new], keeps);
        }
        let (_, region) = self.space.region(start).ok_or(EFAULT)?;
        if new <= old && !keeps {
            if new < old {
                self.space.unmap(start + new, old - new);
            }
            return Ok(start);
        }
        let region = region.clone();
        let old = self.movable(start, old)?;
        if !keeps
            && old > 0
            && region.end == start + old
            && self.space.is_free(region.end, new - old)
        {
            let end = start + new;
            // The new part joins the region below it.
            self.space.map(start + old, Region { end, ..region });
            return Ok(start);
        }
        if flags & MAY_MOVE == 0 {
            return Err(ENOMEM);
        }
        let to = self.space.free_below(MAPPINGS, new).ok_or(ENOMEM)?;
        self.move_range([start, old], [to, new], keeps)
    }

    /// Whether the word at an address is in private anonymous memory without the right to write. Linux refuses to wait
    /// on such a word without `FUTEX_PRIVATE_FLAG`, since no thread can write it.
    pub(crate) fn never_changes(&self, address: u64) -> bool {
        let region = self.space.region(address);
        region.is_some_and(|(_, region)| {
            region.rights & right::WRITE == 0
                && matches!(region.content, Content::Zero | Content::Moved(_))
        })
    }

    /// Returns the length of a range that is to move. The range must lie in one mapping. An empty range is allowed only
    /// in a shared mapping, which `mremap` then maps a second time.
    fn movable(&self, start: u64, length: u64) -> Value {
        let (_, region) = self.space.region(start).ok_or(EFAULT)?;
        if length == 0 && !region.is_shared() {
            return Err(EINVAL);
        }
        match region.end < start + length {
            true => Err(EFAULT),
            false => Ok(length),
        }
    }

    /// Moves a range of one mapping to `to` with the length `new`. Returns `to`. With `keeps`, the old range stays
    /// mapped, as if the program had never written to it. Fails if the old range is not mapped any more.
    fn move_range(&mut self, [start, old]: [u64; 2], [to, new]: [u64; 2], keeps: bool) -> Value {
        let (_, region) = self.space.region(start).ok_or(EFAULT)?;
        let region = region.clone();
        let content = region.moved_content(to.wrapping_sub(start));
        let end = to + new;
        self.space.map(
            to,
            Region {
                end,
                content,
                ..region
            },
        );
        self.space.remap(start, old, to);
        if !keeps {
            self.space.unmap(start, old);
        }
        Ok(to)
    }
}
