//! FT of the NAS parallel benchmarks: a diffusion equation, solved by Fourier transforms of
//! a box.
//!
//! By the specification (Bailey et al., "The NAS parallel benchmarks", RNR-94-007, 1994):
//! a state of random numbers is transformed once; in each iteration t that is multiplied
//! by `exp(-4 α π² t k²)`, where k is how often a wave fits into the box, and transformed
//! back; 1,024 numbers of the result are summed as a check.
//!
//! # Waits
//!
//! A transform of the box is one along each axis, with a wait after each: three an
//! iteration. The state evolves while it is brought in along the first axis, and the
//! numbers to be summed are taken while it is brought out along the last. Fewer would
//! leave no more items than the box has planes, of milliseconds each.
//!
//! # What is the program's and what is ours
//!
//! NPB's program multiplies the state by the same table in each iteration. Here the
//! factors of each iteration are products of three, one an axis: the state is only read,
//! and there is no table as large as it. NPB's clock runs while the initial state is made,
//! which is here done before, by one thread. As there, the transform back is not divided
//! by how many numbers there are; sums are.

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
/// // SAFETY: a team of one, whose sums nobody else has.
/// unsafe { ft.run(&mut Ranked::<Native>::new(&mut alone, &sums)) };
/// let verified = ft.verify()?.to_string();
/// assert_eq!(verified, "checksum 554.2683411903 + 493.2597244941i");
/// # Ok::<(), manycore_programs::spmd::WrongAnswer>(())
/// ```
pub struct Ft<P: Platform> {
    class: Class,
    phases: FtPhases,
    ffts: [Fft; 3],
    /// The initial state, and then its transform.
    state: Shared<Complex>,
    /// The state of an iteration.
    evolved: Shared<Complex>,
    /// For each iteration, the factors along each axis.
    factors: Vec<[Vec<f64>; 3]>,
    points: Points,
    /// For each iteration, the numbers to be summed.
    taken: Shared<Complex>,
    platform: PhantomData<fn() -> P>,
}

/// α of the equation.
const DIFFUSIVITY: f64 = 1e-6;
/// The relative tolerance of a checksum's parts.
const TOLERANCE: f64 = 1e-12;

impl<P: Platform> Ft<P> {
    /// With the initial state of this class. Takes 32 bytes a number: 8 MB for class S,
    /// 270 MB for A, 1.1 GB for B and 4.3 GB for C.
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

    /// After the run: the checksum of each iteration, real and imaginary part.
    #[must_use]
    pub fn checksums(&self) -> Vec<(f64, f64)> {
        let numbers = self.phases.size.numbers() as f64;
        let checksum = |iteration: usize| {
            let taken = iteration * POINTS..(iteration + 1) * POINTS;
            // SAFETY: they are written in the run, which is over.
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
                // SAFETY: of the state a body touches the lines of its items only.
                let rows = self
                    .transformed_lines(unsafe { state.read::<P>(lines.clone()) }, |_, _, it| it);
                // SAFETY: as above, and what was read is no longer borrowed.
                self.put_lines(&rows, unsafe { state.write::<P>(lines) });
            }
        });
        for (axis, phase) in [(1, y), (2, z)] {
            self.columns(sharing, &phase, axis, state, |it| it, |_| ());
        }
    }

    /// One iteration, from 0.
    fn step(&self, sharing: &mut dyn Worksharing, iteration: usize) {
        let [nx, ny, _] = self.phases.size.sides;
        let [along_x, along_y, along_z] = &self.factors[iteration];
        sharing.share(&self.phases.evolve(), &|items| {
            for item in items {
                let lines = self.lines(item);
                let line = lines.start / nx;
                let (z, y) = (along_z[line / ny], &along_y[line % ny..][..LANES]);
                let scales: [f64; LANES] = std::array::from_fn(|lane| z * y[lane]);
                // SAFETY: it is only read in this phase.
                let state = unsafe { self.state.read::<P>(lines.clone()) };
                let rows = self.transformed_lines(state, |x, lane, number| {
                    // Back is forward with the parts swapped, before and after.
                    number.scaled(along_x[x] * scales[lane]).swapped()
                });
                // SAFETY: a body touches the lines of its items only.
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
                    // SAFETY: the point is in the columns of this item, which is the only
                    // one to take it.
                    unsafe { self.taken.set(to, self.evolved.get(point.at)) };
                }
            },
        );
    }

    /// The numbers of as many lines along x as are transformed together.
    fn lines(&self, item: usize) -> Range<usize> {
        let numbers = LANES * self.phases.size.sides[0];
        item * numbers..(item + 1) * numbers
    }

    /// Transforms lines along x of the numbers that `bring` makes from x and line.
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

    /// Transforms `numbers` in place along y (1) or z (2). `out` is what becomes of each
    /// number at last; `after` is called for each item that is done.
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
                // Items are numbered along the plane, or line, that columns stand on.
                let foot = LANES * item;
                let foot = foot / beside * (beside * self.phases.size.sides[axis]) + foot % beside;
                let part = |at: usize| {
                    let first = foot + at * stride;
                    first..first + LANES
                };
                let row = |at: usize| {
                    // SAFETY: a body touches the columns of its items only.
                    let part = unsafe { numbers.read::<P>(part(at)) };
                    FftRow::from_fn(|lane| part[lane])
                };
                let mut rows: Vec<FftRow> = (0..self.phases.size.sides[axis]).map(row).collect();
                fft.transform(&mut rows);
                for (at, place) in fft.order().enumerate() {
                    // SAFETY: as above, and nothing that was read is still borrowed.
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

/// Random numbers, in the order of memory.
fn initial(size: &FtSize) -> Vec<Complex> {
    let mut random = Randlc::new();
    let number = |_| Complex {
        re: random.draw(),
        im: random.draw(),
    };
    (0..size.numbers()).map(number).collect()
}

/// `exp(-4 α π² t k²)` along each axis, where k goes from 0 up, and in the second half
/// from half the side below 0.
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
    /// None is summed.
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
                // Also wrong if it is no number.
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
