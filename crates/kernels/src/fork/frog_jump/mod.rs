//! A frog crosses a pond: a search over a tree whose branches differ greatly.
//!
//! The document names a program FrogJump and does not say what it does; this one
//! is ours. The frog sits on the first place of a row of stones and water and
//! has just jumped one place far. Each jump is as far as the one before, or one
//! place less or more, and ends on a stone. In how many ways can the frog come
//! exactly to the last stone, and in how few jumps? The search tries every jump
//! and remembers nothing, so its tree grows exponentially with the pond; slow
//! frogs have the large subtrees.

mod pond;

use super::{Fork, Kernel, Wrong};
use manycore_platform::Platform;
use pond::Pond;

/// Instructions a place visited by the search.
const VISIT: u64 = 78;

/// All ways of a frog across a pond.
///
/// ```
/// use manycore_kernels::fork::{FrogJump, Kernel, Serial};
/// use manycore_platform::Native;
///
/// let mut kernel = FrogJump::new(10_000, 8, 42);
/// kernel.run(&Serial::<Native>::default());
/// kernel.verify().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct FrogJump {
    pond: Pond,
    within: usize,
    answer: Option<Crossings>,
}

impl FrogJump {
    /// A pond from `seed`, the shortest in which the search visits `visits`
    /// places or more. The search is sequential from where at most `within`
    /// places are left: with 14, for some 70 visits on average.
    ///
    /// ```
    /// use manycore_kernels::fork::{FrogJump, Kernel, Wrong};
    /// assert_eq!(FrogJump::new(100, 0, 1).verify(), Err(Wrong::NotRun));
    /// ```
    #[must_use]
    pub fn new(visits: u64, within: usize, seed: u64) -> Self {
        Self {
            pond: Pond::with_visits(visits, seed),
            within,
            answer: None,
        }
    }
}

impl Kernel for FrogJump {
    fn reset(&mut self) {
        self.answer = None;
    }

    fn run<F: Fork>(&mut self, fork: &F) {
        self.answer = Some(search(fork, &self.pond, self.within, Frog::START));
    }

    fn sequential<P: Platform>(&mut self) {
        self.answer = Some(search_alone::<P>(&self.pond, Frog::START));
    }

    fn verify(&self) -> Result<(), Wrong> {
        let found = self.answer.ok_or(Wrong::NotRun)?;
        let right = self.pond.crossings();
        Wrong::unless_equal("the number of crossings", found.ways, right.ways)?;
        Wrong::unless_equal("the least number of jumps", found.jumps, right.jumps)
    }
}

/// Ways that lead to the last stone, and the jumps of the shortest.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Crossings {
    ways: u64,
    /// `u32::MAX` if there is no way.
    jumps: u32,
}

impl Crossings {
    const NONE: Self = Self {
        ways: 0,
        jumps: u32::MAX,
    };

    fn and(self, other: Self) -> Self {
        Self {
            ways: self.ways + other.ways,
            jumps: self.jumps.min(other.jumps),
        }
    }
}

#[derive(Clone, Copy)]
struct Frog {
    place: usize,
    /// How far the last jump was.
    speed: usize,
    jumps: u32,
}

impl Frog {
    const START: Self = Self {
        place: 0,
        speed: 1,
        jumps: 0,
    };

    /// After a jump `change - 1` places farther than the last one, if that is a
    /// jump and ends on a stone.
    fn jump(self, pond: &Pond, change: usize) -> Option<Self> {
        let speed = self.speed + change - 1;
        let place = self.place + speed;
        (speed > 0 && pond.stones.get(place) == Some(&true)).then_some(Self {
            place,
            speed,
            jumps: self.jumps + 1,
        })
    }

    /// Has it crossed? Then this is one way.
    fn crossed(self, pond: &Pond) -> Option<Crossings> {
        (self.place == pond.last()).then_some(Crossings {
            ways: 1,
            jumps: self.jumps,
        })
    }
}

fn search<F: Fork>(fork: &F, pond: &Pond, within: usize, frog: Frog) -> Crossings {
    if pond.last() - frog.place <= within {
        return search_alone::<F::Platform>(pond, frog);
    }
    F::Platform::compute(VISIT);
    let after = |change| match frog.jump(pond, change) {
        Some(frog) => search(fork, pond, within, frog),
        None => Crossings::NONE,
    };
    let (far, (same, near)) = fork.join(|| after(2), || fork.join(|| after(1), || after(0)));
    far.and(same).and(near)
}

fn search_alone<P: Platform>(pond: &Pond, frog: Frog) -> Crossings {
    P::read(&pond.stones[frog.place..]);
    visit::<P>(pond, frog)
}

fn visit<P: Platform>(pond: &Pond, frog: Frog) -> Crossings {
    P::compute(VISIT);
    if let Some(crossing) = frog.crossed(pond) {
        return crossing;
    }
    (0..3)
        .filter_map(|change| frog.jump(pond, change))
        .map(|frog| visit::<P>(pond, frog))
        .fold(Crossings::NONE, Crossings::and)
}

#[cfg(test)]
mod tests {
    use super::super::counted::Counted;
    use super::super::testing::check;
    use super::*;
    use manycore_platform::Native;

    #[test]
    fn every_schedule_finds_all_crossings() {
        for (visits, within, seed) in [
            (0, 0, 0),
            (1, 0, 1),
            (2, 0, 2),
            (100, 3, 3),
            (20_000, 10, 4),
        ] {
            check(&mut FrogJump::new(visits, within, seed));
        }
    }

    #[test]
    fn a_pond_without_water() {
        // From speed 1 over three places: 1+1+1, 1+2, 2+1.
        let pond = Pond {
            stones: vec![true; 4],
        };
        let three = Crossings { ways: 3, jumps: 2 };
        assert_eq!(search_alone::<Native>(&pond, Frog::START), three);
        assert_eq!(pond.crossings(), three);
    }

    #[test]
    fn the_search_is_as_large_as_asked_for() {
        for seed in 0..5 {
            let kernel = FrogJump::new(50_000, 0, seed);
            visit::<Counted>(&kernel.pond, Frog::START);
            let visits = Counted::take() / VISIT;
            assert!((50_000..150_000).contains(&visits), "{visits}");
        }
    }

    #[test]
    fn wrong_counts_are_caught() {
        let mut kernel = FrogJump::new(1000, 5, 1);
        kernel.sequential::<Native>();
        let right = kernel.answer.unwrap();
        for (ways, jumps) in [(1, 0), (0, 1)] {
            kernel.answer = Some(Crossings {
                ways: right.ways + ways,
                jumps: right.jumps + jumps,
            });
            assert!(kernel.verify().is_err());
        }
    }
}
