//! A hart's memory of translations, so that an access seldom looks at the page table.

use super::{Fault, PAGE, Place, Space};

const ENTRIES: usize = 256;

/// Half a line of the host's cache.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Entry {
    /// The page's number, and the rights to it in the last byte; `u64::MAX` for none.
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

/// Translations of one hart, direct-mapped by bits of the page number.
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

    /// Forgets all if the space has taken rights away since. Called before a hart goes on: only
    /// system calls change the space, and no hart executes code then.
    pub(crate) fn refresh(&mut self, space: &Space) {
        if self.generation != space.generation {
            self.entries.fill(EMPTY);
            self.generation = space.generation;
        }
    }

    /// The place of `address`. Its page must give the right `wanted`.
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

/// The entry for a page. Heaps of glibc's threads are 64 MiB apart, so that their pages would
/// all have one entry by their last bits alone.
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
