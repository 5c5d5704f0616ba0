//! Do bodies move as they should? Forces by direct summation; energy and momentum.

use super::moments::Pull;
use super::region::Vector;
use super::tree::{Point, place};
use super::{Barnes, WrongAnswer};
use manycore_platform::{Atomic, Ordering::Relaxed, Platform};

/// Bodies whose forces are summed directly.
const SAMPLE: usize = 256;

/// How far the accelerations of the last step are from those by direct summation, as parts
/// of the root mean square of these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Of all bodies looked at.
    pub root_mean_square: f64,
    /// Of the middle one.
    pub median: f64,
    /// Of the worst.
    pub greatest: f64,
    /// Of accelerations, in units in which the mass of all is 1.
    pub(super) acceleration: f64,
}

impl<P: Platform> Barnes<P> {
    pub(super) fn points_at_last(&self) -> &[Point] {
        // SAFETY: the run is over.
        unsafe { self.points[(self.problem.steps - 1) % 2].all() }
    }

    /// Compares the forces on some bodies with those by direct summation: up to 256 times
    /// the number of bodies.
    ///
    /// To be called after the run.
    pub fn errors(&self) -> Errors {
        let points = self.points_at_last();
        let softening2 = self.problem.softening.powi(2);
        let sample = SAMPLE.min(points.len());
        let mut square = 0.0;
        let mut off: Vec<f64> = (0..sample)
            .map(|it| {
                let body = it * points.len() / sample;
                let exact = directly(points, body, softening2).acceleration;
                // SAFETY: the run is over.
                let found = unsafe { self.motions.get(body) }.acceleration;
                square += exact.iter().map(|it| it * it).sum::<f64>();
                let off = (0..3).map(|axis| (exact[axis] - found[axis]).powi(2));
                off.sum::<f64>()
            })
            .collect();
        let acceleration = (square / sample as f64).sqrt();
        let mean = off.iter().sum::<f64>() / sample as f64;
        off.sort_by(f64::total_cmp);
        Errors {
            root_mean_square: mean.sqrt() / acceleration,
            median: off[sample / 2].sqrt() / acceleration,
            greatest: off[sample - 1].sqrt() / acceleration,
            acceleration,
        }
    }

    pub(super) fn check(&self) -> Result<(Errors, f64), WrongAnswer> {
        let errors = self.errors();
        let energy = f64::from_bits(self.logs[self.logs.len() - 1].energy.load(Relaxed));
        Ok((errors, energy))
    }
}

/// The pull on a body, of all others one by one.
fn directly(points: &[Point], body: usize, softening2: f64) -> Pull {
    let mut pull = Pull::default();
    let at = place(&points[body]);
    for (other, point) in points.iter().enumerate() {
        if other != body {
            let to = place(point);
            let way: Vector = std::array::from_fn(|axis| to[axis] - at[axis]);
            pull.add_mass(way, point[3], softening2);
        }
    }
    pull
}
