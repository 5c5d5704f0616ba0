//! The travelling salesman by branch and bound: a search whose branches tell
//! each other, through one shared word, what is no longer worth searching.

use super::{Fork, Kernel, Wrong};
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};

/// Instructions a road that the search looks at.
const ROAD: u64 = 15;

/// Ten cities of Djibouti, as TSPLIB publishes them (dj38, the first ten).
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

/// The shortest tour through all cities, from the first and back to it.
///
/// ```
/// use manycore_kernels::fork::{Kernel, Serial, Tsp};
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

/// More cities than can be searched, and the answer verified, in time.
///
/// ```
/// use manycore_kernels::fork::{TooManyCities, Tsp};
/// assert_eq!(Tsp::random(17, 4, 1).unwrap_err(), TooManyCities(17));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a tour of {0} cities: there may be at most {most}", most = Tsp::MOST_CITIES)]
pub struct TooManyCities(pub usize);

impl Tsp {
    /// The most cities a map may have.
    pub const MOST_CITIES: usize = 16;

    /// The ten cities of Djibouti that rayon's demonstration uses too. With at
    /// most `threshold` cities left, the search is sequential.
    ///
    /// ```
    /// use manycore_kernels::fork::Tsp;
    /// assert_eq!(Tsp::dj10(8).tour(), None); // not yet searched
    /// ```
    #[must_use]
    pub fn dj10(threshold: usize) -> Self {
        Self::with(&DJIBOUTI, threshold)
    }

    /// So many cities from `seed`, in a square of side 1,000.
    ///
    /// # Errors
    ///
    /// [`TooManyCities`], if there are more than
    /// [`MOST_CITIES`](Self::MOST_CITIES).
    ///
    /// ```
    /// use manycore_kernels::fork::{Kernel, Tsp};
    /// use manycore_platform::Native;
    ///
    /// let mut kernel = Tsp::random(8, 4, 42)?;
    /// kernel.sequential::<Native>();
    /// kernel.verify().unwrap();
    /// # Ok::<(), manycore_kernels::fork::TooManyCities>(())
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

    /// The tour found, as the numbers of the cities in the order they are
    /// visited; of its two directions the one that visits the lower of the first
    /// city's neighbours first.
    ///
    /// ```
    /// use manycore_kernels::fork::{Kernel, Tsp};
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

    /// The length of the tour found; each road's is rounded to a whole number.
    ///
    /// ```
    /// use manycore_kernels::fork::Tsp;
    /// assert_eq!(Tsp::dj10(8).length(), None); // not yet searched
    /// ```
    #[must_use]
    pub fn length(&self) -> Option<u64> {
        self.answer.as_ref().map(|tour| tour.length)
    }

