//! Checks forces against direct summation, and the conservation of energy and momentum.

use super::declared::BarnesPhases;
use super::moments::Pull;
use super::region::Vector;
use super::slot::Node;
use super::tree::{Point, ROOT, place};
use super::{Barnes, WrongAnswer};
use manycore_platform::{Atomic, Ordering::Relaxed, Platform};

/// The number of bodies for which the forces are also summed directly.
const SAMPLE: usize = 256;

/// The tolerance of a mean of many small errors, in standard deviations.
const DEVIATIONS: f64 = 8.0;

/// The differences between the accelerations of the last step and those by direct summation. The unit is the root mean
/// square of the accelerations by direct summation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Errors {
    /// The root mean square error of the sampled bodies.
    pub root_mean_square: f64,
    /// The median error.
    pub median: f64,
    /// The greatest error.
    pub greatest: f64,
    /// The unit of the errors: the root mean square acceleration by direct summation, where the
    /// total mass and the constant of gravity are 1.
    pub acceleration: f64,
}

/// Totals over all bodies at the time of the last forces.
struct Totals {
    kinetic: f64,
    momentum: Vector,
}

impl<P: Platform> Barnes<P> {
    /// Compares the forces on up to 256 bodies with direct summation over all bodies, after the
    /// run.
    ///
    /// ```
    /// use manycore_programs::spmd::barnes::{Barnes, BarnesProblem};
    /// use manycore_programs::spmd::{Alone, Program, Ranked, Sums};
    /// use manycore_platform::Native;
    ///
    /// let program = Barnes::<Native>::new(BarnesProblem::new(1_000)?);
    /// let (mut alone, sums) = (Alone, Sums::new(program.grains()));
    /// // SAFETY: a team of one rank, with its own sums.
    /// unsafe { program.run(&mut Ranked::<Native>::new(&mut alone, &sums)) };
    /// assert!(program.errors().median < 0.02);
    /// # Ok::<(), manycore_programs::spmd::barnes::InvalidBarnes>(())
    /// ```
    pub fn errors(&self) -> Errors {
        // SAFETY: the run is over.
        let points = unsafe { self.points[(self.problem.steps - 1) % 2].all() };
        let softening2 = self.problem.softening.powi(2);
        let sample = SAMPLE.min(points.len());
        let mut square = 0.0;
        let off = (0..sample).map(|it| {
            let body = it * points.len() / sample;
            let exact = directly(points, body, softening2).acceleration;
            // SAFETY: the run is over.
            let found = unsafe { self.motions.get(body) }.acceleration;
            square += exact.iter().map(|it| it * it).sum::<f64>();
            let off = (0..3).map(|axis| (exact[axis] - found[axis]).powi(2));
            off.sum::<f64>()
        });
        let mut off: Vec<f64> = off.collect();
        off.sort_by(f64::total_cmp);
        let acceleration = (square / sample as f64).sqrt();
        let mean = off.iter().sum::<f64>() / sample as f64;
        Errors {
            root_mean_square: mean.sqrt() / acceleration,
            median: off[sample / 2].sqrt() / acceleration,
            greatest: off[sample - 1].sqrt() / acceleration,
            acceleration,
        }
    }

    fn totals(&self) -> Totals {
        let mass = 1.0 / self.problem.bodies as f64;
        // Velocities belong to half a step after the time of the forces.
        let back = self.problem.time / 2.0;
        let mut totals = Totals {
            kinetic: 0.0,
            momentum: [0.0; 3],
        };
        // SAFETY: the run is over.
        for motion in unsafe { self.motions.all() } {
            for axis in 0..3 {
                let velocity = motion.velocity[axis] - back * motion.acceleration[axis];
                totals.kinetic += mass * velocity * velocity / 2.0;
                totals.momentum[axis] += mass * velocity;
            }
        }
        totals
    }

