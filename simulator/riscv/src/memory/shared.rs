//! Mapped files. A page of a file that is mapped as shared has one frame for all its mappings.

use super::{Content, PAGE, Space};
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::rc::Rc;

/// Identifies a file by its device and by its inode number on the device.
pub(crate) type Key = (u64, u64);

/// A mapped part of a file. The file's byte `offset` belongs at address `at`.
#[derive(Clone)]
pub(crate) struct Mapped {
    /// Whether writes to the memory are writes to the file.
    pub(crate) is_shared: bool,
    pub(crate) file: Rc<File>,
    pub(crate) key: Key,
    pub(crate) offset: u64,
    pub(crate) at: u64,
}

impl Mapped {
    /// The file, and the number of the file's page that is mapped at an address.
    pub(super) fn page_at(&self, address: u64) -> (Key, u64) {
        let from = address.wrapping_sub(self.at).wrapping_add(self.offset);
        (self.key, from / PAGE)
    }

    /// Whether both map the same file, and map the same byte of the file at each address.
    pub(super) fn goes_on(&self, next: &Self) -> bool {
        let first = |part: &Self| part.offset.wrapping_sub(part.at);
        let is_alike = self.is_shared == next.is_shared && self.key == next.key;
        is_alike && first(self) == first(next)
    }

    /// Whether the page at an address lies behind the file's last page.
    pub(super) fn is_behind(&self, address: u64) -> bool {
        let (_, number) = self.page_at(address);
        let size = self.file.metadata().map_or(0, |data| data.size());
        number >= size.div_ceil(PAGE)
    }

    /// Fills a zeroed page with the file's content. Bytes that cannot be read stay zero.
    pub(super) fn fill(&self, address: u64, page: &mut [u8]) {
        let (_, number) = self.page_at(address);
        let mut done = 0;
        while let Ok(count @ 1..) = self
            .file
            .read_at(&mut page[done..], number * PAGE + done as u64)
        {
            done += count;
        }
    }
}

impl Space {
    /// The frames of a file's shared pages, with the pages' numbers.
    fn frames_of(&self, key: Key) -> Vec<(u64, u32)> {
        let parts = self.physical.borrow_mut();
        let found = parts.files.range((key, 0)..=(key, u64::MAX));
        found.map(|(&(_, page), &frame)| (page, frame)).collect()
    }

    /// Calls `tell` for each of a file's shared pages, with its offset in the file and its content.
    pub(crate) fn each_shared(&mut self, key: Key, mut tell: impl FnMut(u64, &[u8])) {
        for (page, frame) in self.frames_of(key) {
            tell(page * PAGE, self.physical.borrow_mut().frames.bytes(frame));
        }
    }

    /// Drops the pages behind the end of a file that has a new length.
    pub(crate) fn cut(&mut self, key: Key, length: u64) {
        let mapped = self.regions.iter().filter_map(|(start, region)| {
            let Content::Mapped(part) = &region.content else {
                return None;
            };
            (part.key == key).then(|| (start, region.end, part.clone()))
        });
        let mapped: Vec<_> = mapped.collect();
        for (start, end, part) in mapped {
            let mut pages = self.pages_within(start, end - start);
            pages.retain(|number| part.page_at(number * PAGE).1 >= length.div_ceil(PAGE));
            if !pages.is_empty() {
                self.changes(start, end - start, false);
            }
            for number in pages {
                self.drop_page(number);
            }
        }
    }

    /// Writes the bytes that were written to a file to the file's shared pages too.
    pub(crate) fn write_shared(&mut self, key: Key, offset: u64, bytes: &[u8]) {
        let end = offset + bytes.len() as u64;
        for (page, frame) in self.frames_of(key) {
            let start = page * PAGE;
            let (from, to) = (start.max(offset), (start + PAGE).min(end));
            if from < to {
                let source = &bytes[(from - offset) as usize..(to - offset) as usize];
                let target = (from - start) as usize..(to - start) as usize;
                self.physical.borrow_mut().frames.bytes(frame)[target].copy_from_slice(source);
            }
        }
    }
}
