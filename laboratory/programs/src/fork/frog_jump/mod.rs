//! A frog crosses a pond: a parallel search for one way, in rounds.
//!
//! The program of Fontena's experiment follows the search of `github.com/jeandiegof/benches-rs`. Each jump is as long
//! as the previous jump, or one shorter or longer, and ends on a stone. A place is a stone together with the length of
//! the jump that ended on it. A depth-first search takes places from a stack and marks each place that it finds, so no
//! place is searched twice. A round searches the last 30 places of the stack in parallel, each by a frog that stops
//! after a number of places. The places that the frogs have not searched are the new top of the stack. So the depth of
//! the stack limits the parallelism, and all frogs wait at the end of each round.

mod pond;
mod seen;

use super::{Fork, Kernel, Wrong};
use manycore_platform::Platform;
use pond::Pond;
use seen::{Seen, Stones};

/// Instructions for each searched place, without accesses to tables.
const PLACE: u64 = 100;

/// The number of places searched in parallel.
const FROGS: usize = 30;

/// The search for a frog's way across a pond.
///
/// ```
/// use manycore_programs::fork::{FrogJump, Kernel, Serial};
/// use manycore_platform::Native;
///
/// let mut kernel = FrogJump::new(100, 4, 50, 42);
/// kernel.run(&Serial::<Native>::default());
/// kernel.verify().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct FrogJump {
    pond: Pond,
    /// The number of reachable places, and whether the end is among them.
    places: usize,
    has_way: bool,
    patience: usize,
    crossed: Option<bool>,
}

impl FrogJump {
    /// Makes a pond from `seed` for frogs that jump `pace` places, in `lanes` lanes (at least 1, at most `pace`). A
    /// frog searches `patience` places in a round.
    ///
    /// ```
    /// use manycore_programs::fork::{FrogJump, Kernel, Wrong};
    /// assert_eq!(FrogJump::new(100, 4, 50, 1).verify(), Err(Wrong::NotRun));
    /// ```
    #[must_use]
    pub fn new(pace: u32, lanes: u32, patience: usize, seed: u64) -> Self {
        let pace = pace.max(1);
        Self::across(Pond::new(pace, lanes.clamp(1, pace), seed), patience)
    }

    fn across(pond: Pond, patience: usize) -> Self {
        let (places, has_way) = pond.reachable();
        Self {
            pond,
            places,
            has_way,
            patience: patience.max(1),
            crossed: None,
        }
    }

    fn search<P: Platform>(&self) -> Search<P> {
        Search {
            stones: Stones::new::<P>(&self.pond.stones),
            seen: Seen::new(self.places),
            end: self.pond.end(),
        }
    }
}

impl Kernel for FrogJump {
    fn reset(&mut self) {
        self.crossed = None;
    }

    fn run<F: Fork>(&mut self, fork: &F) {
        let search = self.search::<F::Platform>();
        let mut stack = vec![Place::START];
        let mut crossed = false;
        while !crossed && !stack.is_empty() {
            let top = stack.split_off(stack.len().saturating_sub(FROGS));
            // Frog 0 searches the last place, as a sequential search would.
            let from = |frog| search.from(top[top.len() - 1 - frog], self.patience);
            let left = fork.map_reduce(0..top.len(), &from, Left::default(), &Left::above);
            stack.extend(left.places);
            crossed = left.crossed;
        }
        self.crossed = Some(crossed);
    }

    fn sequential<P: Platform>(&mut self) {
        let left = self.search::<P>().from(Place::START, usize::MAX);
        self.crossed = Some(left.crossed);
    }

    fn verify(&self) -> Result<(), Wrong> {
        let crossed = self.crossed.ok_or(Wrong::NotRun)?;
        Wrong::unless_equal("whether the frog crosses", crossed, self.has_way)
    }
}

/// A stone, and the length of the jump that ended on it.
#[derive(Clone, Copy, Debug)]
struct Place {
    stone: u32,
    pace: u32,
}

impl Place {
    const START: Self = Self { stone: 0, pace: 0 };

    fn jumps(self) -> impl Iterator<Item = Self> {
        let paces = self.pace.saturating_sub(1)..=self.pace + 1;
        paces.map(move |pace| Self {
            stone: self.stone + pace,
            pace,
        })
    }

    fn key(self) -> u64 {
        u64::from(self.stone) << 32 | u64::from(self.pace)
    }
}

/// The places that one or several frogs did not search.
#[derive(Clone, Debug, Default)]
struct Left {
    places: Vec<Place>,
    crossed: bool,
}

impl Left {
    /// Puts the places of this result on top of those in `below`.
    fn above(self, mut below: Self) -> Self {
        below.places.extend(self.places);
        below.crossed |= self.crossed;
        below
    }
}

/// The data that all frogs share.
struct Search<P: Platform> {
    stones: Stones,
    seen: Seen<P>,
    end: u32,
}

impl<P: Platform> Search<P> {
    /// Searches at most `patience` places, depth first.
    fn from(&self, place: Place, patience: usize) -> Left {
        let mut places = vec![place];
        for _ in 0..patience {
            let Some(place) = places.pop() else { break };
            P::compute(PLACE);
            if place.stone == self.end {
                let crossed = true;
                return Left { places, crossed };
            }
            let new =
                |next: &Place| self.stones.has::<P>(next.stone) && self.seen.insert(next.key());
            places.extend(place.jumps().filter(new));
        }
        Left {
            places,
            crossed: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;
    use manycore_platform::Native;

    #[test]
    fn every_schedule_crosses() {
        for (pace, lanes, patience, seed) in [
            (0, 0, 0, 0),
            (1, 1, 1, 1),
            (2, 5, 1, 2),
            (60, 3, 7, 3),
            (120, 4, 50, 4),
        ] {
            check(&mut FrogJump::new(pace, lanes, patience, seed));
        }
    }

    /// Without the stones before the end, the search visits all reachable places and finds no way.
    #[test]
    fn where_there_is_no_way_none_is_found() {
        let mut pond = Pond::new(60, 3, 1);
        let end = pond.end();
        pond.stones
            .retain(|&stone| stone == end || stone + 200 < end);
        let mut kernel = FrogJump::across(pond, 5);
        assert!(!kernel.has_way);
        check(&mut kernel);
        assert_eq!(kernel.crossed, Some(false));
        let search = kernel.search::<Native>();
        search.from(Place::START, usize::MAX);
        assert_eq!(search.seen.len(), kernel.places);
    }

    #[test]
    fn a_wrong_answer_is_caught() {
        let mut kernel = FrogJump::new(60, 3, 7, 1);
        kernel.sequential::<Native>();
        kernel.crossed = kernel.crossed.map(|crossed| !crossed);
        assert!(kernel.verify().is_err());
    }
}
