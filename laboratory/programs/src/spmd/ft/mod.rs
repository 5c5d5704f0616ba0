//! FT of the NAS parallel benchmarks: a diffusion equation, solved by Fourier transforms of
//! a box.
//!
//! The specification is Bailey et al., "The NAS parallel benchmarks", RNR-94-007, 1994. A state of random numbers is
//! transformed once. Iteration t multiplies the transform by `exp(-4 α π² t k²)`, where k is the wave number, and
//! transforms the product back. The checksum is the sum of 1,024 numbers of the result.
//!
//! # Waits
//!
//! The box is transformed along one axis after the other, with a wait at a barrier after each. So an iteration has
//! three waits. The first transform also multiplies the state; the last also copies the numbers of the checksum. With
//! fewer waits, a phase would have only one item for each plane, and each item would take milliseconds.
//!
//! # Differences from NPB
//!
//! NPB's program multiplies the state by the same table in each iteration. This program multiplies the state by three
//! factors, one for each axis. So it only reads the state, and needs no table of the state's size. NPB's timed run
//! includes the making of the initial state. Here one thread makes the state before the timed run. As in NPB, the sums
//! are divided by the number of elements, and the transform is not.

mod complex;
mod fft;
mod phases;
mod points;
mod reference;

pub use phases::FtPhases;

use super::randlc::Randlc;
use super::{Class, Declaration, Phase, Program, Shared, Verified, Worksharing, WrongAnswer};
use complex::Complex;
use fft::{Fft, FftRow, LANES};
use manycore_platform::Platform;
use phases::FtSize;
use points::{POINTS, Points};
use std::f64::consts::PI;
use std::marker::PhantomData;
use std::ops::Range;

/// The program.
///
/// ```
/// use manycore_programs::spmd::{Alone, Class, Ft, Program, Ranked, Sums};
/// use manycore_platform::Native;
///
/// let ft = Ft::<Native>::new(Class::S);
/// let (mut alone, sums) = (Alone, Sums::new(ft.grains()));
/// // SAFETY: a team of one rank, with its own sums.
/// unsafe { ft.run(&mut Ranked::<Native>::new(&mut alone, &sums)) };
/// let verified = ft.verify()?.to_string();
/// assert_eq!(verified, "checksum 554.2683411903 + 493.2597244941i");
/// # Ok::<(), manycore_programs::spmd::WrongAnswer>(())
/// ```
pub struct Ft<P: Platform> {
    class: Class,
    phases: FtPhases,
    ffts: [Fft; 3],
    /// The initial state. The run replaces it by its transform.
    state: Shared<Complex>,
    /// The state in the current iteration.
    evolved: Shared<Complex>,
    /// For each iteration, the factors along each axis.
    factors: Vec<[Vec<f64>; 3]>,
    points: Points,
    /// For each iteration, the numbers of the checksum.
    taken: Shared<Complex>,
    platform: PhantomData<fn() -> P>,
}

/// The equation's α.
const DIFFUSIVITY: f64 = 1e-6;
/// The relative tolerance of a checksum's parts.
const TOLERANCE: f64 = 1e-12;

impl<P: Platform> Ft<P> {
    /// Makes the initial state of this class. The memory is 32 bytes for each number: 8 MB for class S, 270 MB for A,
    /// 1.1 GB for B and 4.3 GB for C.
    #[must_use]
    pub fn new(class: Class) -> Self {
        let phases = FtPhases::of(class);
        let size = phases.size;
        let nothing = |numbers| Shared::from(vec![Complex::default(); numbers]);
        Self {
            class,
            phases,
            ffts: size.sides.map(Fft::new),
            state: Shared::from(initial(&size)),
            evolved: nothing(size.numbers()),
            factors: (1..=size.iterations)
                .map(|iteration| factors(&size, iteration))
                .collect(),
            points: Points::new(&size),
            taken: nothing(POINTS * size.iterations),
            platform: PhantomData,
        }
    }

