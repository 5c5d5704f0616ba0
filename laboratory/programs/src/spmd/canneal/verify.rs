//! Checks that every element still has a place, and that the wires are no longer than before.

use super::locations::Place;
use super::{Canneal, Netlist, WrongAnswer};
use manycore_platform::Platform;

/// After the run the wires may be longer by this many standard deviations. By chance one placement in 10^15 exceeds
/// this.
const DEVIATIONS: f64 = 8.0;

impl<P: Platform> Canneal<P> {
    /// The total length of the wires, in columns and rows.
    #[must_use]
    pub fn cost(&self) -> u64 {
        let places: Vec<Place> = (0..self.netlist.elements())
            .map(|element| self.locations.of(element))
            .collect();
        self.netlist.length(&places)
    }

    /// The total length of the wires before the run.
    #[must_use]
    pub fn cost_at_start(&self) -> u64 {
        self.netlist.length(&self.start)
    }

    /// Checks that the places are a permutation of the places before the run, and that the wires are no longer than
    /// chance explains.
    pub(super) fn check(&self) -> Result<(), WrongAnswer> {
        let mut places: Vec<Option<Place>> = self.locations.all().collect();
        places.sort();
        let mut start: Vec<_> = self.start.iter().copied().map(Some).collect();
        start.sort();
        let lost = (0..start.len()).filter(|&it| places.binary_search(&start[it]).is_err());
        let lost = lost.count();
        if lost > 0 || places != start {
            return Err(WrongAnswer {
                what: "the number of places that an element has lost".into(),
                found: lost as f64,
                expected: 0.0,
                tolerance: 0.0,
            });
        }
        let (found, expected) = (self.cost() as f64, self.cost_at_start() as f64);
        let tolerance = DEVIATIONS * self.netlist.deviation();
        if found > expected + tolerance {
            return Err(WrongAnswer {
                what: "the routing cost".into(),
                found,
                expected,
                tolerance,
            });
        }
        Ok(())
    }
}

impl Netlist {
    fn length(&self, places: &[Place]) -> u64 {
        let length = |element: usize| -> u64 {
            let wires = self.fanin.get(element).iter();
            wires
                .map(|&from| places[element].distance(places[from as usize]))
                .sum()
        };
        (0..self.elements()).map(length).sum()
    }

    /// An upper bound on the standard deviation of the difference between the total lengths of two random placements.
    ///
    /// At any temperature long wires are less likely than by chance. Annealing begins at a random placement. So
    /// annealing is not expected to lengthen the wires, and its effect on their total length varies no more than the
    /// difference between two random placements. A wire between two random places of `X` columns and `Y` rows has a
    /// length with a variance of `(X^2 + Y^2) / 18`. The lengths of two wires are correlated only if the wires share an
    /// element, and then their covariance is at most that variance. So the variance of the total is at most the
    /// variance of one wire times the number of ordered pairs of wires that share an element. Each wire with itself is
    /// such a pair. An element with `d` ends of wires has `d (d - 1)` pairs of different wires.
    fn deviation(&self) -> f64 {
        let wire = (f64::from(self.columns).powi(2) + f64::from(self.rows).powi(2)) / 18.0;
        let shared = |element| {
            let ends = self.neighbours.get(element).len() as f64;
            ends * (ends - 1.0)
        };
        let pairs: f64 = (0..self.elements()).map(shared).sum();
        (2.0 * wire * (self.wires() as f64 + pairs)).sqrt()
    }
}
