//! The guest's memory: regions of virtual pages, and frames for the pages that were touched.
//!
//! A page gets its frame at its first touch, in the order of simulated time. So the physical addresses, which the
//! chip's caches see, are the same in every run. The guest is not trusted: an address becomes a host pointer only
//! through an entry of the page table.

mod copy;
mod frames;
mod object;
mod physical;
mod regions;
mod shared;
mod translation;

pub(crate) use object::Part;
pub(crate) use physical::{Physical, Written};
pub(crate) use regions::{Content, Region};
#[cfg(test)]
pub(crate) use shared::tests;
pub(crate) use shared::{Key, Mapped, Shared};
pub(crate) use translation::Translations;

use frames::Frames;
use regions::Regions;
use rustc_hash::FxHashMap;

/// The size of a page in bytes.
pub(crate) const PAGE: u64 = 4096;
/// The end of the guest's addresses, which have 38 bits: the user half of Sv39.
pub(crate) const END: u64 = 1 << 38;

/// Rights to a page, with the bits of `mprotect`.
pub(crate) mod right {
    pub(crate) const READ: u8 = 1;
    pub(crate) const WRITE: u8 = 2;
    pub(crate) const EXECUTE: u8 = 4;
}

/// A byte of guest memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The address that the machine's caches see.
    pub(crate) physical: u64,
    /// The byte's address in this process. The pointer is valid up to the end of the page, and as long as the [`Space`]
    /// lives.
    pub(crate) host: *mut u8,
}

/// A failed access of the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) address: u64,
    /// The wanted [`right`].
    pub(crate) wanted: u8,
    pub(crate) why: Why,
}

/// Why an access fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// No page is mapped at the address.
    Unmapped,
    /// The page does not give the right.
    Forbidden,
    /// The page lies behind the end of the file or shared memory that is mapped there.
    BehindFile,
    /// No frame is left for the page.
    Exhausted,
}

#[derive(Clone, Copy)]
struct Page {
    frame: u32,
    rights: u8,
    /// Whether the frame belongs to a file or to shared memory. Such a frame is not given back with the page.
    shared: bool,
    /// Whether the page is private and has only been read. The first write clears this.
    clean: bool,
}

/// The address space of one process.
pub(crate) struct Space {
    physical: Physical,
    pages: FxHashMap<u64, Page>,
    /// The largest number of pages until now.
    most: usize,
    regions: Regions,
    /// Advances when a page may lose a right. Cached translations are then invalid.
    pub(crate) generation: u64,
    /// Advances when code may have changed. Decoded blocks are then invalid.
    pub(crate) code: u64,
}

impl Space {
    /// An empty space in a machine's memory.
    pub(crate) fn new(physical: Physical) -> Self {
        physical.borrow_mut().spaces += 1;
        Self {
            physical,
            pages: FxHashMap::default(),
            most: 0,
            regions: Regions::default(),
            generation: 0,
            code: 0,
        }
    }

    /// The machine's memory, which has the frames of the space.
    pub(crate) fn physical(&self) -> &Physical {
        &self.physical
    }

