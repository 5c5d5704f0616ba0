//! A hart's memory of translations, so that an access seldom looks at the page table.

use super::{Fault, PAGE, Place, Space};

const ENTRIES: usize = 256;

#[derive(Clone, Copy)]
struct Entry {
    /// The page's number and what it may be used for; `u64::MAX` for none.
    page: u64,
    rights: u8,
    place: Place,
}

const EMPTY: Entry = Entry {
    page: u64::MAX,
    rights: 0,
    place: Place {
        physical: 0,
        host: std::ptr::null_mut(),
    },
};

/// Translations of one hart, direct-mapped by page number.
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
    /// system calls change the space, and no hart is in the midst of code then.
    pub(crate) fn refresh(&mut self, space: &Space) {
        if self.generation != space.generation {
            self.entries.fill(EMPTY);
            self.generation = space.generation;
        }
    }

    /// The place of `address`, whose page must give the right `wanted`.
    #[inline(always)]
    pub(crate) fn place(
        &mut self,
        space: &mut Space,
        address: u64,
        wanted: u8,
    ) -> Result<Place, Fault> {
        let page = address / PAGE;
        let entry = &self.entries[page as usize % ENTRIES];
        if entry.page == page && entry.rights & wanted != 0 {
            return Ok(within(entry.place, address));
        }
        self.look_up(space, address, wanted)
    }

    #[cold]
    #[inline(never)]
    fn look_up(&mut self, space: &mut Space, address: u64, wanted: u8) -> Result<Place, Fault> {
        let page = address / PAGE;
        let (place, rights) = space.page(address, wanted)?;
        self.entries[page as usize % ENTRIES] = Entry {
            page,
            rights,
            place,
        };
        Ok(within(place, address))
    }
}

#[inline(always)]
fn within(page: Place, address: u64) -> Place {
    let offset = address % PAGE;
    Place {
        physical: page.physical + offset,
        host: page.host.wrapping_add(offset as usize),
    }
}
