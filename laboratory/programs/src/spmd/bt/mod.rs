//! BT of the NAS parallel benchmarks: a viscous gas in a cube, by implicit steps along one
//! direction after the other. Each step solves block-tridiagonal equations line by line.
//!
//! By the specification (Bailey et al., "The NAS parallel benchmarks", RNR-94-007, 1994, section
//! 4): the compressible Navier-Stokes equations without mixed derivatives, with a forcing term that
//! makes a given polynomial their steady solution.
//!
//! | file | what |
//! |---|---|
//! | `gas` | the equations along one direction, and their derivatives |
//! | `residual` | the right side: differences of second order, and damping |
//! | `tridiagonal`, `block` | the implicit equations of a line |
//! | `grid` | where numbers are in memory; lines through the cube |
//! | `lanes` | lines side by side, for vector instructions |
//! | `exact` | the exact solution, and what a run begins with |
//! | `reference`, `phases` | classes, published norms; phases and what they cost |
//!
//! # Waits
//!
//! A step has three: lines of one direction are independent, and the next direction reads
//! what all of the last have left. The right side of a row is computed by whoever then
//! solves along that row, since the field does not change until the third direction; and
//! that adds its solution to the field at once, since a line's equations hang on that line
//! of the field only. NPB's own program waits some 15 times a step: it computes the right
//! side term by term, and adds in a loop of its own.
//!
//! # What is ours
//!
//! The arithmetic follows the specification except for the order of sums. The equations of a
//! direction are turned so that the momentum along it comes first, so one solver does for all
//! three. The derivatives of the equations are computed where they are needed, at each point once a
//! direction, and are not kept.
//!
//! NPB's program takes one step before its clock starts, and then begins anew; this program does
//! not.

mod block;
mod exact;
mod gas;
mod grid;
mod lanes;
mod phases;
mod reference;
mod residual;
#[cfg(test)]
mod tests;
mod tridiagonal;

pub use phases::BtPhases;
pub use reference::Norms;

use super::{Class, Program, Shared, Verified, Worksharing, WrongAnswer};
use exact::{exact, initial};
use gas::Weights;
use grid::{DIRECTIONS, Grid};
use lanes::{LANES, Lanes, Real};
use manycore_platform::Platform;
use reference::{TOLERANCE, reference};
use residual::Residual;
use std::marker::PhantomData;
use std::ops::Range;
use tridiagonal::{Workspace, solve};

/// The program.
///
/// ```
/// use manycore_programs::spmd::{Alone, Bt, Class, Program, Ranked, Sums};
/// use manycore_platform::Native;
///
/// let bt = Bt::<Native>::new(Class::S);
/// let (mut alone, sums) = (Alone, Sums::new(bt.grains()));
/// // SAFETY: a team of one, whose sums nobody else has.
/// unsafe { bt.run(&mut Ranked::<Native>::new(&mut alone, &sums)) };
/// assert_eq!(bt.verify()?.to_string(), "residual 1.703428371e-1");
/// # Ok::<(), manycore_programs::spmd::WrongAnswer>(())
/// ```
pub struct Bt<P: Platform> {
    class: Class,
    grid: Grid,
    steps: usize,
    interval: f64,
    residual: Residual,
    weights: [Weights; 3],
    /// The conserved quantities, at every point.
    field: Shared<f64>,
    /// The step's change, as far as it is computed.
    change: Shared<f64>,
    forcing: Vec<f64>,
    platform: PhantomData<fn() -> P>,
}

impl<P: Platform> Bt<P> {
    /// The problem of a class: half a gigabyte and some seconds for class C.
    ///
    /// ```
    /// use manycore_programs::spmd::{Bt, Class};
    /// use manycore_platform::Native;
    ///
    /// let error = Bt::<Native>::new(Class::S).norms().error;
    /// assert!(error.iter().all(|&norm| norm > 0.1));
    /// ```
    #[must_use]
    pub fn new(class: Class) -> Self {
        Self::shortened(class, reference(class).steps)
    }

