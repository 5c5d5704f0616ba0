//! Mapped files. A page of a file that is mapped as shared has one frame for all mappings of all processes.

use super::{Content, PAGE, Physical, Space, Why};
use crate::memory::frames::Frames;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::rc::Rc;

/// Identifies a file by its device and by its inode number on the device.
pub(crate) type Key = (u64, u64);

/// A file that is mapped as shared, with the frames of its pages. When no process maps the file as shared any more, the
/// pages are written to the file and the frames are given back.
pub(crate) struct Shared {
    physical: Physical,
    key: Key,
    /// The file, if a mapping may be written.
    writer: RefCell<Option<Rc<File>>>,
    frames: RefCell<BTreeMap<u64, u32>>,
}

impl Shared {
    /// The file's frame of a page, if the page has one.
    pub(super) fn known(&self, page: u64) -> Option<u32> {
        self.frames.borrow().get(&page).copied()
    }

    /// Writes the program's stores to the pages of `length` bytes at `at` into the file, which is not made longer. Errors
    /// are not reported, as under Linux.
    pub(crate) fn write_back(&self, at: u64, length: u64) {
        let writer = self.writer.borrow();
        let Some(file) = &*writer else {
            return;
        };
        let pages = at / PAGE..at.saturating_add(length).div_ceil(PAGE);
        let frames = self.frames.borrow();
        let mut frames = frames.range(pages).peekable();
        if frames.peek().is_none() {
            return;
        }
        let length = file.metadata().map_or(0, |data| data.len());
        for (&page, &frame) in frames {
            let count = length.saturating_sub(page * PAGE).min(PAGE);
            let mut parts = self.physical.borrow_mut();
            let bytes = &parts.frames.bytes(frame)[..count as usize];
            let _ = file.write_all_at(bytes, page * PAGE);
            #[cfg(test)]
            tests::WRITTEN.set(tests::WRITTEN.get() + 1);
        }
    }

    /// Updates the pages after a write of `bytes` to the file at `offset`.
    pub(crate) fn was_written(&self, offset: u64, bytes: &[u8]) {
        let end = offset + bytes.len() as u64;
        for (&page, &frame) in self
            .frames
            .borrow()
            .range(offset / PAGE..end.div_ceil(PAGE))
        {
            let start = page * PAGE;
            let (from, to) = (start.max(offset), (start + PAGE).min(end));
            let source = &bytes[(from - offset) as usize..(to - offset) as usize];
            let target = (from - start) as usize..(to - start) as usize;
            let at = self.physical.place(frame).physical;
            let written = at + target.start as u64..at + target.end as u64;
            self.physical.borrow_mut().frames.bytes(frame)[target].copy_from_slice(source);
            self.physical.wrote(written);
        }
    }

    /// Adapts the frames to the file's new length. Frees the frames of the pages behind the end, which no space uses any
    /// more, and zeroes the rest of the last page.
    pub(super) fn cut(&self, length: u64) {
        let mut frames = self.frames.borrow_mut();
        for frame in frames.split_off(&length.div_ceil(PAGE)).into_values() {
            self.physical.give_back(frame);
        }
        if let Some(&frame) = frames.get(&(length / PAGE)) {
            let mut parts = self.physical.borrow_mut();
            parts.frames.bytes(frame)[(length % PAGE) as usize..].fill(0);
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.write_back(0, u64::MAX);
        self.physical.forget_file(self.key);
        for &frame in self.frames.get_mut().values() {
            self.physical.give_back(frame);
        }
    }
}

/// A mapped part of a file. The file's byte `offset` belongs at address `at`.
#[derive(Clone)]
pub(crate) struct Mapped {
    /// The file's shared pages, if writes to the memory are writes to the file.
    pub(super) shared: Option<Rc<Shared>>,
    file: Rc<File>,
    pub(super) key: Key,
    offset: u64,
    at: u64,
}

impl Mapped {
    /// A mapping of a file at `at` that is private.
    pub(crate) fn private(file: Rc<File>, key: Key, [at, offset]: [u64; 2]) -> Self {
        Self {
            shared: None,
            file,
            key,
            offset,
            at,
        }
    }

    /// A mapping of a file at `at` that is shared. `writes` says whether the program may write to the file.
    pub(crate) fn shared(
        physical: &Physical,
        file: Rc<File>,
        key: Key,
        place: [u64; 2],
        writes: bool,
    ) -> Self {
        let shared = physical.file(key).unwrap_or_else(|| {
            let new = Rc::new(Shared {
                physical: physical.clone(),
                key,
                writer: RefCell::default(),
                frames: RefCell::default(),
            });
            physical.keep_file(key, &new);
            new
        });
        if writes {
            let mut writer = shared.writer.borrow_mut();
            writer.get_or_insert_with(|| Rc::clone(&file));
        }
        Self {
            shared: Some(shared),
            ..Self::private(file, key, place)
        }
    }