    /// The checksum of each iteration, real and imaginary part, after the run.
    #[must_use]
    pub fn checksums(&self) -> Vec<(f64, f64)> {
        let numbers = self.phases.size.numbers() as f64;
        let checksum = |iteration: usize| {
            let taken = iteration * POINTS..(iteration + 1) * POINTS;
            // SAFETY: only the run writes these numbers, and the run is over.
            let taken = unsafe { self.taken.part(taken) };
            let sum = taken.iter().fold(Complex::default(), |sum, &one| sum + one);
            (sum.re / numbers, sum.im / numbers)
        };
        (0..self.phases.size.iterations).map(checksum).collect()
    }

    /// Transforms the initial state.
    fn forward(&self, sharing: &mut dyn Worksharing) {
        let [x, y, z] = [0, 1, 2].map(|axis| self.phases.before()[axis]);
        let state = &self.state;
        sharing.share(&x, &|items| {
            for item in items {
                let lines = self.lines(item);
                // SAFETY: a body touches only those lines of the state that belong to its items.
                let rows = self
                    .transformed_lines(unsafe { state.read::<P>(lines.clone()) }, |_, _, it| it);
                // SAFETY: as above, and the slice for reading is no longer used.
                self.put_lines(&rows, unsafe { state.write::<P>(lines) });
            }
        });
        for (axis, phase) in [(1, y), (2, z)] {
            self.columns(sharing, &phase, axis, state, |it| it, |_| ());
        }
    }

    /// Runs one iteration. Iterations are counted from 0.
    fn step(&self, sharing: &mut dyn Worksharing, iteration: usize) {
        let [nx, ny, _] = self.phases.size.sides;
        let [along_x, along_y, along_z] = &self.factors[iteration];
        sharing.share(&self.phases.evolve(), &|items| {
            for item in items {
                let lines = self.lines(item);
                let line = lines.start / nx;
                let (z, y) = (along_z[line / ny], &along_y[line % ny..][..LANES]);
                let scales: [f64; LANES] = std::array::from_fn(|lane| z * y[lane]);
                // SAFETY: this phase only reads the state.
                let state = unsafe { self.state.read::<P>(lines.clone()) };
                let rows = self.transformed_lines(state, |x, lane, number| {
                    // The inverse transform is the transform with the real and imaginary parts swapped before and
                    // after.
                    number.scaled(along_x[x] * scales[lane]).swapped()
                });
                // SAFETY: a body touches only the lines of its items.
                self.put_lines(&rows, unsafe { self.evolved.write::<P>(lines) });
            }
        });
        let back_along_y = self.phases.back_along_y();
        self.columns(sharing, &back_along_y, 1, &self.evolved, |it| it, |_| ());
        let back_along_z = self.phases.back_along_z();
        self.columns(
            sharing,
            &back_along_z,
            2,
            &self.evolved,
            Complex::swapped,
            |item| {
                for point in self.points.of(item) {
                    let to = iteration * POINTS + point.number;
                    // SAFETY: the point lies in this item's columns, so no other item touches the point or its copy.
                    unsafe { self.taken.set(to, self.evolved.get(point.at)) };
                }
            },
        );
    }

    /// The numbers of an item's `LANES` lines along x.
    fn lines(&self, item: usize) -> Range<usize> {
        let numbers = LANES * self.phases.size.sides[0];
        item * numbers..(item + 1) * numbers
    }

    /// Transforms lines along x. Before the transform, `bring` replaces each number. Its arguments are the number's x,
    /// the number's line and the number.
    fn transformed_lines(
        &self,
        lines: &[Complex],
        bring: impl Fn(usize, usize, Complex) -> Complex,
    ) -> Vec<FftRow> {
        let nx = self.phases.size.sides[0];
        let lines: [&[Complex]; LANES] = std::array::from_fn(|lane| &lines[lane * nx..][..nx]);
        let row = |x: usize| FftRow::from_fn(|lane| bring(x, lane, lines[lane][x]));
        let mut rows: Vec<FftRow> = (0..nx).map(row).collect();
        self.ffts[0].transform(&mut rows);
        rows
    }