    /// The problem of a class, with another number of steps. Its result is not published, so it
    /// does not verify.
    ///
    /// ```
    /// use manycore_programs::spmd::{Alone, Bt, Class, Program, Ranked, Sums};
    /// use manycore_platform::Native;
    ///
    /// let bt = Bt::<Native>::shortened(Class::S, 2);
    /// let before = bt.norms().error;
    /// let (mut alone, sums) = (Alone, Sums::new(bt.grains()));
    /// // SAFETY: a team of one, whose sums nobody else has.
    /// unsafe { bt.run(&mut Ranked::<Native>::new(&mut alone, &sums)) };
    /// // It is on the way to the exact solution.
    /// assert!(bt.norms().error[0] < before[0]);
    /// ```
    #[must_use]
    pub fn shortened(class: Class, steps: usize) -> Self {
        let reference = reference(class);
        let grid = Grid::new(reference.points);
        let residual = Residual::new(grid);
        let mut forcing = vec![0.0; grid.len()];
        let exact = grid.filled(exact);
        for line in 0..grid.lines() {
            let row = grid.line(DIRECTIONS[0], line);
            let first = grid.at(row);
            residual.row(&exact, row, |x, sum| {
                for (quantity, values) in sum.iter().enumerate() {
                    let there = first + x + quantity * grid.quantity();
                    forcing[there..there + LANES].copy_from_slice(&(-*values).0);
                }
            });
        }
        Self {
            class,
            grid,
            steps,
            interval: reference.interval,
            weights: DIRECTIONS.map(|direction| {
                let weights = grid.weights(direction);
                Weights {
                    first: weights.first * reference.interval,
                    second: weights.second * reference.interval,
                    ..weights
                }
            }),
            residual,
            field: grid.filled(initial).into(),
            change: vec![0.0; grid.len()].into(),
            forcing,
            platform: PhantomData,
        }
    }

    /// The right side of some rows, and what the first direction makes of it.
    fn begin(&self, lines: Range<usize>) {
        let Self { grid, change, .. } = self;
        let direction = DIRECTIONS[0];
        // SAFETY: this phase writes nothing of the field.
        let field = unsafe { self.field.all() };
        let mut workspace = Workspace::new(grid.inner());
        let mut right = vec![[Lanes::of(0.0); 5]; grid.points];
        for first in lines.step_by(LANES) {
            for lane in 0..LANES {
                let row = grid.line(direction, first + lane);
                self.residual.reads(row, |run| P::read(&field[run]));
                let start = grid.at(row);
                let forcing = &self.forcing[grid.row(start)];
                P::read(forcing);
                self.residual.row(field, row, |x, sum| {
                    for (quantity, sum) in sum.iter().enumerate() {
                        let forcing = Lanes::load(&forcing[x + quantity * grid.quantity()..]);
                        let value = (*sum + forcing) * self.interval;
                        for (i, value) in value.0.into_iter().enumerate() {
                            right[x + i][quantity].0[lane] = value;
                        }
                    }
                });
            }
            let bundle = grid.bundle(direction, first);
            for lane in 0..LANES {
                let start = grid.at(grid.line(direction, first + lane));
                // SAFETY: a row of the change is written for its line only.
                let _ = unsafe { change.write::<P>(grid.row(start)) };
            }
            solve(
                &mut workspace,
                &self.weights[0],
                |point| bundle.states(point, |index| field[index]),
                |point| right[point],
                |point, found| {
                    bundle.store(point, found, |index, value| {
                        // SAFETY: see above; no reference is left.
                        unsafe { change.set(index, value) }
                    });
                },
            );
        }
    }

    /// The second direction's solution of the change.
    fn go_on(&self, lines: Range<usize>) {
        let Self { grid, change, .. } = self;
        // SAFETY: this phase writes nothing of the field.
        let field = unsafe { self.field.all() };
        let mut workspace = Workspace::new(grid.inner());
        for first in lines.step_by(LANES) {
            let bundle = grid.bundle(DIRECTIONS[1], first);
            bundle.runs(1..grid.points, |run| P::read(&field[run]));
            bundle.runs(1..grid.points - 1, |run| {
                // SAFETY: a point of the change is written for its line only.
                let _ = unsafe { change.write::<P>(run) };
            });
            solve(
                &mut workspace,
                &self.weights[1],
                |point| bundle.states(point, |index| field[index]),
                // SAFETY: see above; no reference is left.
                |point| bundle.states(point, |index| unsafe { change.get(index) }),
                |point, found| {
                    bundle.store(point, found, |index, value| {
                        // SAFETY: the same.
                        unsafe { change.set(index, value) }
                    });
                },
            );
        }
    }

