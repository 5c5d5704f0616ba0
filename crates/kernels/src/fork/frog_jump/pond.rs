//! The pond, and the frog's ways across it without a search.

use super::Crossings;

/// Stones and water; the first and the last place are stones.
#[derive(Clone, Debug)]
pub(super) struct Pond {
    pub(super) stones: Vec<bool>,
}

impl Pond {
    /// Out of four places that follow a stone, how many are stones. After water
    /// there is always a stone: of three places a frog may jump to, one is.
    const STONES_IN_FOUR: u32 = 3;

    pub(super) fn last(&self) -> usize {
        self.stones.len() - 1
    }

    pub(super) fn with_visits(visits: u64, seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pond = Self { stones: vec![true] };
        let mut table = PondTable::new();
        let mut visited: u64 = 1;
        // More would overflow, and nobody could wait for them.
        let visits = visits.min(1 << 60);
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
    pub(super) fn crossings(&self) -> Crossings {
        let mut table = PondTable::new();
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
struct PondTable {
    reached: Vec<Vec<Crossings>>,
}

impl PondTable {
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
