//! The points of one local search, and the tables that ranks (threads of the team) share.

use super::amount::{Amount, Scale};
use super::{StreamclusterProblem, scratch::Scratch};
use manycore_platform::{Atomic, Ordering::Relaxed, Platform};
use std::ops::Range;

/// Instructions to compute and use a distance, without coordinates and accesses to tables, and then for four
/// coordinates. Callgrind counted all such constants of this program in the release build on x86-64.
const DISTANCE: u64 = 56;
const FOUR_COORDINATES: u64 = 19;

/// A point, and its assignment to a centre.
///
/// All shared data are atomic, with relaxed accesses, which compile to plain loads and stores. Barriers order the
/// accesses. If a barrier fails to do so, results are wrong, and [`verify`](super::Solution::verify) notices, but there
/// is no undefined behaviour.
pub(super) struct BatchPoint<P: Platform> {
    /// The row of the point's coordinates. The search shuffles points, not coordinates.
    row: P::AtomicU32,
    /// The bits of the weight: how many points of the stream this point represents.
    weight: P::AtomicU32,
    /// The index of the point that is this point's centre.
    centre: P::AtomicU32,
    /// The point's cost: weight times squared distance from its centre.
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
/// Tables that affect coherence traffic have the layout of PARSEC's program: a table of points, one-byte flags, and
/// adjacent words for the ranks.
pub(super) struct Batch<P: Platform> {
    pub(super) scale: Scale,
    dimensions: usize,
    coordinates: Vec<f32>,
    pub(super) points: Box<[BatchPoint<P>]>,
    /// Whether the point is a centre.
    pub(super) open: Box<[P::AtomicBool]>,
    /// Whether the point would move to the new centre that the search tries.
    pub(super) moves: Box<[P::AtomicBool]>,
    /// The number of each centre, which is its column in the scratch table.
    pub(super) column: Box<[P::AtomicU32]>,
    /// The points to try as centres, in order.
    pub(super) candidates: Box<[P::AtomicU32]>,
    /// For each rank, the sum over its points.
    pub(super) sums: Box<[P::AtomicU64]>,
    pub(super) scratch: Scratch<P>,
    pub(super) notes: Box<Notes<P>>,
}

/// Messages of rank 0 to the others.
pub(super) struct Notes<P: Platform> {
    /// The point to open next, or [`NOBODY`] at the end.
    pub(super) next: P::AtomicU32,
    /// The number of open centres.
    pub(super) open: P::AtomicU32,
    /// The number of centres that the new centre would close.
    pub(super) closing: P::AtomicU32,
    /// The cost of the clustering, with or without the new centre.
    pub(super) cost: P::AtomicU64,
}

/// Stands for no point.
pub(super) const NOBODY: u32 = u32::MAX;

impl<P: Platform> Batch<P> {
    /// Makes a batch of points with these weights. `coordinates` holds the points' coordinates, one
    /// point after the other.
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

    /// The indices of a point's coordinates.
    pub(super) fn coordinates_of(&self, point: usize) -> Range<usize> {
        let first = self.points[point].row() as usize * self.dimensions;
        first..first + self.dimensions
    }

    /// The cost of each of `points` at `centre`.
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

/// The squared Euclidean distance. It is one sum, in order, so that rounding is as in PARSEC's program.
pub(super) fn distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Exchanges two words that no other rank accesses meanwhile.
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