    /// Adds the third direction's solution of the change to the field.
    fn end(&self, lines: Range<usize>) {
        let Self { grid, field, .. } = self;
        // SAFETY: this phase writes nothing of the change.
        let change = unsafe { self.change.all() };
        let mut workspace = Workspace::new(grid.inner());
        for first in lines.step_by(LANES) {
            let bundle = grid.bundle(DIRECTIONS[2], first);
            bundle.runs(1..grid.points - 1, |run| P::read(&change[run]));
            bundle.runs(1..grid.points - 1, |run| {
                // SAFETY: a point of the field is read and written for its line only.
                let _ = unsafe { field.write::<P>(run) };
            });
            solve(
                &mut workspace,
                &self.weights[2],
                // SAFETY: see above; no reference is left. No thread writes a line's ends.
                |point| bundle.states(point, |index| unsafe { field.get(index) }),
                |point| bundle.states(point, |index| change[index]),
                |point, found| {
                    bundle.store(point, found, |index, value| {
                        // SAFETY: the same.
                        unsafe { field.set(index, field.get(index) + value) }
                    });
                },
            );
        }
    }

    /// How far the field is from the exact solution, before a run or after it.
    ///
    /// ```
    /// use manycore_programs::spmd::{Bt, Class};
    /// use manycore_platform::Native;
    ///
    /// let bt = Bt::<Native>::new(Class::S);
    /// assert!(bt.norms().residual[0] > 1.0);
    /// ```
    #[must_use]
    pub fn norms(&self) -> Norms {
        let grid = &self.grid;
        // SAFETY: the run is over.
        let field = unsafe { self.field.all() };
        let mut residual = [0.0; 5];
        let mut error = [0.0; 5];
        for line in 0..grid.lines() {
            let row = grid.line(DIRECTIONS[0], line);
            let first = grid.at(row);
            let mut right = vec![[0.0; 5]; grid.points];
            self.residual.row(field, row, |x, sum| {
                for (quantity, sum) in sum.iter().enumerate() {
                    let there = first + x + quantity * grid.quantity();
                    let sum = *sum + Lanes::load(&self.forcing[there..]);
                    for lane in 0..LANES {
                        right[x + lane][quantity] = sum.0[lane];
                    }
                }
            });
            for x in 1..=grid.inner() {
                let exact = exact(grid.coordinates([x, row[1], row[2]]));
                for quantity in 0..5 {
                    residual[quantity] += right[x][quantity].powi(2);
                    let value = field[first + x + quantity * grid.quantity()];
                    error[quantity] += (value - exact[quantity]).powi(2);
                }
            }
        }
        let points = grid.inner().pow(3) as f64;
        Norms {
            residual: residual.map(|sum| (sum / points).sqrt()),
            error: error.map(|sum| (sum / points).sqrt()),
        }
    }
}

impl<P: Platform> Program for Bt<P> {
    fn grains(&self) -> usize {
        0
    }

    unsafe fn run(&self, sharing: &mut dyn Worksharing) {
        let phases = BtPhases::of(self.class);
        let [x, y, z] = [phases.first(), phases.second(), phases.third()];
        for _ in 0..self.steps {
            sharing.share(&x, &|lines| self.begin(lines));
            sharing.share(&y, &|lines| self.go_on(lines));
            sharing.share(&z, &|lines| self.end(lines));
        }
    }

    fn verify(&self) -> Result<Verified, WrongAnswer> {
        let expected = reference(self.class).norms;
        let found = self.norms();
        let pairs = [
            ("residual", found.residual, expected.residual),
            ("error", found.error, expected.error),
        ];
        for (what, found, expected) in pairs {
            for quantity in 0..5 {
                let (found, expected) = (found[quantity], expected[quantity]);
                // So that a NaN is wrong, too.
                let right = (found - expected).abs() <= TOLERANCE * expected;
                if !right {
                    return Err(WrongAnswer {
                        what: format!("norm {} of the {what}", quantity + 1),
                        found,
                        expected,
                        tolerance: TOLERANCE,
                    });
                }
            }
        }
        Ok(Verified(format!("residual {:.9e}", found.residual[0])))
    }
}
