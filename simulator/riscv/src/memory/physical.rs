//! The machine's memory for all processes: its frames, and the files that are mapped as shared.

use super::frames::Frames;
use super::regions::{Content, Region};
use super::shared::{Key, Shared};
use super::{PAGE, Place, Why};
use std::cell::{RefCell, RefMut};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::{Rc, Weak};

/// The memory of a machine, which all of its processes share.
#[derive(Clone)]
pub(crate) struct Physical(Rc<RefCell<Parts>>);

pub(super) struct Parts {
    pub(super) frames: Frames,
    /// The number of spaces.
    pub(super) spaces: u32,
    /// The files that processes map as shared.
    files: BTreeMap<Key, Weak<Shared>>,
    /// Writes to files that the other processes' private pages do not show yet.
    file_writes: Vec<FileWrite>,
    /// The addresses that the kernel has written for programs, if the machine has caches.
    written: Option<Written>,
}

/// The physical addresses that the kernel has written since the machine last looked.
pub(crate) type Written = Rc<RefCell<Vec<Range<u64>>>>;

/// A write of bytes to a file at an offset.
pub(crate) struct FileWrite {
    pub(crate) key: Key,
    pub(crate) offset: u64,
    pub(crate) bytes: Vec<u8>,
}

impl Physical {
    /// Memory of at most `limit` bytes.
    pub(crate) fn new(limit: u64) -> Self {
        Self(Rc::new(RefCell::new(Parts {
            frames: Frames::new(limit / PAGE),
            spaces: 0,
            files: BTreeMap::new(),
            file_writes: Vec::new(),
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

    /// A file that a process maps as shared.
    pub(crate) fn file(&self, key: Key) -> Option<Rc<Shared>> {
        self.0.borrow().files.get(&key)?.upgrade()
    }

    /// Whether a process maps any file as shared.
    pub(crate) fn has_files(&self) -> bool {
        !self.0.borrow().files.is_empty()
    }

    /// Whether several processes have memory.
    pub(crate) fn has_several_spaces(&self) -> bool {
        self.0.borrow().spaces > 1
    }

    /// Notes a write to a file, if other processes may show the file in their private pages.
    pub(crate) fn note_file_write(&self, key: Key, offset: u64, bytes: &[u8]) {
        if self.has_several_spaces() {
            let bytes = bytes.to_vec();
            self.borrow_mut()
                .file_writes
                .push(FileWrite { key, offset, bytes });
        }
    }

    /// Takes the noted writes to files.
    pub(crate) fn take_file_writes(&self) -> Vec<FileWrite> {
        std::mem::take(&mut self.borrow_mut().file_writes)
    }

    /// All files that processes map as shared.
    pub(crate) fn files(&self) -> Vec<Rc<Shared>> {
        let parts = self.0.borrow();
        parts.files.values().filter_map(Weak::upgrade).collect()
    }

    pub(super) fn keep_file(&self, key: Key, file: &Rc<Shared>) {
        self.borrow_mut().files.insert(key, Rc::downgrade(file));
    }

    pub(super) fn forget_file(&self, key: Key) {
        self.borrow_mut().files.remove(&key);
    }

    /// Adapts the frames to a file's new length, after all spaces have dropped the pages behind the file's end.
    pub(crate) fn cut(&self, key: Key, length: u64) {
        if let Some(file) = self.file(key) {
            file.cut(length);
        }
    }

    /// Returns the frame for the first touch of a region's page, and whether the page is shared.
    pub(super) fn frame(&self, region: &Region, number: u64) -> Result<(u32, bool), Why> {
        let shared = match &region.content {
            Content::Mapped(part) => self.file(part.key),
            _ => None,
        };
        let parts = &mut *self.borrow_mut();
        match &region.content {
            Content::Mapped(part) => {
                let frame = part.frame(number * PAGE, &mut parts.frames, shared.as_deref())?;
                Ok((frame, part.is_shared()))
            }
            Content::Shared(part) => Ok((part.frame(number, &mut parts.frames)?, true)),
            _ => {
                let frame = parts.frames.take().ok_or(Why::Exhausted)?;
                region.fill(number * PAGE, parts.frames.bytes(frame));
                Ok((frame, false))
            }
        }
    }
}
