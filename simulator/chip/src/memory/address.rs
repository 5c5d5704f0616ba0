//! Maps host addresses to simulated addresses.

use rustc_hash::FxHashMap;

/// The most bytes of a simulated memory, a power of two. Each memory is aligned to this size, so the low bits of
/// pointers to it are the same in every run.
pub(crate) const CAPACITY: usize = 1 << 34;

/// The simulated address of the first byte of the machine's own memory. Other memory has lower simulated addresses.
pub(crate) const FIRST_ADDRESS: u64 = 1 << 28;
/// The least unit of numbering for other memory.
const LINE: usize = 64;

/// A map from host addresses to simulated addresses.
///
/// Addresses in the machine's own memory keep their offset. All other memory (statics, and blocks
/// allocated before the run) is numbered by lines of the machine, or of 64 bytes if these are longer,
/// in the order of first touch. Offsets in a line stay the same.
pub(crate) struct AddressMap {
    base: usize,
    /// The unit of numbering. A power of two.
    unit: usize,
    elsewhere: FxHashMap<usize, u64>,
    functions: FxHashMap<usize, usize>,
}

impl AddressMap {
    /// The map of a machine with lines of `line` bytes whose memory begins at `base` in the host.
    pub(crate) fn new(base: usize, line: u32) -> Self {
        Self {
            base,
            unit: LINE.max(line as usize),
            elsewhere: FxHashMap::default(),
            functions: FxHashMap::default(),
        }
    }

    /// The map of a front end that uses simulated addresses, from [`FIRST_ADDRESS`] on.
    pub(crate) fn identity() -> Self {
        Self::new(FIRST_ADDRESS as usize, 0)
    }

    #[inline]
    pub(crate) fn simulated(&mut self, host: usize) -> u64 {
        let offset = host.wrapping_sub(self.base);
        if offset < CAPACITY {
            FIRST_ADDRESS + offset as u64
        } else {
            self.elsewhere(host)
        }
    }

    /// Numbers functions, given by their host addresses, in the order of first use.
    pub(crate) fn code_number(&mut self, host: usize) -> usize {
        let next = self.functions.len();
        *self.functions.entry(host).or_insert(next)
    }

    #[cold]
    fn elsewhere(&mut self, host: usize) -> u64 {
        // Numbers begin at one, because address zero stays unused.
        let next = self.elsewhere.len() as u64 + 1;
        let line = *self.elsewhere.entry(host / self.unit).or_insert(next);
        let address = line * self.unit as u64 + (host % self.unit) as u64;
        assert!(
            address < FIRST_ADDRESS,
            "a simulated program touches more than {FIRST_ADDRESS} bytes that were allocated before it \
             started; allocate them inside the simulation"
        );
        address
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_memory_keeps_offsets_and_the_rest_is_numbered_by_first_touch() {
        let base = 1 << 40;
        let mut map = AddressMap::new(base, 64);
        let outside = base - 4096;
        assert_eq!(map.simulated(base), FIRST_ADDRESS);
        assert_eq!(
            map.simulated(base + CAPACITY - 1),
            FIRST_ADDRESS + CAPACITY as u64 - 1
        );
        assert_eq!(map.simulated(outside + 70), 64 + 6);
        assert_eq!(map.simulated(outside), 128);
        assert_eq!(map.simulated(outside + 127), 64 + 63);
        assert_eq!(map.simulated(base + CAPACITY + 64), 192);
    }

    #[test]
    fn functions_are_numbered_by_first_use_wherever_they_are() {
        for functions in [[7000, 16, 7001], [3, 1 << 40, 1 << 20]] {
            let mut map = AddressMap::new(1 << 40, 64);
            let numbers = functions.map(|function| map.code_number(function));
            assert_eq!(numbers, [0, 1, 2]);
            assert_eq!(functions.map(|function| map.code_number(function)), numbers);
        }
    }

    #[test]
    fn a_long_line_outside_of_the_memory_keeps_its_bytes() {
        for line in [128, 256, 4096] {
            let mut map = AddressMap::new(1 << 40, line as u32);
            for first in [line, 5 * line, 3 * line] {
                let start = map.simulated(first);
                assert_eq!(start % line as u64, 0);
                for offset in [1, 64, line - 1] {
                    assert_eq!(map.simulated(first + offset), start + offset as u64);
                }
            }
        }
    }
}
