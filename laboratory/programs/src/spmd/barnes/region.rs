//! Cubes of space, and the cube that holds all bodies.

use manycore_platform::{Atomic, Ordering::Relaxed, Platform};

/// A vector in space.
pub(super) type Vector = [f64; 3];

/// The cube of a cell or a leaf.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Region {
    pub(super) centre: Vector,
    /// Half the length of an edge.
    pub(super) half: f64,
}

impl Region {
    /// The number of the cube's eighth that contains a place.
    #[inline]
    pub(super) fn octant(&self, place: &Vector) -> usize {
        (0..3)
            .map(|axis| usize::from(place[axis] >= self.centre[axis]) << axis)
            .sum()
    }

    /// The cube of an eighth.
    #[inline]
    pub(super) fn part(&self, octant: usize) -> Self {
        let half = self.half / 2.0;
        let shift = |axis: usize| if octant >> axis & 1 == 1 { half } else { -half };
        Self {
            centre: std::array::from_fn(|axis| self.centre[axis] + shift(axis)),
            half,
        }
    }

    /// Whether a place is in the cube or on its faces.
    #[inline]
    pub(super) fn contains(&self, place: &Vector) -> bool {
        (0..3).all(|axis| (place[axis] - self.centre[axis]).abs() <= self.half)
    }
}

/// The least and the greatest of each coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    least: Vector,
    greatest: Vector,
}

impl Extent {
    /// The extent of no places.
    pub(super) const NONE: Self = Self {
        least: [f64::INFINITY; 3],
        greatest: [f64::NEG_INFINITY; 3],
    };

    #[inline]
    pub(super) fn with(self, place: &Vector) -> Self {
        Self {
            least: std::array::from_fn(|axis| self.least[axis].min(place[axis])),
            greatest: std::array::from_fn(|axis| self.greatest[axis].max(place[axis])),
        }
    }

    /// A slightly larger cube, so that no body is on its face.
    pub(super) fn cube(self) -> Region {
        let edge = |axis: usize| self.greatest[axis] - self.least[axis];
        let half = (0..3).map(edge).fold(0.0, f64::max) / 2.0;
        Region {
            centre: std::array::from_fn(|axis| (self.least[axis] + self.greatest[axis]) / 2.0),
            half: half * (1.0 + 1e-5) + f64::MIN_POSITIVE,
        }
    }
}

/// An extent that several threads widen at the same time.
///
/// Each of the six words holds a coordinate as bits that have the same order as the numbers. A compare-and-swap raises
/// a word that is too small. This soon becomes rare. The order of the threads does not change a maximum. All accesses
/// are relaxed: the words publish no other memory, and are read and reset after a barrier.
pub(super) struct Bounds<P: Platform>([P::AtomicU64; 6]);

impl<P: Platform> Bounds<P> {
    pub(super) fn new(extent: Extent) -> Self {
        let bounds = Self(std::array::from_fn(|_| Atomic::new(0)));
        bounds.widen(&extent);
        bounds
    }

    pub(super) fn widen(&self, extent: &Extent) {
        // The least coordinate is kept as the greatest negated coordinate.
        let least = extent.least.iter().map(|&it| rank(-it));
        let greatest = extent.greatest.iter().map(|&it| rank(it));
        for (bound, new) in self.0.iter().zip(least.chain(greatest)) {
            let mut old = bound.load(Relaxed);
            while old < new {
                match bound.compare_exchange(old, new, Relaxed, Relaxed) {
                    Ok(_) => break,
                    Err(now) => old = now,
                }
            }
        }
    }

    /// Returns the extent and empties it. No thread widens it meanwhile.
    pub(super) fn take(&self) -> Extent {
        let at = |bound: usize| {
            let value = unrank(self.0[bound].load(Relaxed));
            self.0[bound].store(0, Relaxed);
            value
        };
        Extent {
            least: std::array::from_fn(|axis| -at(axis)),
            greatest: std::array::from_fn(|axis| at(3 + axis)),
        }
    }
}

const SIGN: u64 = 1 << 63;

/// Maps numbers to bits in the same order.
fn rank(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

fn unrank(rank: u64) -> f64 {
    f64::from_bits(if rank & SIGN == 0 { !rank } else { rank ^ SIGN })
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_check::{Faulty, Loom, TornCas, caught, loom_model, team};

    #[test]
    fn eighths_contain_their_places() {
        let cube = Region {
            centre: [1.0, 2.0, 3.0],
            half: 4.0,
        };
        for octant in 0..8 {
            let part = cube.part(octant);
            assert_eq!(cube.octant(&part.centre), octant);
            assert!(cube.contains(&part.centre) && part.half == 2.0);
            assert!(!part.contains(&cube.part(7 - octant).centre));
        }
    }

    #[test]
    fn bits_are_ordered_as_numbers_are() {
        let numbers = [
            f64::NEG_INFINITY,
            -2.5,
            -1e-300,
            0.0,
            1e-300,
            2.5,
            f64::INFINITY,
        ];
        assert!(numbers.map(rank).is_sorted());
        assert_eq!(numbers.map(rank).map(unrank), numbers);
    }

    fn widened_by_all<P: Platform>() {
        let places = [[1.0, -2.0, 3.0], [-1.0, 2.0, -3.0]];
        let bounds = Bounds::<P>::new(Extent::NONE);
        team::<P>(2, |rank| bounds.widen(&Extent::NONE.with(&places[rank])));
        let expected = Extent::NONE.with(&places[0]).with(&places[1]);
        assert_eq!(bounds.take(), expected, "a place is out of bounds");
        let cube = expected.cube();
        assert!(places.iter().all(|place| cube.contains(place)));
    }

    #[test]
    fn two_threads_widen_bounds_in_most_interleavings() {
        loom_model(Some(2), widened_by_all::<Loom>);
        let torn = || loom_model(Some(2), widened_by_all::<Faulty<Loom, TornCas>>);
        assert!(caught(torn).contains("out of bounds"));
    }
}
