//! From host addresses to those the simulated machine sees.

use rustc_hash::FxHashMap;

use super::{Arena, CAPACITY};

/// The simulated address of an arena's first byte. All that lies outside the
/// arena is numbered below it.
pub(crate) const ARENA: u64 = 1 << 28;
/// The unit in which memory outside the arena is numbered.
const LINE: usize = 64;

/// Host addresses to simulated ones.
///
/// Memory of the arena keeps its offset. All other memory, statics and what was
/// allocated before the run, is numbered by its line of 64 bytes, in the order
/// of first touch, and keeps its place within the line.
pub(crate) struct AddressMap {
    base: usize,
    /// Host lines to their numbers; only looked up.
    elsewhere: FxHashMap<usize, u64>,
}

impl AddressMap {
    pub(crate) fn new(arena: &Arena) -> Self {
        Self {
            base: arena.base(),
            elsewhere: FxHashMap::default(),
        }
    }

    /// The map of a machine whose front end has simulated addresses already, from [`ARENA`] on.
    pub(crate) fn identity() -> Self {
        Self {
            base: ARENA as usize,
            elsewhere: FxHashMap::default(),
        }
    }

    /// The simulated address of the byte at `host`.
    #[inline]
    pub(crate) fn simulated(&mut self, host: usize) -> u64 {
        let offset = host.wrapping_sub(self.base);
        if offset < CAPACITY {
            ARENA + offset as u64
        } else {
            self.elsewhere(host)
        }
    }

    #[cold]
    fn elsewhere(&mut self, host: usize) -> u64 {
        // From one: a machine has nothing at address zero.
        let next = self.elsewhere.len() as u64 + 1;
        let line = *self.elsewhere.entry(host / LINE).or_insert(next);
        let address = line * LINE as u64 + (host % LINE) as u64;
        assert!(
            address < ARENA,
            "a simulated program touches more than {ARENA} bytes that were allocated before it \
             started; allocate them inside the simulation"
        );
        address
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arena_keeps_offsets_and_the_rest_is_numbered_by_first_touch() {
        let arena = Arena::new(0).unwrap();
        let mut map = AddressMap::new(&arena);
        let outside = arena.base() - 4096;
        assert_eq!(map.simulated(arena.base()), ARENA);
        assert_eq!(
            map.simulated(arena.base() + CAPACITY - 1),
            ARENA + CAPACITY as u64 - 1
        );
        assert_eq!(map.simulated(outside + 70), 64 + 6);
        assert_eq!(map.simulated(outside), 128);
        assert_eq!(map.simulated(outside + 127), 64 + 63);
        assert_eq!(map.simulated(arena.base() + CAPACITY + 64), 192);
    }
}
