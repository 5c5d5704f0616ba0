//! The moves of one grain (indivisible part of a step).

use super::locations::{Locations, Place};
use super::netlist::Netlist;
use manycore_platform::Platform;

/// A sequence of moves, with its own random numbers.
pub(super) struct Annealing<'a, P: Platform> {
    netlist: &'a Netlist,
    locations: &'a Locations<P>,
    temperature: f64,
    random: fastrand::Rng,
    /// The last move's second element, which is the next move's first.
    last: usize,
    /// The number of ends of wires that moves have looked at.
    ends: usize,
}

/// The counts of a grain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Moves that changed places.
    pub(super) made: usize,
    /// Ends of wires that were looked at.
    pub(super) ends: usize,
}

impl<'a, P: Platform> Annealing<'a, P> {
    pub(super) fn new(
        netlist: &'a Netlist,
        locations: &'a Locations<P>,
        temperature: f64,
        mut random: fastrand::Rng,
    ) -> Self {
        Self {
            netlist,
            locations,
            temperature,
            last: random.usize(..netlist.elements()),
            random,
            ends: 0,
        }
    }

    /// Tries `moves` moves.
    pub(super) fn run(mut self, moves: usize) -> Tally {
        let made = (0..moves).filter(|_| self.try_move()).count();
        Tally {
            made,
            ends: self.ends,
        }
    }

    fn try_move(&mut self) -> bool {
        let a = self.last;
        let b = self.random.usize(..self.netlist.elements() - 1);
        let b = if b < a { b } else { b + 1 };
        self.last = b;
        // Other ranks (threads of the team) can move these elements and their neighbours now, so `change` can be out of
        // date. Annealing tolerates that, as it tolerates moves that lengthen wires.
        let (at_a, at_b) = (self.locations.of(a), self.locations.of(b));
        let change = self.change(a, at_a, at_b) + self.change(b, at_b, at_a);
        let accepted =
            change < 0 || (-(change as f64) / self.temperature).exp() > self.random.f64();
        accepted && self.locations.swap(a, b)
    }

    /// How much longer the element's wires would be at `to`, if no other element moved.
    fn change(&mut self, element: usize, from: Place, to: Place) -> i64 {
        P::read(self.netlist.neighbours.bounds(element));
        let neighbours = self.netlist.neighbours.get(element);
        P::read(neighbours);
        self.ends += neighbours.len();
        let longer = |&other: &u32| {
            let at = self.locations.of(other as usize);
            to.distance(at) as i64 - from.distance(at) as i64
        };
        neighbours.iter().map(longer).sum()
    }
}

/// The random numbers of a grain. They do not depend on the rank that runs it.
pub(super) fn random(seed: u64, step: usize, grain: usize) -> fastrand::Rng {
    // Nearby seeds must not give similar sequences. So the parts are multiplied by random odd
    // numbers, and one generator seeds another.
    let mixed = seed
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add((step as u64).wrapping_mul(0xD1B5_4A32_D192_ED03))
        .wrapping_add((grain as u64).wrapping_mul(0x8CB9_2BA7_2F3D_8DD7));
    fastrand::Rng::with_seed(fastrand::Rng::with_seed(mixed).u64(..))
}
