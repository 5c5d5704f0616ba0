//! BT of the NAS parallel benchmarks: a viscous gas in a cube. A time step is implicit along one
//! direction after the other, and solves block-tridiagonal equations line by line.
//!
//! The specification is Bailey et al., "The NAS parallel benchmarks", RNR-94-007, 1994, section 4:
//! the compressible Navier-Stokes equations without mixed derivatives. A forcing term makes a given
//! polynomial their steady solution.
//!
//! | file | what |
//! |---|---|
//! | `gas` | the equations along one direction, and their derivatives |
//! | `residual` | the right side of the equations: differences of second order, and damping |
//! | `tridiagonal`, `block` | the implicit equations of a line |
//! | `grid` | the layout in memory; lines through the cube |
//! | `lanes` | several lines at a time, for vector instructions |
//! | `exact` | the exact solution, and the initial field |
//! | `reference`, `phases` | classes, published norms; phases and their costs |
//!
//! # Waits
//!
//! A step has three waits at barriers, one after each direction. Lines of one direction are independent, and the next
//! direction reads the results of all lines. The first phase also computes the right side, since the field changes only
//! in the third phase. The third phase also adds its solution to the field, since the equations of a line depend only
//! on that line of the field. NPB's program has about 15 waits for each step: it computes the right side term by term,
//! and adds the solution in a separate loop.
//!
//! # Differences from NPB
//!
//! The arithmetic follows the specification except for the order of sums. The momentum along the solved direction comes
//! first in each equation, so one solver serves all directions. The Jacobians are computed once at each point for each
//! direction, and not stored.
//!
//! NPB's program runs one untimed step first, and then starts again. This program does not.

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
/// // SAFETY: a team of one rank, with its own sums.
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
    /// The part of the field's change in the current step that is already computed.
    change: Shared<f64>,
    forcing: Vec<f64>,
    platform: PhantomData<fn() -> P>,
}

impl<P: Platform> Bt<P> {
    /// Makes the problem of a class. Class C takes half a gigabyte and some seconds.
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

    /// Makes the problem of a class with another number of steps. No result is published for such a problem, so the
    /// program cannot verify its answer.
    ///
    /// ```
    /// use manycore_programs::spmd::{Alone, Bt, Class, Program, Ranked, Sums};
    /// use manycore_platform::Native;
    ///
    /// let bt = Bt::<Native>::shortened(Class::S, 2);
    /// let before = bt.norms().error;
    /// let (mut alone, sums) = (Alone, Sums::new(bt.grains()));
    /// // SAFETY: a team of one rank, with its own sums.
    /// unsafe { bt.run(&mut Ranked::<Native>::new(&mut alone, &sums)) };
    /// // The field approaches the exact solution.
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

    /// Computes the right side of some rows, and solves the first direction.
    fn begin(&self, lines: Range<usize>) {
        let Self { grid, change, .. } = self;
        let direction = DIRECTIONS[0];
        // SAFETY: this phase does not write the field.
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
                // SAFETY: only a row's own line writes that row of the change.
                let _ = unsafe { change.write::<P>(grid.row(start)) };
            }
            solve(
                &mut workspace,
                &self.weights[0],
                |point| bundle.states(point, |index| field[index]),
                |point| right[point],
                |point, found| {
                    bundle.store(point, found, |index, value| {
                        // SAFETY: as above, and no reference is alive.
                        unsafe { change.set(index, value) }
                    });
                },
            );
        }
    }

    /// Solves the second direction for the change.
    fn go_on(&self, lines: Range<usize>) {
        let Self { grid, change, .. } = self;
        // SAFETY: this phase does not write the field.
        let field = unsafe { self.field.all() };
        let mut workspace = Workspace::new(grid.inner());
        for first in lines.step_by(LANES) {
            let bundle = grid.bundle(DIRECTIONS[1], first);
            bundle.runs(1..grid.points, |run| P::read(&field[run]));
            bundle.runs(1..grid.points - 1, |run| {
                // SAFETY: only a point's own line writes that point of the change.
                let _ = unsafe { change.write::<P>(run) };
            });
            solve(
                &mut workspace,
                &self.weights[1],
                |point| bundle.states(point, |index| field[index]),
                // SAFETY: as above, and no reference is alive.
                |point| bundle.states(point, |index| unsafe { change.get(index) }),
                |point, found| {
                    bundle.store(point, found, |index, value| {
                        // SAFETY: as above.
                        unsafe { change.set(index, value) }
                    });
                },
            );
        }
    }

    /// Solves the third direction, and adds the change to the field.
    fn end(&self, lines: Range<usize>) {
        let Self { grid, field, .. } = self;
        // SAFETY: this phase does not write the change.
        let change = unsafe { self.change.all() };
        let mut workspace = Workspace::new(grid.inner());
        for first in lines.step_by(LANES) {
            let bundle = grid.bundle(DIRECTIONS[2], first);
            bundle.runs(1..grid.points - 1, |run| P::read(&change[run]));
            bundle.runs(1..grid.points - 1, |run| {
                // SAFETY: only a point's own line reads and writes that point of the field.
                let _ = unsafe { field.write::<P>(run) };
            });
            solve(
                &mut workspace,
                &self.weights[2],
                // SAFETY: as above, and no reference is alive. No thread writes a line's ends.
                |point| bundle.states(point, |index| unsafe { field.get(index) }),
                |point| bundle.states(point, |index| change[index]),
                |point, found| {
                    bundle.store(point, found, |index, value| {
                        // SAFETY: as above.
                        unsafe { field.set(index, field.get(index) + value) }
                    });
                },
            );
        }
    }

    /// Measures how far the field is from the exact solution. To be called before or after a run.
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
                // This form counts a NaN as wrong.
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