    pub(super) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// The same mapping, moved by `by` bytes.
    pub(super) fn moved(self, by: u64) -> Self {
        Self {
            at: self.at.wrapping_add(by),
            ..self
        }
    }

    /// The number of the file's page that is mapped at an address.
    fn page_at(&self, address: u64) -> u64 {
        address.wrapping_sub(self.at).wrapping_add(self.offset) / PAGE
    }

    /// Whether both map the same file, and map the same byte of the file at each address.
    pub(super) fn goes_on(&self, next: &Self) -> bool {
        let first = |part: &Self| part.offset.wrapping_sub(part.at);
        let is_alike = self.is_shared() == next.is_shared() && self.key == next.key;
        is_alike && first(self) == first(next)
    }

    /// Whether a page lies behind the file's last page.
    fn is_behind(&self, page: u64) -> bool {
        let size = self.file.metadata().map_or(0, |data| data.size());
        page >= size.div_ceil(PAGE)
    }

    /// The frame for the first touch of the page at an address. `shared` has the file's shared pages, if there are any.
    pub(super) fn frame(
        &self,
        address: u64,
        frames: &mut Frames,
        shared: Option<&Shared>,
    ) -> Result<u32, Why> {
        let page = self.page_at(address);
        if self.is_behind(page) {
            return Err(Why::BehindFile);
        }
        let known = shared.and_then(|shared| shared.known(page));
        if let Some(frame) = known.filter(|_| self.is_shared()) {
            return Ok(frame);
        }
        let frame = frames.take().ok_or(Why::Exhausted)?;
        match known {
            Some(known) => frames.copy(known, frame),
            None => self.fill(page, frames.bytes(frame)),
        }
        if let Some(shared) = &self.shared {
            shared.frames.borrow_mut().insert(page, frame);
        }
        Ok(frame)
    }

    /// Fills a zeroed page with the file's content. Bytes that cannot be read stay zero.
    fn fill(&self, number: u64, page: &mut [u8]) {
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
    /// The mappings of a file: start, end and part.
    fn mappings_of(&self, key: Key) -> Vec<(u64, u64, Mapped)> {
        let mapped = self.regions.iter().filter_map(|(start, region)| {
            let Content::Mapped(part) = &region.content else {
                return None;
            };
            (part.key == key).then(|| (start, region.end, part.clone()))
        });
        mapped.collect()
    }

    /// Whether a file may be mapped as private.
    pub(crate) fn has_private_files(&self) -> bool {
        let mut regions = self.regions.iter();
        regions.any(
            |(_, region)| matches!(&region.content, Content::Mapped(part) if !part.is_shared()),
        )
    }

    /// Shows a write of `bytes` to a file at `offset` in the private pages that were only read.
    pub(crate) fn show_write(&mut self, key: Key, offset: u64, bytes: &[u8]) {
        let end = offset + bytes.len() as u64;
        for (start, above, part) in self.mappings_of(key) {
            for number in self.pages_within(start, above - start) {
                let first = part.page_at(number * PAGE) * PAGE;
                let (from, to) = (first.max(offset), (first + PAGE).min(end));
                let Some(page) = self.pages.get(&number).filter(|page| page.clean) else {
                    continue;
                };
                if from < to {
                    let source = &bytes[(from - offset) as usize..(to - offset) as usize];
                    let target = (from - first) as usize..(to - first) as usize;
                    let at = self.physical.place(page.frame).physical;
                    let written = at + target.start as u64..at + target.end as u64;
                    self.physical.borrow_mut().frames.bytes(page.frame)[target]
                        .copy_from_slice(source);
                    self.physical.wrote(written);
                }
            }
        }
    }

    /// Drops the pages behind the end of a file that has a new length. The rest of the last page is zero, unless the
    /// page is private and was written.
    pub(crate) fn cut(&mut self, key: Key, length: u64) {
        for (start, end, part) in self.mappings_of(key) {
            let mut pages = self.pages_within(start, end - start);
            for number in &pages {
                let page = self.pages.get(number).filter(|page| page.clean);
                if let Some(page) = page.filter(|_| part.page_at(number * PAGE) == length / PAGE) {
                    let mut parts = self.physical.borrow_mut();
                    parts.frames.bytes(page.frame)[(length % PAGE) as usize..].fill(0);
                }
            }
            pages.retain(|number| part.page_at(number * PAGE) >= length.div_ceil(PAGE));
            if !pages.is_empty() {
                self.changes(start, end - start, false);
            }
            for number in pages {
                self.drop_page(number);
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    thread_local! {
        /// The number of pages that were written into files.
        pub(crate) static WRITTEN: Cell<u64> = const { Cell::new(0) };
    }
}