    /// A copy for another process, with copied frames except those of shared pages. Returns `None` if no frame is left.
    pub(crate) fn fork(&self) -> Option<Self> {
        let mut copy = Self::new(self.physical.clone());
        copy.regions = self.regions.clone();
        let mut numbers: Vec<u64> = self.pages.keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            let mut page = self.pages[&number];
            if !page.shared {
                let frames = &mut self.physical.borrow_mut().frames;
                let frame = frames.take()?;
                frames.copy(page.frame, frame);
                page.frame = frame;
            }
            copy.pages.insert(number, page);
        }
        copy.most = copy.pages.len();
        Some(copy)
    }

    /// Invalidates translations and decoded blocks before a range changes. `executable` says whether the range will be
    /// executable.
    fn changes(&mut self, start: u64, length: u64, executable: bool) {
        self.generation += 1;
        if executable || self.regions.any(start, start + length, right::EXECUTE) {
            self.code += 1;
        }
    }

    /// Makes decoded blocks invalid, as `fence.i` does, since code may have been written. Returns 0, the result of the
    /// system call.
    pub(crate) fn flush_code(&mut self) -> u64 {
        self.code += 1;
        0
    }

    /// The place of the page at `address`, and its rights, for an access that needs the right `wanted`. The first
    /// access gives the page its frame.
    pub(crate) fn page(&mut self, address: u64, wanted: u8) -> Result<(Place, u8), Fault> {
        let number = address / PAGE;
        let fault = |why| Fault {
            address,
            wanted,
            why,
        };
        let mut page = match self.pages.get(&number) {
            Some(page) => *page,
            None => {
                let region = self.regions.find(address).ok_or(fault(Why::Unmapped))?;
                if region.rights & wanted == 0 {
                    return Err(fault(Why::Forbidden));
                }
                let (frame, is_shared) = self.physical.frame(region, number).map_err(fault)?;
                let page = Page {
                    frame,
                    rights: region.rights,
                    shared: is_shared,
                    clean: !is_shared,
                };
                self.pages.insert(number, page);
                self.most = self.most.max(self.pages.len());
                page
            }
        };
        if page.rights & wanted == 0 {
            return Err(fault(Why::Forbidden));
        }
        if page.clean && wanted == right::WRITE {
            page.clean = false;
            self.pages.insert(number, page);
            self.regions.note_write(address);
        }
        // A cached translation of a clean page does not allow writes, so the first write comes here.
        let rights = match page.clean {
            true => page.rights & !right::WRITE,
            false => page.rights,
        };
        Ok((self.physical.place(page.frame), rights))
    }

    /// Unmaps what is mapped at `start`, and maps `region` there.
    pub(crate) fn map(&mut self, start: u64, region: Region) {
        self.unmap(start, region.end - start);
        self.changes(
            start,
            region.end - start,
            region.rights & right::EXECUTE != 0,
        );
        self.regions.insert(start, region);
    }

    pub(crate) fn unmap(&mut self, start: u64, length: u64) {
        self.changes(start, length, false);
        let pages = self.pages_within(start, length);
        for number in pages {
            self.drop_page(number);
        }
        self.regions.remove(start, start + length);
    }

    /// Changes the rights of a range, up to the first page that is not mapped. Returns whether the whole range is
    /// mapped.
    pub(crate) fn protect(&mut self, start: u64, length: u64, rights: u8) -> bool {
        let mapped = self.regions.first_hole(start, start + length) - start;
        if mapped > 0 {
            self.changes(start, mapped, rights & right::EXECUTE != 0);
            self.regions.protect(start, start + mapped, rights);
            for number in self.pages_within(start, mapped) {
                if let Some(page) = self.pages.get_mut(&number) {
                    page.rights = rights;
                }
            }
        }
        mapped == length
    }

    /// Drops the pages of a range with their contents, as `MADV_DONTNEED` does.
    pub(crate) fn forget(&mut self, start: u64, length: u64) {
        self.changes(start, length, false);
        for number in self.pages_within(start, length) {
            self.drop_page(number);
        }
    }

    fn drop_page(&mut self, number: u64) {
        match self.pages.remove(&number) {
            Some(page) if !page.shared => self.physical.give_back(page.frame),
            _ => {}
        }
    }

    /// Moves the used pages of a range to another range with the same length and mapping.
    pub(crate) fn remap(&mut self, from: u64, length: u64, to: u64) {
        self.changes(from, length, false);
        for number in self.pages_within(from, length) {
            if let Some(page) = self.pages.remove(&number) {
                self.pages.insert(number - from / PAGE + to / PAGE, page);
            }
        }
    }

    /// The numbers of the used pages of a range, in order.
    fn pages_within(&self, start: u64, length: u64) -> Vec<u64> {
        let range = start / PAGE..(start + length).div_ceil(PAGE);
        if range.end - range.start <= self.pages.len() as u64 {
            return range
                .filter(|number| self.pages.contains_key(number))
                .collect();
        }
        let mut found: Vec<u64> = self
            .pages
            .keys()
            .copied()
            .filter(|number| range.contains(number))
            .collect();
        found.sort_unstable();
        found
    }

    /// Whether nothing is mapped in a range.
    pub(crate) fn is_free(&self, start: u64, length: u64) -> bool {
        self.regions.is_free(start, start + length)
    }

    pub(crate) fn is_mapped(&self, start: u64, length: u64) -> bool {
        self.regions.covers(start, start + length)
    }

    /// The number of bytes from `address` on that the program may write, at most `length`.
    pub(crate) fn writable(&self, address: u64, length: u64) -> u64 {
        let end = address.saturating_add(length);
        let mut at = address;
        while let Some(region) = self.regions.find(at).filter(|_| at < end) {
            if region.rights & right::WRITE == 0 {
                break;
            }
            at = region.end;
        }
        at.min(end) - address
    }

    /// The region that contains an address, and the region's start.
    pub(crate) fn region(&self, address: u64) -> Option<(u64, &Region)> {
        self.regions.around(address)
    }

    /// All regions with their starts, in the order of addresses.
    pub(crate) fn regions(&self) -> impl Iterator<Item = (u64, &Region)> {
        self.regions.iter()
    }

    /// The highest free range of `length` bytes below `below`.
    pub(crate) fn free_below(&self, below: u64, length: u64) -> Option<u64> {
        self.regions.free_below(below, length)
    }

    /// A virtual address of this physical address, if a page uses it.
    pub(crate) fn virtual_of(&self, physical: u64) -> Option<u64> {
        let frame = Frames::frame_of(physical)?;
        let mut found = self.pages.iter().filter(|(_, page)| page.frame == frame);
        found
            .next()
            .map(|(number, _)| number * PAGE + physical % PAGE)
    }

    /// The largest number of bytes in use until now.
    pub(crate) fn most_resident(&self) -> u64 {
        self.most as u64 * PAGE
    }

    /// The number of bytes in use.
    pub(crate) fn resident(&self) -> u64 {
        self.pages.len() as u64 * PAGE
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        let mut numbers: Vec<u64> = self.pages.keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            self.drop_page(number);
        }
        self.physical.borrow_mut().spaces -= 1;
    }
}
