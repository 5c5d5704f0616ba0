//! The memory of a process: `brk`, `mmap` and their kin, and files that are mapped.

mod io;
mod shared;

use super::errno::{EEXIST, EFAULT, EINVAL, ENOMEM, EOPNOTSUPP, Errno, Value};
use super::files::Files;
use super::names::Names;
use crate::memory::{Content, END, Key, PAGE, Part, Physical, Region, Space, right};
use std::fs::File;
use std::rc::Rc;

/// What is mapped without an address lies below it; the main thread's stack lies above.
pub(crate) const MAPPINGS: u64 = 0x3F_0000_0000;

/// All rights.
const ANY: u8 = right::READ | right::WRITE | right::EXECUTE;

/// Whether a mapping is shared or private; of the third kind, unknown flags are refused.
const KIND: u64 = 0xF;
const SHARED: u64 = 1;
const PRIVATE: u64 = 2;
const SHARED_VALIDATE: u64 = 3;
const SYNCHRONOUS: u64 = 0x8_0000;
const FIXED: u64 = 0x10;
const ANONYMOUS: u64 = 0x20;
const FIXED_NOREPLACE: u64 = 0x10_0000;
/// Flags of `mremap`.
const MAY_MOVE: u64 = 1;
const MOVES_TO: u64 = 2;
const DONT_NEED: u64 = 4;

/// Whole pages that hold so many bytes.
fn pages(length: u64) -> Result<u64, Errno> {
    match length {
        0 => Err(EINVAL),
        1..END => Ok(length.next_multiple_of(PAGE)),
        _ => Err(ENOMEM),
    }
}

/// A range of pages as the guest gives it.
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
    /// Start and end of what `brk` moves.
    heap: (u64, u64),
    /// Files with pages that the program may have written to.
    shared: Vec<(Key, Rc<File>)>,
}

impl Memory {
    /// Empty memory in a machine's.
    pub(crate) fn new(physical: Physical) -> Self {
        Self {
            space: Space::new(physical),
            heap: (0, 0),
            shared: Vec::new(),
        }
    }

    /// A copy for another process; `None` if there is no memory for it.
    pub(crate) fn fork(&self) -> Option<Self> {
        Some(Self {
            space: self.space.fork()?,
            heap: self.heap,
            shared: self.shared.clone(),
        })
    }

    /// The heap begins at an address, and is empty.
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
        let is_shared = match flags & KIND {
            SHARED => true,
            PRIVATE => false,
            // No file is memory that keeps what is written when the power fails.
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
            let part = Part::new(self.space.physical(), start);
            (Content::Shared(part), Rc::from(""))
        } else if is_anonymous {
            (Content::Zero, Rc::from(""))
        } else {
            let mapped = self.map_file(files, file, [start, offset], (is_shared, rights))?;
            if !is_shared && rights & right::EXECUTE != 0 {
                // A library's code: its first byte lies where offset 0 would.
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
            },
        );
        Ok(start)
    }

    pub(crate) fn munmap(&mut self, address: u64, length: u64) -> Value {
        let (start, length) = range(address, length)?;
        self.write_back();
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
        if length > 0 && advice == DONT_NEED {
            let (start, length) = range(address, length)?;
            self.space.forget(start, length);
        }
        Ok(0)
    }

    /// `mremap`: a range grows or shrinks where it is, or moves; to `to`, if the flags say so.
    pub(crate) fn mremap(
        &mut self,
        [address, old]: [u64; 2],
        [to, new]: [u64; 2],
        flags: u64,
    ) -> Value {
        let (start, old) = range(address, old)?;
        let new = pages(new)?;
        if flags & !(MAY_MOVE | MOVES_TO) != 0 || flags & (MAY_MOVE | MOVES_TO) == MOVES_TO {
            return Err(EINVAL);
        }
        let (_, region) = self.space.region(start).ok_or(EFAULT)?;
        let end = region.end;
        let grows = new > old;
        if flags & MOVES_TO != 0 {
            let (to, new) = range(to, new)?;
            if to < start + old && start < to + new {
                return Err(EINVAL);
            }
            if end < start + old.min(new) {
                return Err(EFAULT);
            }
            self.write_back();
            if new < old {
                self.space.unmap(start + new, old - new);
            }
            return self.move_range([start, old.min(new)], [to, new]);
        }
        if !grows {
            if new < old {
                self.write_back();
                self.space.unmap(start + new, old - new);
            }
            return Ok(start);
        }
        if end < start + old {
            return Err(EFAULT);
        }
        if self.space.is_free(start + old, new - old) {
            let region = region.clone();
            let end = start + new;
            // It is joined with the region below.
            self.space.map(start + old, Region { end, ..region });
            return Ok(start);
        }
        if flags & MAY_MOVE == 0 {
            return Err(ENOMEM);
        }
        let to = self.space.free_below(MAPPINGS, new).ok_or(ENOMEM)?;
        self.move_range([start, old], [to, new])
    }

    /// Moves a range of one region to another place, where it has another length; the place.
    fn move_range(&mut self, [start, old]: [u64; 2], [to, new]: [u64; 2]) -> Value {
        let (_, region) = self.space.region(start).ok_or(EFAULT)?;
        let region = region.clone();
        let content = region.content.moved(to.wrapping_sub(start));
        self.space.map(
            to,
            Region {
                end: to + new,
                content,
                ..region
            },
        );
        self.space.remap(start, old, to);
        self.space.unmap(start, old);
        Ok(to)
    }
}
