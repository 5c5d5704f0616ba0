//! A hart's cache of translations, so that few accesses need the page table.

use super::{Fault, PAGE, Place, Space};

const ENTRIES: usize = 256;

/// A translation. It has the size of half a cache line of the host.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Entry {
    /// The page's number, with the rights to it in the lowest byte. `u64::MAX` in an empty entry.
    tag: u64,
    place: Place,
}

const EMPTY: Entry = Entry {
    tag: u64::MAX,
    place: Place {
        physical: 0,
        host: std::ptr::null_mut(),
    },
};

/// The translations of one hart, in a direct-mapped table.
pub(crate) struct Translations {
    entries: Box<[Entry; ENTRIES]>,
    generation: u64,
}

impl Translations {
    pub(crate) fn new() -> Self {
        Self {
            entries: Box::new([EMPTY; ENTRIES]),
            generation: 0,
        }
    }

    /// Forgets all translations if a page of the space may have lost a right since the last call. A hart calls this
    /// before it continues. This suffices, because only system calls change the space, and no hart executes code during
    /// a system call.
    pub(crate) fn refresh(&mut self, space: &Space) {
        if self.generation != space.generation {
            self.entries.fill(EMPTY);
            self.generation = space.generation;
        }
    }

    /// The place of `address`, for an access that needs the right `wanted`.
    #[inline(always)]
    pub(crate) fn place(
        &mut self,
        space: &mut Space,
        address: u64,
        wanted: u8,
    ) -> Result<Place, Fault> {
        let page = address / PAGE;
        let entry = &self.entries[slot(page)];
        if entry.tag >> 8 == page && entry.tag as u8 & wanted != 0 {
            return Ok(within(entry.place, address));
        }
        self.look_up(space, address, wanted)
    }

    #[cold]
    #[inline(never)]
    fn look_up(&mut self, space: &mut Space, address: u64, wanted: u8) -> Result<Place, Fault> {
        let page = address / PAGE;
        let (place, rights) = space.page(address, wanted)?;
        let tag = page << 8 | u64::from(rights);
        self.entries[slot(page)] = Entry { tag, place };
        Ok(within(place, address))
    }
}

/// The index of the entry for a page. The heaps of glibc's threads are 64 MiB apart. If only the lowest bits of the
/// page number counted, the pages at the same place of all heaps would share one entry.
#[inline(always)]
fn slot(page: u64) -> usize {
    (page ^ page >> 14) as usize % ENTRIES
}

#[inline(always)]
fn within(page: Place, address: u64) -> Place {
    let offset = address % PAGE;
    Place {
        physical: page.physical + offset,
        host: page.host.wrapping_add(offset as usize),
    }
}
