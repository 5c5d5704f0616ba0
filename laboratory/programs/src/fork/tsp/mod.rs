//! The travelling salesman problem by branch and bound. All branches share one word with the length of the shortest
//! tour so far.

mod map;
mod search;

use super::{Fork, Kernel, Serial, Wrong};
use manycore_platform::{Atomic, CachePadded, Platform};
use map::Map;
use search::{Journey, Tour, TourSearch};

/// The first ten cities of dj38, the map of Djibouti among the national problems of the
/// University of Waterloo (`THIRD_PARTY.md`).
const DJIBOUTI: [(f64, f64); 10] = [
    (11003.6111, 42102.5),
    (11108.6111, 42373.8889),
    (11133.3333, 42885.8333),
    (11155.8333, 42712.5),
    (11183.3333, 42933.3333),
    (11297.5, 42853.3333),
    (11310.2778, 42929.4444),
    (11416.6667, 42983.3333),
    (11423.8889, 43000.2778),
    (11438.3333, 42057.2222),
];

/// The shortest tour through all cities, from the first city and back.
///
/// ```
/// use manycore_programs::fork::{Kernel, Serial, Tsp};
/// use manycore_platform::Native;
///
/// let mut kernel = Tsp::dj10(8);
/// kernel.run(&Serial::<Native>::default());
/// kernel.verify().unwrap();
/// assert_eq!(kernel.tour(), Some(&[0, 1, 3, 2, 4, 6, 8, 7, 5, 9][..]));
/// ```
#[derive(Clone, Debug)]
pub struct Tsp {
    map: Map,
    threshold: usize,
    answer: Option<Tour>,
}

/// The error for more cities than the program can search and verify in reasonable time.
///
/// ```
/// use manycore_programs::fork::{TooManyCities, Tsp};
/// assert_eq!(Tsp::random(17, 4, 1).unwrap_err(), TooManyCities(17));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a tour of {0} cities: there may be at most {most}", most = Tsp::MOST_CITIES)]
pub struct TooManyCities(pub usize);

impl Tsp {
    /// The most cities a map may have.
    pub const MOST_CITIES: usize = 16;

    /// The ten cities of Djibouti, as in rayon's demonstration. When at most `threshold` cities are left,
    /// the search is sequential.
    ///
    /// ```
    /// use manycore_programs::fork::Tsp;
    /// assert_eq!(Tsp::dj10(8).tour(), None); // not yet searched
    /// ```
    #[must_use]
    pub fn dj10(threshold: usize) -> Self {
        Self::with(&DJIBOUTI, threshold)
    }

    /// Cities from `seed`, in a square of side 1,000.
    ///
    /// # Errors
    ///
    /// [`TooManyCities`], if there are more than
    /// [`MOST_CITIES`](Self::MOST_CITIES).
    ///
    /// ```
    /// use manycore_programs::fork::{Kernel, Tsp};
    /// use manycore_platform::Native;
    ///
    /// let mut kernel = Tsp::random(8, 4, 42)?;
    /// kernel.sequential::<Native>();
    /// kernel.verify().unwrap();
    /// # Ok::<(), manycore_programs::fork::TooManyCities>(())
    /// ```
    pub fn random(cities: usize, threshold: usize, seed: u64) -> Result<Self, TooManyCities> {
        if cities > Self::MOST_CITIES {
            return Err(TooManyCities(cities));
        }
        let mut random = fastrand::Rng::with_seed(seed);
        let mut coordinate = || random.f64() * 1000.0;
        let places: Vec<(f64, f64)> = (0..cities).map(|_| (coordinate(), coordinate())).collect();
        Ok(Self::with(&places, threshold))
    }

    fn with(places: &[(f64, f64)], threshold: usize) -> Self {
        Self {
            map: Map::new(places),
            threshold,
            answer: None,
        }
    }

