//! Tables that frogs share: the stones, and the places that frogs have found.

use manycore_platform::{Atomic, Ordering::Relaxed, Platform};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Instructions to insert a stone into its table, and to look for a stone.
const PUT: u64 = 105;
const LOOK: u64 = 100;
/// Instructions to mark a place.
const MARK: u64 = 120;

/// Slots for `entries` entries. At least half are empty, so probes are short.
fn slots(entries: usize) -> usize {
    (2 * entries).next_power_of_two()
}

/// The first slot of a key in a table of `slots` slots. It uses the hash of the standard library's maps,
/// which costs more than the probe.
fn home(key: u64, slots: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish() as usize & (slots - 1)
}

/// The positions of the stones. The table is only read, once it is made.
pub(super) struct Stones {
    /// 0 for an empty slot, or else the stone's position plus one.
    slots: Vec<u32>,
}

impl Stones {
    pub(super) fn new<P: Platform>(stones: &[u32]) -> Self {
        let mut table = vec![0; slots(stones.len())];
        for &stone in stones {
            let slot = Self::probe(&table, stone);
            table[slot] = stone + 1;
        }
        P::compute(PUT * stones.len() as u64);
        P::write(&mut table);
        Self { slots: table }
    }

    pub(super) fn has<P: Platform>(&self, stone: u32) -> bool {
        let slot = Self::probe(&self.slots, stone);
        P::compute(LOOK);
        P::read(&self.slots[slot..=slot]);
        self.slots[slot] != 0
    }

    /// The stone's slot, or the empty slot where it would be.
    fn probe(table: &[u32], stone: u32) -> usize {
        let mut slot = home(stone.into(), table.len());
        while table[slot] != 0 && table[slot] != stone + 1 {
            slot = (slot + 1) % table.len();
        }
        slot
    }
}

/// The places that any frog has found: a set that threads share.
pub(super) struct Seen<P: Platform> {
    /// 0 for an empty slot, or else the place plus one.
    slots: Vec<P::AtomicU64>,
}

impl<P: Platform> Seen<P> {
    pub(super) fn new(places: usize) -> Self {
        let slots = (0..slots(places)).map(|_| P::AtomicU64::new(0));
        Self {
            slots: slots.collect(),
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        let marked = |slot: &&P::AtomicU64| slot.load(Relaxed) != 0;
        self.slots.iter().filter(marked).count()
    }

    /// Marks a place. Returns whether it was unmarked before.
    pub(super) fn insert(&self, place: u64) -> bool {
        P::compute(MARK);
        let mut slot = home(place, self.slots.len());
        loop {
            // Relaxed: a mark publishes nothing but its place.
            let found = match self.slots[slot].load(Relaxed) {
                0 => {
                    let free = &self.slots[slot];
                    match free.compare_exchange(0, place + 1, Relaxed, Relaxed) {
                        Ok(_) => return true,
                        Err(other) => other,
                    }
                }
                found => found,
            };
            if found == place + 1 {
                return false;
            }
            slot = (slot + 1) % self.slots.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_platform::Native;

    #[test]
    fn stones_are_found_and_water_is_not() {
        let stones: Vec<u32> = (0..100).map(|i| i * i).collect();
        let table = Stones::new::<Native>(&stones);
        for place in 0..10_000 {
            let expected = stones.contains(&place);
            assert_eq!(table.has::<Native>(place), expected, "{place}");
        }
    }

    #[test]
    fn a_place_is_new_to_one_thread_only() {
        let seen = Seen::<Native>::new(1000);
        let new = || (0..1000).filter(|&place| seen.insert(place)).count();
        let counts = std::thread::scope(|scope| {
            let threads = [scope.spawn(new), scope.spawn(new)];
            threads.map(|thread| thread.join().unwrap())
        });
        assert_eq!(counts[0] + counts[1], 1000);
    }
}
