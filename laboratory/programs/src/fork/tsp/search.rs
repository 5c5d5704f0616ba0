//! The search for the shortest tour.

use super::map::Map;
use crate::fork::Fork;
use manycore_platform::{Atomic, Ordering, Platform};

/// Instructions of the search for each road.
const ROAD: u64 = 97;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tour {
    pub(super) length: u64,
    pub(super) cities: Vec<u8>,
}

impl Tour {
    pub(super) fn normalised(mut self) -> Self {
        if let [_, second, .., last] = self.cities[..]
            && second > last
        {
            self.cities[1..].reverse();
        }
        self
    }
}

/// The beginning of a tour.
#[derive(Clone)]
pub(super) struct Journey {
    /// The cities visited, in order, and then the others.
    cities: Vec<u8>,
    visited: usize,
    length: u64,
    /// A lower bound of the rest: the tour leaves each remaining city by its shortest road.
    ahead: u64,
}

impl Journey {
    pub(super) fn start(map: &Map) -> Self {
        Self {
            cities: (0..map.cities as u8).collect(),
            visited: map.cities.min(1),
            length: 0,
            ahead: map.shortest.iter().sum(),
        }
    }

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

pub(super) struct TourSearch<'a, F: Fork> {
    pub(super) fork: &'a F,
    pub(super) map: &'a Map,
    /// The length of the shortest tour found so far by any branch. All orderings are relaxed: the word publishes no
    /// other memory, and a branch that reads an old value only searches in vain. The branches return their tours as
    /// results.
    pub(super) shortest: &'a <F::Platform as Platform>::AtomicU64,
    pub(super) threshold: usize,
}

impl<F: Fork> TourSearch<'_, F> {
    /// The shortest tour that begins with `journey`, if it is shorter than all tours found so far.
    pub(super) fn all(&self, mut journey: Journey) -> Option<Tour> {
        if journey.cities.len() - journey.visited <= self.threshold {
            F::Platform::read(&self.map.roads);
            let mut best = None;
            self.alone(&mut journey, &mut best);
            return best;
        }
        if !self.is_promising(&journey) {
            return None;
        }
        self.among(&journey, journey.visited, journey.cities.len())
    }

    /// As `all`, with a next city from `first` to before `end`.
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

    fn alone(&self, journey: &mut Journey, best: &mut Option<Tour>) {
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
            F::Platform::compute(ROAD);
            journey.to(self.map, next);
            if self.is_promising(journey) {
                self.alone(journey, best);
            }
            journey.back(self.map, next);
        }
    }

    /// Returns whether a tour is shorter than all tours before. If so, its length becomes the new bound.
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
