//! The sequential parts: reading a block of points, and making centres from a clustering.

use super::batch::Batch;
use super::rank::Rank;
use super::{Centre, StreamclusterProblem};
use manycore_platform::Platform;

/// Instructions to read a coordinate, without its random number, and to merge a coordinate into a
/// centre.
const READ: u64 = 5;
const MERGE: u64 = 8;

/// Points. The coordinates of one point follow those of the point before.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) coordinates: Vec<f32>,
    pub(super) weights: Vec<f32>,
}

impl Block {
    /// Rank 0 (the team's first thread) reads points from the stream of random numbers.
    pub(super) fn read<P: Platform>(rank: &mut Rank<P>, points: usize, dimensions: usize) -> Self {
        let coordinates = points * dimensions;
        let mut block = Self {
            coordinates: (0..coordinates).map(|_| rank.unit()).collect(),
            weights: vec![1.0; points],
        };
        P::compute(READ * coordinates as u64);
        P::write(&mut block.coordinates);
        block
    }

    /// The centres of all blocks, as the points of the last search.
    pub(super) fn of_centres<P: Platform>(centres: &[Centre]) -> Self {
        let mut block = Self {
            coordinates: centres
                .iter()
                .flat_map(|c| &c.coordinates)
                .copied()
                .collect(),
            weights: centres.iter().map(|centre| centre.weight).collect(),
        };
        P::compute(READ * block.coordinates.len() as u64);
        P::write(&mut block.coordinates);
        block
    }
}

/// Moves each centre that has points to their mean, and gives the centre their weight. `id` returns the centre's number
/// from its index and row.
pub(super) fn consolidate<P: Platform>(
    batch: &Batch<P>,
    problem: &StreamclusterProblem,
    id: impl Fn(usize, usize) -> usize,
) -> Vec<Centre> {
    let mut coordinates = batch.coordinates().to_vec();
    let mut weights: Vec<f32> = batch.points.iter().map(|point| point.weight()).collect();
    let mut serves = vec![false; weights.len()];
    for (index, point) in batch.points.iter().enumerate() {
        let centre = point.centre();
        serves[centre] = true;
        if centre == index {
            continue;
        }
        let share = weights[index] / (weights[centre] + weights[index]);
        let (to, from) = (batch.coordinates_of(centre), batch.coordinates_of(index));
        for (to, from) in to.clone().zip(from.clone()) {
            // The numbers are rounded as in PARSEC's program.
            let kept = f64::from(coordinates[to]) * (1.0 - f64::from(share));
            coordinates[to] = kept as f32 + coordinates[from] * share;
        }
        weights[centre] += weights[index];
        P::compute(MERGE * problem.dimensions as u64);
        P::read(&coordinates[from]);
        P::write(&mut coordinates[to]);
    }
    let centre = |index: usize| Centre {
        id: id(index, batch.points[index].row() as usize),
        weight: weights[index],
        coordinates: coordinates[batch.coordinates_of(index)].to_vec(),
    };
    (0..weights.len())
        .filter(|&index| serves[index])
        .map(centre)
        .collect()
}
