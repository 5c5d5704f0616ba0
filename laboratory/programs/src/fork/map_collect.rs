//! Builds a map in parallel: for each digit, the list of places with that digit.

use super::{Fork, Kernel, Wrong};
use manycore_platform::Platform;
use std::collections::BTreeMap;
use std::ops::Range;

/// Instructions for each number that is inserted into the map, and for four places that are copied when two maps are
/// merged.
const INSERT: u64 = 110;
const COPY_FOUR: u64 = 2;

/// Collects the places of numbers by last digit. Each list is in ascending order.
///
/// ```
/// use manycore_programs::fork::{Kernel, MapCollect, Serial};
/// use manycore_platform::Native;
///
/// let mut kernel = MapCollect::new(1000, 42);
/// kernel.run(&Serial::<Native>::default());
/// kernel.verify().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct MapCollect {
    numbers: Vec<u32>,
    places: Option<Places>,
}

type Places = BTreeMap<u32, Vec<usize>>;

impl MapCollect {
    /// Numbers from `seed`.
    ///
    /// ```
    /// use manycore_programs::fork::{Kernel, MapCollect, Wrong};
    /// assert_eq!(MapCollect::new(10, 1).verify(), Err(Wrong::NotRun));
    /// ```
    #[must_use]
    pub fn new(length: usize, seed: u64) -> Self {
        Self {
            numbers: super::sorted::numbers(length, seed),
            places: None,
        }
    }
}

impl Kernel for MapCollect {
    fn reset(&mut self) {
        self.places = None;
    }

    fn run<F: Fork>(&mut self, fork: &F) {
        self.places = Some(fork.reduce(
            0..self.numbers.len(),
            &|range| collect::<F::Platform>(&self.numbers, range),
            &|left, right| append::<F::Platform>(left, right),
        ));
    }

    fn sequential<P: Platform>(&mut self) {
        self.places = Some(collect::<P>(&self.numbers, 0..self.numbers.len()));
    }

    fn verify(&self) -> Result<(), Wrong> {
        let places = self.places.as_ref().ok_or(Wrong::NotRun)?;
        // Each place is in the list of its digit, no list is out of order, and there are as many entries as places. So
        // each place is there exactly once.
        let mut entries = 0;
        for (digit, list) in places {
            let is_wrong = |&place: &usize| self.numbers.get(place).map(|n| n % 10) != Some(*digit);
            let stranger = list.iter().copied().find(is_wrong);
            let unordered = list
                .windows(2)
                .find(|pair| pair[0] >= pair[1])
                .map(|pair| pair[1]);
            if let Some(index) = stranger.or(unordered) {
                return Err(Wrong::Element {
                    what: "place",
                    index,
                });
            }
            entries += list.len();
        }
        Wrong::unless_equal("the number of places", entries, self.numbers.len())
    }
}

fn collect<P: Platform>(numbers: &[u32], range: Range<usize>) -> Places {
    P::read(&numbers[range.clone()]);
    P::compute(INSERT * range.len() as u64);
    let mut places = Places::new();
    for place in range {
        places.entry(numbers[place] % 10).or_default().push(place);
    }
    places.values_mut().for_each(|list| P::write(list));
    places
}

/// Appends the lists of `right` to the lists of `left`.
fn append<P: Platform>(mut left: Places, right: Places) -> Places {
    for (digit, list) in right {
        P::read(&list);
        P::compute(COPY_FOUR * list.len().div_ceil(4) as u64);
        let all = left.entry(digit).or_default();
        let before = all.len();
        all.extend(list);
        P::write(&mut all[before..]);
    }
    left
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;
    use manycore_platform::Native;

    #[test]
    fn every_schedule_collects_the_same() {
        for length in [0, 1, 2, 3, 1001] {
            let mut kernel = MapCollect::new(length, length as u64);
            check(&mut kernel);
            let parallel = kernel.places.clone();
            kernel.sequential::<Native>();
            assert_eq!(kernel.places, parallel);
        }
    }

    #[test]
    fn a_place_lost_misplaced_or_out_of_order_is_caught() {
        let damages: [fn(&mut Places); 3] = [
            |places| _ = places.get_mut(&3).unwrap().pop(),
            |places| {
                let stray = places.get_mut(&3).unwrap().pop().unwrap();
                places.get_mut(&4).unwrap().push(stray);
            },
            |places| places.get_mut(&3).unwrap().swap(0, 1),
        ];
        for damage in damages {
            let mut kernel = MapCollect::new(1000, 1);
            kernel.sequential::<Native>();
            damage(kernel.places.as_mut().unwrap());
            assert!(kernel.verify().is_err());
        }
    }
}
