//! The places of the elements. Several pairs of elements can exchange places at the same time.

use manycore_platform::{Atomic, Ordering::Relaxed, Platform};

/// The number of bits of `x`. `y` has one bit less.
const X_BITS: u32 = 16;
/// The greatest numbers of columns and rows.
pub(super) const MOST_X: u32 = 1 << X_BITS;
pub(super) const MOST_Y: u32 = 1 << (X_BITS - 1);
/// The bit of a taken element: a rank (thread of the team) is about to give the element another place.
const TAKEN: u32 = 1 << 31;

/// A place on the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) x: u32,
    pub(super) y: u32,
}

impl Place {
    fn word(self) -> u32 {
        self.y << X_BITS | self.x
    }

    #[inline]
    fn of(word: u32) -> Self {
        let word = word & !TAKEN;
        Self {
            x: word & (MOST_X - 1),
            y: word >> X_BITS,
        }
    }

    /// The length of a wire, which runs along columns and rows.
    #[inline]
    pub(super) fn distance(self, to: Self) -> u64 {
        u64::from(self.x.abs_diff(to.x) + self.y.abs_diff(to.y))
    }
}

/// The place of each element.
///
/// # The protocol
///
/// A swap *takes* its first element: a compare-and-swap sets a bit of the element's word. If the second element is not
/// taken, another compare-and-swap writes the first element's place into the second element's word. A store then gives
/// the first element the former place of the second, and clears the bit. While an element is taken no other rank writes
/// its word, since every other write is a compare-and-swap that expects the bit to be clear. So between the two writes
/// one place is in both words and one place is in no word. The store cannot fail, and puts the missing place back. When
/// no swap is under way, the places are a permutation of the initial ones.
///
/// A swap that finds either element taken gives up, and restores the word of the first element. So no rank waits for
/// another. A reader of a taken element sees the former place of the element. (In PARSEC's program, places are
/// pointers. A swap takes the pointer out, and readers and writers spin until it is back.)
///
/// # Orderings
///
/// All accesses are relaxed. A place is the word itself and stands for no other memory, so a swap publishes nothing.
/// With any ordering, a read-modify-write sees the last value of its word, and a rank's store to a word comes after the
/// rank's own compare-and-swap of that word. A barrier comes before and after a phase.
pub(super) struct Locations<P: Platform>(Box<[P::AtomicU32]>);

impl<P: Platform> Locations<P> {
    pub(super) fn new(places: impl Iterator<Item = Place>) -> Self {
        let words: Box<[_]> = places.map(|place| Atomic::new(place.word())).collect();
        P::name(&*words, "canneal locations");
        Self(words)
    }

    /// The place of the element. By the time of the return another rank may have changed it.
    #[inline]
    pub(super) fn of(&self, element: usize) -> Place {
        Place::of(self.0[element].load(Relaxed))
    }