    /// Checks three claims. All bodies were in the tree, with their masses. The errors of forces are as expected from
    /// the tree. These errors explain the changes of energy and momentum.
    ///
    /// # The error of a force
    ///
    /// The pull of a cell from its mass and quadrupole leaves out the octupole and higher terms. The root mean square
    /// distance of a place in a cube from its middle is half an edge, so if a cell is only just not opened, its mass is
    /// within `theta / 2` of the cell's distance. If all of the mass is that far from the middle, on one side, its
    /// octupole pulls with `4 (theta / 2)^3` times the pull of the mass at the middle, times the third Legendre
    /// polynomial. The root mean square of that polynomial over all directions is `1 / sqrt(7)`, which gives 0.19
    /// theta^3. A body interacts with `K` cells, about a hundred. The errors of the cells have independent directions,
    /// so their sum grows as `sqrt(K)`. The sum of the pulls grows nearly as `K`. So the relative error of a force is
    /// `error = 0.19 theta^3 / sqrt(K)`. The tolerance is twice `error` for the root mean square of all bodies, and
    /// twice the error of one cell for the worst body.
    ///
    /// # Energy and momentum
    ///
    /// Let `T` be the time between the first and the last forces. Errors that stay the same during `T` change a body's
    /// momentum by up to `T a error`, and its energy by `v` times that value. At the first and at the last forces the
    /// relative error of the potential is `error / 4`, since a multipole of order `l` contributes `l + 1` times as much
    /// to a force, relatively, as to the potential. Half the potential belongs to each body. Errors of different bodies
    /// are nearly independent, so the error of a mean over all bodies is smaller by the square root of the number of
    /// bodies. The tolerance is eight times the error of the mean. The leapfrog by itself changes the energy by up to
    /// `(w time)^2 / 12` of the work. `w` is the frequency of a body in the steepest field. `w^2` has two terms:
    /// `m / 2 a^3` at the centre of a sphere of scale `a`, and the pull of one other body as near as the softening
    /// allows.
    pub(super) fn check(&self) -> Result<(Errors, f64), WrongAnswer> {
        let problem = &self.problem;
        let bodies = problem.bodies as f64;
        for (step, log) in self.logs.iter().enumerate() {
            let found = log.bodies.load(Relaxed) as f64;
            let what = || format!("the number of bodies in the tree of step {step}");
            within(what, found, bodies, 0.0)?;
        }
        // SAFETY: the run is over.
        let mass = unsafe { self.tree.moments(Node::Cell(ROOT)) }.mass;
        let rounding = bodies * f64::EPSILON;
        within(|| "the mass in the tree".into(), mass, 1.0, rounding)?;

        let octupole = 0.19 * problem.theta.powi(3);
        let cells = BarnesPhases::new(*problem).wholes().max(1.0);
        let error = octupole / cells.sqrt();
        let errors = self.errors();
        let what = || "the mean error of accelerations".into();
        within(what, errors.root_mean_square, 0.0, 2.0 * error)?;
        let what = || "the greatest error of an acceleration".into();
        within(what, errors.greatest, 0.0, 2.0 * octupole)?;

        let Totals { kinetic, momentum } = self.totals();
        let time = problem.time * (problem.steps - 1) as f64;
        let pushed = time * errors.acceleration;
        let of_mean = DEVIATIONS / bodies.sqrt();
        for (axis, (found, start)) in momentum.iter().zip(self.momentum_at_start).enumerate() {
            let what = || format!("the momentum along axis {axis}");
            within(what, *found, start, of_mean * pushed * error + rounding)?;
        }
        let energy = |step: usize| f64::from_bits(self.logs[step].energy.load(Relaxed));
        let (start, end) = (energy(0), energy(problem.steps - 1));
        let work = (2.0 * kinetic).sqrt() * pushed;
        let of_potentials = 2.0_f64.sqrt() * (end - kinetic).abs() * error / 4.0;
        let swing2 = 2.45 + 1.0 / (bodies * problem.softening.powi(3));
        let leapfrog = work * swing2 * problem.time.powi(2) / 12.0;
        let tolerance = of_mean * (work * error).hypot(of_potentials) + leapfrog;
        within(|| "the energy".into(), end, start, tolerance)?;
        Ok((errors, end - start))
    }
}

fn within(
    what: impl FnOnce() -> String,
    found: f64,
    expected: f64,
    tolerance: f64,
) -> Result<(), WrongAnswer> {
    // The comparison is not `> tolerance`, since a NaN must fail.
    if (found - expected).abs() <= tolerance {
        return Ok(());
    }
    Err(WrongAnswer {
        what: what(),
        found,
        expected,
        tolerance,
    })
}

/// The pull of all other bodies on a body, by direct summation.
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
