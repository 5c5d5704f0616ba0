//! A frog crosses a pond: a search over a tree whose branches differ greatly.
//!
//! The document names a program FrogJump and does not say what it does; this one
//! is ours. The frog sits on the first place of a row of stones and water and
//! has just jumped one place far. Each jump is as far as the one before, or one
//! place less or more, and ends on a stone. In how many ways can the frog come
//! exactly to the last stone, and in how few jumps? The search tries every jump
//! and remembers nothing, so its tree grows exponentially with the pond; slow
//! frogs have the large subtrees.

use super::{Fork, Kernel, Wrong};
use manycore_platform::Platform;

/// Instructions a place visited by the search.
const VISIT: u64 = 30;

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
    /// places are left, which takes at most some `1.7^within` visits.
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
    let mut visits = 0;
    let crossings = visit(pond, frog, &mut visits);
    P::read(&pond.stones[frog.place..]);
    P::compute(VISIT * visits);
    crossings
}

fn visit(pond: &Pond, frog: Frog, visits: &mut u64) -> Crossings {
    *visits += 1;
    if let Some(crossing) = frog.crossed(pond) {
        return crossing;
    }
    (0..3)
        .filter_map(|change| frog.jump(pond, change))
        .map(|frog| visit(pond, frog, visits))
        .fold(Crossings::NONE, Crossings::and)
}

/// Stones and water; the first and the last place are stones.
#[derive(Clone, Debug)]
struct Pond {
    stones: Vec<bool>,
}

impl Pond {
    /// Out of four places that follow a stone, how many are stones. After water
    /// there is always a stone: of three places a frog may jump to, one is.
    const STONES_IN_FOUR: u32 = 3;

    fn last(&self) -> usize {
        self.stones.len() - 1
    }

    fn with_visits(visits: u64, seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pond = Self { stones: vec![true] };
        let mut table = Table::new();
        let mut visited: u64 = 1;
        while visited < visits {
            let dry = !pond.stones[pond.last()] || random.u32(0..4) < Self::STONES_IN_FOUR;
            pond.stones.push(dry);
            visited = visited.saturating_add(table.advance(&pond).ways);
        }
        // Places after the last that was visited are none.
        while !pond.stones[pond.last()] {
            pond.stones.pop();
        }
        pond
    }

    /// The answer, by going through the places once.
    fn crossings(&self) -> Crossings {
        let mut table = Table::new();
        let mut pond = Self { stones: vec![true] };
        let mut last = Crossings { ways: 1, jumps: 0 };
        for &stone in &self.stones[1..] {
            pond.stones.push(stone);
            last = table.advance(&pond);
        }
        last
    }
}

/// In how many ways, and how few jumps, a place is reached at each speed.
struct Table {
    reached: Vec<Vec<Crossings>>,
}

impl Table {
    fn new() -> Self {
        let start = Crossings { ways: 1, jumps: 0 };
        Self {
            reached: vec![vec![Crossings::NONE, start]],
        }
    }

    fn at(&self, place: usize, speed: usize) -> Crossings {
        let reached = &self.reached[place];
        reached.get(speed).copied().unwrap_or(Crossings::NONE)
    }

    /// Adds the last place of `pond`; returns all that reaches it.
    fn advance(&mut self, pond: &Pond) -> Crossings {
        let place = pond.last();
        let mut reached = vec![Crossings::NONE; place + 1];
        if pond.stones[place] {
            for (speed, reached) in reached.iter_mut().enumerate().skip(1) {
                let from = place - speed;
                let before = (self.at(from, speed - 1))
                    .and(self.at(from, speed))
                    .and(self.at(from, speed + 1));
                *reached = Crossings {
                    ways: before.ways,
                    jumps: before.jumps.saturating_add(1),
                };
            }
        }
        let all = reached
            .iter()
            .copied()
            .fold(Crossings::NONE, Crossings::and);
        self.reached.push(reached);
        all
    }
}

#[cfg(test)]
mod tests {
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
            let mut visits = 0;
            visit(&kernel.pond, Frog::START, &mut visits);
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