    /// The shortest tour found: the cities' numbers in order. A tour has two directions. In the returned direction, the
    /// lower-numbered neighbour of the first city comes first.
    ///
    /// ```
    /// use manycore_programs::fork::{Kernel, Tsp};
    /// use manycore_platform::Native;
    ///
    /// let mut kernel = Tsp::dj10(0);
    /// kernel.sequential::<Native>();
    /// assert_eq!(kernel.length(), Some(2577));
    /// assert_eq!(kernel.tour().unwrap().len(), 10);
    /// ```
    #[must_use]
    pub fn tour(&self) -> Option<&[u8]> {
        self.answer.as_ref().map(|tour| tour.cities.as_slice())
    }

    /// The length of the tour found. The length of each road is rounded to a whole number.
    ///
    /// ```
    /// use manycore_programs::fork::Tsp;
    /// assert_eq!(Tsp::dj10(8).length(), None); // not yet searched
    /// ```
    #[must_use]
    pub fn length(&self) -> Option<u64> {
        self.answer.as_ref().map(|tour| tour.length)
    }

    fn search<F: Fork>(&self, fork: &F, threshold: usize) -> Option<Tour> {
        let shortest = CachePadded::new(Atomic::new(u64::MAX));
        let search = TourSearch {
            fork,
            map: &self.map,
            shortest: &shortest,
            threshold,
        };
        Some(
            search
                .all(Journey::start(&self.map))
                .map_or_else(Tour::default, Tour::normalised),
        )
    }
}

impl Kernel for Tsp {
    fn reset(&mut self) {
        self.answer = None;
    }

    fn run<F: Fork>(&mut self, fork: &F) {
        self.answer = self.search(fork, self.threshold);
    }

    fn sequential<P: Platform>(&mut self) {
        let fork = Serial::<P>::default();
        self.answer = self.search(&fork, Self::MOST_CITIES);
    }

    fn verify(&self) -> Result<(), Wrong> {
        let tour = self.answer.as_ref().ok_or(Wrong::NotRun)?;
        let mut cities = tour.cities.clone();
        cities.sort_unstable();
        let all: Vec<u8> = (0..self.map.cities as u8).collect();
        Wrong::unless_all_equal("visit of city", &cities, &all)?;
        let length = self.map.length(&tour.cities);
        Wrong::unless_equal("the length claimed for the tour", tour.length, length)?;
        let shortest = self.map.shortest_by_subsets();
        Wrong::unless_equal("the length of the tour", tour.length, shortest)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, schedules};
    use super::*;
    use manycore_platform::Native;

    #[test]
    fn the_reference_tour() {
        for threshold in [0, 4, 8, 10] {
            for fork in schedules() {
                let mut kernel = Tsp::dj10(threshold);
                kernel.run(&fork);
                kernel.verify().unwrap();
                assert_eq!(kernel.length(), Some(2577));
                assert_eq!(kernel.tour().unwrap(), [0, 1, 3, 2, 4, 6, 8, 7, 5, 9]);
            }
        }
    }

    #[test]
    fn every_schedule_finds_a_shortest_tour() {
        for cities in [0, 1, 2, 3, 4, 9] {
            for seed in 0..3 {
                check(&mut Tsp::random(cities, 3, seed).unwrap());
            }
        }
    }

    #[test]
    fn a_detour_a_wrong_length_and_a_city_left_out_are_caught() {
        let mut kernel = Tsp::dj10(4);
        kernel.sequential::<Native>();
        let right = kernel.answer.clone().unwrap();
        let mut damaged = |damage: fn(&mut Tour, &Map)| {
            let mut tour = right.clone();
            damage(&mut tour, &kernel.map);
            kernel.answer = Some(tour);
            assert!(kernel.verify().is_err());
        };
        damaged(|tour, map| {
            tour.cities.swap(3, 7);
            tour.length = map.length(&tour.cities);
        });
        damaged(|tour, _| tour.length -= 1);
        damaged(|tour, map| {
            tour.cities.pop();
            tour.length = map.length(&tour.cities);
        });
    }
}
