//! The points of the checksum.

use super::fft::LANES;
use super::phases::FtSize;

/// The number of points.
pub(super) const POINTS: usize = 1_024;

/// The points in the columns of each item of the last phase.
pub(super) struct Points {
    /// The beginning of each item's points, and the end of the last item's points.
    starts: Vec<u32>,
    points: Vec<FtPoint>,
}

#[derive(Clone, Copy)]
pub(super) struct FtPoint {
    /// The point's index in the sum.
    pub(super) number: usize,
    /// The point's index in the box.
    pub(super) at: usize,
}

impl Points {
    /// Point j, from 1 to 1,024, is at (j, 3j, 5j), modulo the sides.
    pub(super) fn new(size: &FtSize) -> Self {
        let [nx, ny, nz] = size.sides;
        let item_of = |at: usize| at % (nx * ny) / LANES;
        let point = |j: usize| FtPoint {
            number: j - 1,
            at: j % nx + nx * (3 * j % ny + ny * (5 * j % nz)),
        };
        let mut points: Vec<FtPoint> = (1..=POINTS).map(point).collect();
        points.sort_by_key(|point| item_of(point.at));
        let mut starts = vec![0; nx * ny / LANES + 1];
        for point in &points {
            starts[item_of(point.at) + 1] += 1;
        }
        for item in 1..starts.len() {
            starts[item] += starts[item - 1];
        }
        Self { starts, points }
    }

    pub(super) fn of(&self, item: usize) -> &[FtPoint] {
        &self.points[self.starts[item] as usize..self.starts[item + 1] as usize]
    }
}
