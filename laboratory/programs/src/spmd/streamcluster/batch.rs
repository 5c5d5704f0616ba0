//! The points of one local search and what the ranks share about them.

use super::amount::{Amount, Scale};
use super::{StreamclusterProblem, scratch::Scratch};
use manycore_platform::{Atomic, Ordering::Relaxed, Platform};
use std::ops::Range;

/// Instructions of a distance and its use, besides those of each coordinate and accesses to tables;
/// and of four coordinates. Callgrind's counts of the release build on x86-64, as for all such
/// constants of this program.
const DISTANCE: u64 = 56;
const FOUR_COORDINATES: u64 = 19;

/// A point: which one, and its place in the clustering.
///
/// All that is shared is atomic, with relaxed accesses, which are plain loads
/// and stores on the hosts there are: barriers order them. With a barrier that
/// does not, results are wrong, which [`verify`](super::Solution::verify) finds
/// out, and no more than that.
pub(super) struct BatchPoint<P: Platform> {
    /// The row of its coordinates. Points are shuffled, coordinates are not.
    row: P::AtomicU32,
    /// The bits of its weight, the number of points it stands for.
    weight: P::AtomicU32,
    /// The point that is its centre.
    centre: P::AtomicU32,
    /// The cost of being served from there.
    cost: P::AtomicU64,
}

impl<P: Platform> BatchPoint<P> {
    pub(super) fn row(&self) -> u32 {
        self.row.load(Relaxed)
    }

    pub(super) fn weight(&self) -> f32 {
        f32::from_bits(self.weight.load(Relaxed))
    }

    pub(super) fn centre(&self) -> usize {
        self.centre.load(Relaxed) as usize
    }

    pub(super) fn cost(&self) -> Amount {
        self.cost.load(Relaxed).cast_signed()
    }

    /// Assigns the point to `centre`.
    pub(super) fn assign(&self, centre: usize, cost: Amount) {
        self.cost.store(cost.cast_unsigned(), Relaxed);
        self.centre.store(centre as u32, Relaxed);
    }
}

/// The points of one local search, with the tables that ranks share.
///
/// The layout is the published one where coherence traffic hangs on it: a table
/// of points, flags of a byte each, a word a rank side by side.
pub(super) struct Batch<P: Platform> {
    pub(super) scale: Scale,
    dimensions: usize,
    coordinates: Vec<f32>,
    pub(super) points: Box<[BatchPoint<P>]>,
    /// Whether the point is a centre.
    pub(super) open: Box<[P::AtomicBool]>,
    /// Whether the point would move to the centre on offer.
    pub(super) moves: Box<[P::AtomicBool]>,
    /// The number of a centre, and so its column in the scratch table.
    pub(super) column: Box<[P::AtomicU32]>,
    /// The points that may be opened, in the order of their offers.
    pub(super) candidates: Box<[P::AtomicU32]>,
    /// The sum over each rank's points.
    pub(super) sums: Box<[P::AtomicU64]>,
    pub(super) scratch: Scratch<P>,
    pub(super) notes: Box<Notes<P>>,
}

/// Messages of rank 0 to the others.
pub(super) struct Notes<P: Platform> {
    /// The point to open next, or [`NOBODY`].
    pub(super) next: P::AtomicU32,
    /// How many centres there are.
    pub(super) open: P::AtomicU32,
    /// How many centres the offer would close.
    pub(super) closing: P::AtomicU32,
    /// The cost of the clustering, or of the offer.
    pub(super) cost: P::AtomicU64,
}

/// No point.
pub(super) const NOBODY: u32 = u32::MAX;

impl<P: Platform> Batch<P> {
    /// Points with weights; their coordinates are side by side.
    pub(super) fn new(
        problem: &StreamclusterProblem,
        ranks: usize,
        coordinates: Vec<f32>,
        weights: &[f32],
    ) -> Self {
        let points = weights.len();
        let flags = || (0..points).map(|_| Atomic::new(false)).collect();
        let point = |(row, weight): (usize, &f32)| BatchPoint {
            row: Atomic::new(row as u32),
            weight: Atomic::new(weight.to_bits()),
            centre: Atomic::new(0),
            cost: Atomic::new(0),
        };
        let batch = Self {
            scale: Scale::of(problem),
            dimensions: problem.dimensions,
            coordinates,
            points: weights.iter().enumerate().map(point).collect(),
            open: flags(),
            moves: flags(),
            column: words32::<P>(points),
            candidates: words32::<P>(problem.candidates(points)),
            sums: words64::<P>(ranks),
            scratch: Scratch::new(ranks),
            notes: Box::new(Notes {
                next: Atomic::new(NOBODY),
                open: Atomic::new(0),
                closing: Atomic::new(0),
                cost: Atomic::new(0),
            }),
        };
        P::name(&*batch.coordinates, "streamcluster coordinates");
        P::name(&*batch.points, "streamcluster points");
        P::name(&*batch.open, "streamcluster open centres");
        P::name(&*batch.moves, "streamcluster moves");
        P::name(&*batch.column, "streamcluster columns");
        P::name(&*batch.candidates, "streamcluster candidates");
        P::name(&*batch.sums, "streamcluster sums");
        P::name(&*batch.notes, "streamcluster notes");
        batch
    }

    pub(super) fn coordinates(&self) -> &[f32] {
        &self.coordinates
    }

    /// The places of a point's coordinates.
    pub(super) fn coordinates_of(&self, point: usize) -> Range<usize> {
        let first = self.points[point].row() as usize * self.dimensions;
        first..first + self.dimensions
    }

    /// The cost of each of `points` if `centre` served it.
    pub(super) fn costs(
        &self,
        points: Range<usize>,
        centre: usize,
    ) -> impl Iterator<Item = (usize, Amount)> {
        let to = &self.coordinates[self.coordinates_of(centre)];
        P::read(to);
        points.map(move |point| {
            let from = &self.coordinates[self.coordinates_of(point)];
            P::read(from);
            P::compute(DISTANCE + FOUR_COORDINATES * self.dimensions as u64 / 4);
            let cost = distance(from, to) * self.points[point].weight();
            (point, self.scale.amount(cost))
        })
    }

    /// Exchanges two points.
    pub(super) fn swap(&self, a: usize, b: usize) {
        let (a, b) = (&self.points[a], &self.points[b]);
        swap(&a.row, &b.row);
        swap(&a.weight, &b.weight);
        swap(&a.centre, &b.centre);
        swap(&a.cost, &b.cost);
    }
}

/// The square of the Euclidean distance. One sum, in order: the published
/// results are rounded so.
pub(super) fn distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Exchanges the values of two words that no other rank knows at the time.
fn swap<T: Copy>(a: &impl Atomic<T>, b: &impl Atomic<T>) {
    let kept = a.load(Relaxed);
    a.store(b.load(Relaxed), Relaxed);
    b.store(kept, Relaxed);
}

pub(super) fn words32<P: Platform>(count: usize) -> Box<[P::AtomicU32]> {
    (0..count).map(|_| Atomic::new(0)).collect()
}

pub(super) fn words64<P: Platform>(count: usize) -> Box<[P::AtomicU64]> {
    (0..count).map(|_| Atomic::new(0)).collect()
}