    /// Exchanges the places of two different elements. If another rank is moving either element,
    /// exchanges nothing and returns `false`.
    pub(super) fn swap(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.0[a], &self.0[b]);
        let from = a.load(Relaxed);
        if from & TAKEN != 0
            || a.compare_exchange(from, from | TAKEN, Relaxed, Relaxed)
                .is_err()
        {
            return false;
        }
        let mut to = b.load(Relaxed);
        // The compare-and-swap fails only if another rank has just moved the element.
        while to & TAKEN == 0 {
            match b.compare_exchange(to, from, Relaxed, Relaxed) {
                Ok(_) => {
                    a.store(to, Relaxed);
                    return true;
                }
                Err(now) => to = now,
            }
        }
        a.store(from, Relaxed);
        false
    }

    /// The places of all elements, with `None` for a taken element.
    pub(super) fn all(&self) -> impl Iterator<Item = Option<Place>> {
        let words = self.0.iter().map(|word| word.load(Relaxed));
        words.map(|word| (word & TAKEN == 0).then(|| Place::of(word)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_check::{Faulty, Loom, Shuttle, TornCas, caught, loom_model, shuttle_random};
    use manycore_check::{shuttle_pct, team};

    fn place(x: u32) -> Place {
        Place { x, y: 7 }
    }

    /// Each thread swaps its pairs of elements. `swap` is the protocol, or a wrong variant.
    fn nothing_is_lost<P: Platform>(
        elements: u32,
        pairs: &[&[(usize, usize)]],
        swap: impl Fn(&Locations<P>, usize, usize) -> bool + Sync,
    ) {
        let locations = Locations::<P>::new((0..elements).map(place));
        let done: Vec<_> = (pairs.iter()).map(|_| P::AtomicU32::new(0)).collect();
        team::<P>(pairs.len(), |rank| {
            for &(a, b) in pairs[rank] {
                if swap(&locations, a, b) {
                    let before = done[rank].load(Relaxed);
                    done[rank].store(before + 1, Relaxed);
                }
            }
        });
        let mut places: Vec<_> = locations.all().collect();
        places.sort();
        assert!(
            places.into_iter().eq((0..elements).map(|x| Some(place(x)))),
            "a place is lost"
        );
        let done: u32 = done.iter().map(|done| done.load(Relaxed)).sum();
        assert!(pairs.len() > 1 || done == pairs[0].len() as u32);
    }

    #[test]
    fn alone_every_swap_is_done() {
        let pairs: &[_] = &[(0, 1), (1, 2), (2, 0)];
        nothing_is_lost::<manycore_platform::Native>(3, &[pairs], Locations::swap);
    }

    #[test]
    fn overlapping_pairs_in_every_interleaving() {
        let of = |pairs: &'static [&'static [(usize, usize)]]| {
            move || nothing_is_lost::<Loom>(3, pairs, Locations::swap)
        };
        loom_model(None, of(&[&[(0, 1)], &[(1, 2)]]));
        loom_model(None, of(&[&[(0, 1)], &[(1, 0)]]));
        loom_model(None, of(&[&[(0, 1)], &[(0, 1)]]));
        loom_model(None, of(&[&[(1, 0)], &[(1, 2)]]));
        loom_model(Some(3), of(&[&[(0, 1), (1, 2)], &[(2, 1), (0, 2)]]));
        loom_model(Some(2), of(&[&[(0, 1)], &[(1, 2)], &[(2, 0)]]));
    }

    #[test]
    fn many_pairs_in_random_schedules() {
        const PAIRS: &[&[(usize, usize)]] = &[
            &[(0, 1), (1, 2), (2, 3), (3, 4)],
            &[(4, 0), (0, 2), (2, 1), (1, 3)],
            &[(3, 1), (1, 0), (0, 4), (4, 2)],
        ];
        let model = || nothing_is_lost::<Shuttle>(5, PAIRS, Locations::swap);
        shuttle_random(1_000, model);
        shuttle_pct(1_000, 3, model);
    }

    #[test]
    fn a_torn_compare_and_swap_is_caught() {
        let model = || {
            nothing_is_lost::<Faulty<Loom, TornCas>>(3, &[&[(0, 1)], &[(1, 2)]], Locations::swap);
        };
        assert!(caught(|| loom_model(None, model)).contains("a place is lost"));
    }

    /// A wrong swap, which does not mark the first element as taken.
    fn swap_without_taking<P: Platform>(locations: &Locations<P>, a: usize, b: usize) -> bool {
        let from = locations.0[a].load(Relaxed);
        let to = locations.0[b].swap(from, Relaxed);
        locations.0[a].store(to, Relaxed);
        true
    }

    /// A wrong swap: it takes an element that another rank may have taken, and gives it a stale
    /// place.
    fn swap_without_looking<P: Platform>(locations: &Locations<P>, a: usize, b: usize) -> bool {
        let from = locations.0[a].swap(TAKEN, Relaxed);
        let to = locations.0[b].load(Relaxed);
        let done = to & TAKEN == 0
            && (locations.0[b].compare_exchange(to, from, Relaxed, Relaxed)).is_ok();
        locations.0[a].store(if done { to } else { from }, Relaxed);
        done
    }

    #[test]
    fn simpler_protocols_are_caught() {
        let overlapping: &[&[_]] = &[&[(0, 1)], &[(1, 2)]];
        let model = || nothing_is_lost::<Loom>(3, overlapping, swap_without_taking);
        assert!(caught(|| loom_model(None, model)).contains("a place is lost"));
        let model = || nothing_is_lost::<Loom>(3, &[&[(0, 1)], &[(0, 2)]], swap_without_looking);
        assert!(caught(|| loom_model(None, model)).contains("a place is lost"));
    }
}
