//! A rank: a thread of the team.

use super::gate::Gate;
use super::random::Random48;
use manycore_platform::Platform;
use std::ops::Range;

/// The instructions to draw a random number.
const DRAW: u64 = 12;

/// A thread's number, its barrier, and its gate.
pub(super) struct Rank<'a, P: Platform> {
    number: usize,
    ranks: usize,
    barrier: &'a mut dyn FnMut(),
    waits: u64,
    gate: &'a Gate<P>,
    /// How often this rank has passed or opened the gate.
    passed: u32,
    /// How often all ranks have met in [`gather`](Self::gather).
    arrivals: u32,
    /// Only rank 0 draws random numbers, so that they are the same for any team.
    random: Option<Random48>,
    /// The number of offers (points that were tried as a new centre).
    pub(super) offers: u64,
}

impl<'a, P: Platform> Rank<'a, P> {
    pub(super) fn new(
        number: usize,
        ranks: usize,
        gate: &'a Gate<P>,
        barrier: &'a mut dyn FnMut(),
    ) -> Self {
        Self {
            number,
            ranks,
            barrier,
            waits: 0,
            gate,
            passed: 0,
            arrivals: 0,
            // 1 is the seed of the published inputs.
            random: (number == 0).then(|| Random48::new(1)),
            offers: 0,
        }
    }

    pub(super) fn number(&self) -> usize {
        self.number
    }

    pub(super) fn ranks(&self) -> usize {
        self.ranks
    }

    /// Whether this is rank 0, which runs the sequential parts.
    pub(super) fn leads(&self) -> bool {
        self.number == 0
    }

    /// This rank's part of the points. Parts are equal, and the last rank also has the remainder,
    /// as in PARSEC's program.
    pub(super) fn part(&self, points: usize) -> Range<usize> {
        let size = points / self.ranks;
        let first = size * self.number;
        if self.number + 1 == self.ranks {
            first..points
        } else {
            first..first + size
        }
    }

    /// Waits for all other ranks.
    pub(super) fn barrier(&mut self) {
        self.waits += 1;
        (self.barrier)();
    }

    /// How often this rank has waited at the barrier.
    pub(super) fn waits(&self) -> u64 {
        self.waits
    }

    /// The other ranks wait here until rank 0 also calls this.
    pub(super) fn follow(&mut self) {
        self.passed += 1;
        if self.leads() {
            self.gate.open();
        } else {
            self.gate.pass(self.passed);
        }
    }

    /// Rank 0 waits here until all other ranks call this.
    pub(super) fn gather(&mut self) {
        self.arrivals += 1;
        if self.leads() {
            self.gate.wait_for_all(self.arrivals);
        } else {
            self.gate.arrive();
        }
    }

    /// The random numbers.
    ///
    /// # Panics
    ///
    /// If this is not rank 0.
    fn random(&mut self) -> &mut Random48 {
        P::compute(DRAW);
        self.random.as_mut().expect("rank 0 draws the lots")
    }

    /// Draws a number from 0 to 1, on rank 0.
    pub(super) fn unit(&mut self) -> f32 {
        self.random().unit()
    }

    /// Puts `count` things in a random order, on rank 0, by exchanges of two.
    pub(super) fn shuffle(&mut self, count: usize, swap: impl Fn(usize, usize)) {
        for first in 0..count.saturating_sub(1) {
            let other = first + self.random().below(count - first);
            swap(first, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_platform::Native;

    #[test]
    fn the_parts_are_all_points_once() {
        for (points, ranks) in [(10, 1), (10, 3), (10, 64), (16, 4), (4096, 7)] {
            let gate = Gate::<Native>::new(ranks);
            let parts = (0..ranks).flat_map(|number| {
                Rank::<Native>::new(number, ranks, &gate, &mut || ()).part(points)
            });
            assert!(parts.eq(0..points), "{points} points, {ranks} ranks");
        }
    }

    #[test]
    fn shuffling_loses_nothing() {
        let gate = Gate::<Native>::new(1);
        let mut barrier = || ();
        let mut rank = Rank::<Native>::new(0, 1, &gate, &mut barrier);
        let things = std::cell::RefCell::new((0..50).collect::<Vec<_>>());
        rank.shuffle(50, |a, b| things.borrow_mut().swap(a, b));
        let mut things = things.into_inner();
        assert!(!things.is_sorted());
        things.sort_unstable();
        assert!(things.into_iter().eq(0..50));
    }
}