    fn search<F: Fork>(&self, fork: &F, threshold: usize) -> Option<Tour> {
        let shortest = CachePadded::new(Atomic::new(u64::MAX));
        let search = Search {
            fork,
            map: &self.map,
            shortest: &shortest,
            threshold,
        };
        Some(
            search
                .all(self.map.start())
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
        let fork = super::Serial::<P>::default();
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

#[derive(Clone, Debug, Default, PartialEq)]
struct Tour {
    length: u64,
    cities: Vec<u8>,
}

impl Tour {
    fn normalised(mut self) -> Self {
        if let [_, second, .., last] = self.cities[..]
            && second > last
        {
            self.cities[1..].reverse();
        }
        self
    }
}

#[derive(Clone, Debug)]
struct Map {
    cities: usize,
    /// From each city to each.
    roads: Vec<u64>,
    /// The shortest road from each city.
    shortest: Vec<u64>,
}

impl Map {
    fn new(places: &[(f64, f64)]) -> Self {
        let cities = places.len();
        // TSPLIB's EUC_2D: rounded to the nearest.
        let road = |(a, b): (usize, usize)| {
            let ((ax, ay), (bx, by)) = (places[a], places[b]);
            (ax - bx).hypot(ay - by).round() as u64
        };
        let others = |from| (0..cities).filter(move |&to| to != from);
        Self {
            cities,
            roads: (0..cities * cities)
                .map(|at| road((at / cities, at % cities)))
                .collect(),
            shortest: (0..cities)
                .map(|from| others(from).map(|to| road((from, to))).min().unwrap_or(0))
                .collect(),
        }
    }

    fn road(&self, from: u8, to: u8) -> u64 {
        self.roads[usize::from(from) * self.cities + usize::from(to)]
    }

    fn length(&self, tour: &[u8]) -> u64 {
        let ends = tour.last().map_or(0, |&last| self.road(last, tour[0]));
        tour.windows(2)
            .map(|pair| self.road(pair[0], pair[1]))
            .sum::<u64>()
            + ends
    }

    fn start(&self) -> Journey {
        Journey {
            cities: (0..self.cities as u8).collect(),
            visited: self.cities.min(1),
            length: 0,
            ahead: self.shortest.iter().sum(),
        }
    }

    /// The length of the shortest tour by another way: the shortest path through
    /// each subset of the cities to each of them (Held and Karp).
    fn shortest_by_subsets(&self) -> u64 {
        let Some(others) = self.cities.checked_sub(1).filter(|&others| others > 0) else {
            return 0;
        };
        let mut paths = vec![u64::MAX; others << others];
        let cities = || 0..others as u8;
        let has = |subset: usize, city: u8| subset >> city & 1 == 1;
        let mut best = u64::MAX;
        for subset in 1..1 << others {
            for last in cities().filter(|&last| has(subset, last)) {
                let rest = subset & !(1 << last);
                let path = match rest {
                    0 => self.road(0, last + 1),
                    _ => cities()
                        .filter(|&before| has(rest, before))
                        .map(|before| {
                            paths[rest * others + usize::from(before)]
                                + self.road(before + 1, last + 1)
                        })
                        .min()
                        .unwrap_or(u64::MAX),
                };
                paths[subset * others + usize::from(last)] = path;
                if subset + 1 == 1 << others {
                    best = best.min(path + self.road(last + 1, 0));
                }
            }
        }
        best
    }
}

/// A tour begun.
#[derive(Clone)]
struct Journey {
    /// The cities visited, in order, and then the others.
    cities: Vec<u8>,
    visited: usize,
    length: u64,
    /// What the rest is at least: each city that is still to be left is left by
    /// its shortest road.
    ahead: u64,
}

impl Journey {
    fn to(&mut self, map: &Map, next: usize) {
        self.cities.swap(self.visited, next);
        let (last, city) = (self.cities[self.visited - 1], self.cities[self.visited]);
        self.visited += 1;
        self.length += map.road(last, city);
        self.ahead -= map.shortest[usize::from(last)];
    }

    fn back(&mut self, map: &Map, next: usize) {
        self.visited -= 1;
        let (last, city) = (self.cities[self.visited - 1], self.cities[self.visited]);
        self.length -= map.road(last, city);
        self.ahead += map.shortest[usize::from(last)];
        self.cities.swap(self.visited, next);
    }
}

struct Search<'a, F: Fork> {
    fork: &'a F,
    map: &'a Map,
    /// The length of the shortest tour that anybody has found. All orderings
    /// are relaxed: it publishes nothing but itself, and who reads an old value
    /// only searches in vain. The tours go the way of the results.
    shortest: &'a <F::Platform as Platform>::AtomicU64,
    threshold: usize,
}

impl<F: Fork> Search<'_, F> {
    /// The shortest tour that begins with `journey`, if it is shorter than all
    /// found meanwhile.
    fn all(&self, mut journey: Journey) -> Option<Tour> {
        if journey.cities.len() - journey.visited <= self.threshold {
            let (mut best, mut roads) = (None, 0);
            self.alone(&mut journey, &mut best, &mut roads);
            F::Platform::read(&self.map.roads);
            F::Platform::compute(ROAD * roads);
            return best;
        }
        if !self.is_promising(&journey) {
            return None;
        }
        self.among(&journey, journey.visited, journey.cities.len())
    }

    /// The same, if the next city is one of those from `first` to `end`.
    fn among(&self, journey: &Journey, first: usize, end: usize) -> Option<Tour> {
        if end - first == 1 {
            let mut journey = journey.clone();
            journey.to(self.map, first);
            F::Platform::compute(ROAD);
            return self.all(journey);
        }
        let middle = first.midpoint(end);
        let (a, b) = self.fork.join(
            || self.among(journey, first, middle),
            || self.among(journey, middle, end),
        );
        a.into_iter().chain(b).min_by_key(|tour| tour.length)
    }

    fn is_promising(&self, journey: &Journey) -> bool {
        journey.length + journey.ahead < self.shortest.load(Ordering::Relaxed)
    }

    fn alone(&self, journey: &mut Journey, best: &mut Option<Tour>, roads: &mut u64) {
        if journey.visited == journey.cities.len() {
            let length = self.map.length(&journey.cities);
            if self.is_shortest(length) {
                *best = Some(Tour {
                    length,
                    cities: journey.cities.clone(),
                });
            }
            return;
        }
        for next in journey.visited..journey.cities.len() {
            *roads += 1;
            journey.to(self.map, next);
            if self.is_promising(journey) {
                self.alone(journey, best, roads);
            }
            journey.back(self.map, next);
        }
    }

    /// Is a tour shorter than all before? Then the next must be shorter still.
    fn is_shortest(&self, length: u64) -> bool {
        let mut shortest = self.shortest.load(Ordering::Relaxed);
        while length < shortest {
            let exchanged = self.shortest.compare_exchange(
                shortest,
                length,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            match exchanged {
                Ok(_) => return true,
                Err(now) => shortest = now,
            }
        }
        false
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
