//! The machine's memory for all processes: its frames, and a map of the frames that contain pages of files.

use super::frames::Frames;
use super::regions::{Content, Region};
use super::shared::Key;
use super::{PAGE, Place, Why};
use std::cell::{RefCell, RefMut};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

/// The memory of a machine, which all of its processes share.
#[derive(Clone)]
pub(crate) struct Physical(Rc<RefCell<Parts>>);

pub(super) struct Parts {
    pub(super) frames: Frames,
    /// The frames of files' pages that are or were mapped as shared.
    pub(super) files: BTreeMap<(Key, u64), u32>,
    /// The addresses that the kernel has written for programs, if the machine has caches.
    written: Option<Written>,
}

/// The physical addresses that the kernel has written since the machine last looked.
pub(crate) type Written = Rc<RefCell<Vec<Range<u64>>>>;

impl Physical {
    /// Memory of at most `limit` bytes.
    pub(crate) fn new(limit: u64) -> Self {
        Self(Rc::new(RefCell::new(Parts {
            frames: Frames::new(limit / PAGE),
            files: BTreeMap::new(),
            written: None,
        })))
    }

    /// From now on, notes the addresses that the kernel writes.
    pub(crate) fn note_writes(&self) -> Written {
        let written = Written::default();
        self.borrow_mut().written = Some(Rc::clone(&written));
        written
    }

    /// Notes that the kernel writes these addresses.
    pub(super) fn wrote(&self, addresses: Range<u64>) {
        if let Some(written) = &self.0.borrow().written {
            written.borrow_mut().push(addresses);
        }
    }

    pub(super) fn borrow_mut(&self) -> RefMut<'_, Parts> {
        self.0.borrow_mut()
    }

    pub(super) fn place(&self, frame: u32) -> Place {
        self.0.borrow().frames.place(frame)
    }

    pub(super) fn give_back(&self, frame: u32) {
        self.borrow_mut().frames.give_back(frame);
    }

    /// The number of bytes that all processes use.
    pub(crate) fn used(&self) -> u64 {
        self.0.borrow().frames.used() * PAGE
    }

    /// Adapts the frames to a file's new length. Frees the frames of the pages behind the file's end, which no space
    /// uses any more, and zeroes the rest of the last page.
    pub(crate) fn cut(&self, key: Key, length: u64) {
        let parts = &mut *self.borrow_mut();
        let behind = (key, length.div_ceil(PAGE))..=(key, u64::MAX);
        let behind: Vec<_> = parts.files.range(behind).map(|(&page, _)| page).collect();
        for page in behind {
            if let Some(frame) = parts.files.remove(&page) {
                parts.frames.give_back(frame);
            }
        }
        if let Some(&frame) = parts.files.get(&(key, length / PAGE)) {
            parts.frames.bytes(frame)[(length % PAGE) as usize..].fill(0);
        }
    }

    /// Returns the frame for the first touch of a region's page, and whether the page is shared.
    pub(super) fn frame(&self, region: &Region, number: u64) -> Result<(u32, bool), Why> {
        let parts = &mut *self.borrow_mut();
        let part = match &region.content {
            Content::Mapped(part) => part,
            Content::Shared(part) => {
                let frame = part.frame(number, &mut parts.frames)?;
                return Ok((frame, true));
            }
            _ => {
                let frame = parts.frames.take().ok_or(Why::Exhausted)?;
                region.fill(number * PAGE, parts.frames.bytes(frame));
                return Ok((frame, false));
            }
        };
        if part.is_behind(number * PAGE) {
            return Err(Why::BehindFile);
        }
        let key = part.page_at(number * PAGE);
        // The frame of the file's page, if the page is or was mapped as shared.
        let files = parts.files.get(&key).copied();
        if let Some(frame) = files.filter(|_| part.is_shared) {
            return Ok((frame, true));
        }
        let frame = parts.frames.take().ok_or(Why::Exhausted)?;
        match files {
            Some(files) => parts.frames.copy(files, frame),
            None => region.fill(number * PAGE, parts.frames.bytes(frame)),
        }
        if part.is_shared {
            parts.files.insert(key, frame);
        }
        Ok((frame, part.is_shared))
    }
}