    fn put_lines(&self, rows: &[FftRow], lines: &mut [Complex]) {
        let nx = self.phases.size.sides[0];
        for (x, place) in self.ffts[0].order().enumerate() {
            let row = &rows[place];
            for lane in 0..LANES {
                lines[lane * nx + x] = row.element(lane);
            }
        }
    }

    /// Transforms `numbers` in place along y (1) or z (2). `out` replaces each number of the result. `after` is called
    /// after each item.
    fn columns(
        &self,
        sharing: &mut dyn Worksharing,
        phase: &Phase,
        axis: usize,
        numbers: &Shared<Complex>,
        out: impl Fn(Complex) -> Complex + Sync,
        after: impl Fn(usize) + Sync,
    ) {
        let [nx, ny, _] = self.phases.size.sides;
        let fft = &self.ffts[axis];
        let (stride, beside) = if axis == 1 {
            (nx, nx)
        } else {
            (nx * ny, nx * ny)
        };
        sharing.share(phase, &|items| {
            for item in items {
                // Columns are numbered in the order of their first numbers in memory.
                let foot = LANES * item;
                let foot = foot / beside * (beside * self.phases.size.sides[axis]) + foot % beside;
                let part = |at: usize| {
                    let first = foot + at * stride;
                    first..first + LANES
                };
                let row = |at: usize| {
                    // SAFETY: a body touches only the columns of its items.
                    let part = unsafe { numbers.read::<P>(part(at)) };
                    FftRow::from_fn(|lane| part[lane])
                };
                let mut rows: Vec<FftRow> = (0..self.phases.size.sides[axis]).map(row).collect();
                fft.transform(&mut rows);
                for (at, place) in fft.order().enumerate() {
                    // SAFETY: as above, and the slices for reading are no longer used.
                    let part = unsafe { numbers.write::<P>(part(at)) };
                    for (lane, number) in part.iter_mut().enumerate() {
                        *number = out(rows[place].element(lane));
                    }
                }
                after(item);
            }
        });
    }
}

/// Random numbers, in their order in memory.
fn initial(size: &FtSize) -> Vec<Complex> {
    let mut random = Randlc::new();
    let number = |_| Complex {
        re: random.draw(),
        im: random.draw(),
    };
    (0..size.numbers()).map(number).collect()
}

/// `exp(-4 α π² t k²)` along each axis. In the first half of a side, k is the index; in the second
/// half it is the index minus the side.
fn factors(size: &FtSize, iteration: usize) -> [Vec<f64>; 3] {
    size.sides.map(|side| {
        let factor = |at: usize| {
            let wave = at as f64 - if 2 * at < side { 0.0 } else { side as f64 };
            let time = iteration as f64;
            (-4.0 * DIFFUSIVITY * PI * PI * time * wave * wave).exp()
        };
        (0..side).map(factor).collect()
    })
}

impl<P: Platform> Program for Ft<P> {
    /// No phase has a sum.
    fn grains(&self) -> usize {
        0
    }

    unsafe fn run(&self, sharing: &mut dyn Worksharing) {
        self.forward(sharing);
        for iteration in 0..self.phases.size.iterations {
            self.step(sharing, iteration);
        }
    }

    fn verify(&self) -> Result<Verified, WrongAnswer> {
        let found = self.checksums();
        let expected = reference::checksums(self.class);
        for (iteration, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let parts = [
                ("real", found.0, expected.re),
                ("imaginary", found.1, expected.im),
            ];
            for (part, found, expected) in parts {
                // This form counts a NaN as wrong.
                let right = (found - expected).abs() <= TOLERANCE * expected.abs();
                if !right {
                    return Err(WrongAnswer {
                        what: format!("{part} part of checksum {}", iteration + 1),
                        found,
                        expected,
                        tolerance: TOLERANCE,
                    });
                }
            }
        }
        let last = found.last().copied().unwrap_or_default();
        Ok(Verified(format!(
            "checksum {:.10} + {:.10}i",
            last.0, last.1
        )))
    }
}
