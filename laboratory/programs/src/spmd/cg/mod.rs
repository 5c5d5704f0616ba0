//! CG of the NAS parallel benchmarks: an estimate of the largest eigenvalue of an unstructured
//! sparse matrix.
//!
//! The specification is Bailey et al., "The NAS parallel benchmarks", RNR-94-007, 1994. The method is a shifted inverse
//! power method. Each (outer) iteration solves equations by 25 inner iterations of the conjugate gradient method.
//! Nearly all time goes into products of the matrix with a vector, whose elements are read in random order.
//!
//! # Waits
//!
//! An inner iteration has three waits at barriers: after the product of matrix and vector, whose phase sums `p q`;
//! after the step along p, whose phase sums `r²`; and before the next product, which reads all of p. The last inner
//! iteration needs no new direction p, so it has two waits. An outer iteration adds two waits: one after its start,
//! which scales x to length 1, and one after the residual and the final sums. Together an outer iteration has 76 waits.
//!
//! NPB's program runs one untimed iteration first, and then starts again. This program does not.

mod matrix;
mod phases;
mod size;

pub use phases::CgPhases;

use super::{Class, Program, Shared, Verified, Worksharing, WrongAnswer};
use manycore_platform::Platform;
use matrix::SparseMatrix;
use phases::INNER;
use std::marker::PhantomData;

/// The program.
///
/// ```
/// use manycore_programs::spmd::{Alone, Cg, Class, Program, Ranked, Sums};
/// use manycore_platform::Native;
///
/// let cg = Cg::<Native>::new(Class::S);
/// let (mut alone, sums) = (Alone, Sums::new(cg.grains()));
/// // SAFETY: a team of one rank, with its own sums.
/// unsafe { cg.run(&mut Ranked::<Native>::new(&mut alone, &sums)) };
/// assert_eq!(cg.verify()?.to_string(), "zeta 8.5971775078648");
/// # Ok::<(), manycore_programs::spmd::WrongAnswer>(())
/// ```
pub struct Cg<P: Platform> {
    phases: CgPhases,
    matrix: SparseMatrix,
    x: Shared<f64>,
    z: Shared<f64>,
    p: Shared<f64>,
    q: Shared<f64>,
    r: Shared<f64>,
    /// For each iteration, the final sums of each grain (call of a phase's body).
    ends: Shared<CgEnd>,
    platform: PhantomData<fn() -> P>,
}

/// Sums at the end of an iteration.
#[derive(Clone, Copy, Debug, Default)]
struct CgEnd {
    /// (x - A z)²
    residual: f64,
    /// x z
    along: f64,
    /// z²
    square: f64,
}

/// The relative tolerance of zeta.
const TOLERANCE: f64 = 1e-10;

impl<P: Platform> Cg<P> {
    /// Makes the matrix of this class. This takes 0.2 s for class A, 7 s and 600 MB for C.
    #[must_use]
    #[expect(
        clippy::missing_panics_doc,
        reason = "the elements of each class were counted"
    )]
    pub fn new(class: Class) -> Self {
        let phases = CgPhases::of(class);
        let size = phases.size;
        let matrix = SparseMatrix::new(&size, phases.product().grain);
        assert_eq!(matrix.entries(), size.entries, "what was declared");
        let vector = |value| Shared::from(vec![value; size.rows]);
        let grains = grains(&phases);
        Self {
            phases,
            matrix,
            x: vector(0.0),
            // z gives the first x.
            z: vector(1.0),
            p: vector(0.0),
            q: vector(0.0),
            r: vector(0.0),
            ends: Shared::from(vec![CgEnd::default(); grains * size.iterations]),
            platform: PhantomData,
        }
    }

    /// Zeta of each iteration, after the run.
    #[must_use]
    pub fn zetas(&self) -> Vec<f64> {
        let zeta = |iteration| self.phases.size.shift + 1.0 / self.end(iteration).along;
        (0..self.phases.size.iterations).map(zeta).collect()
    }

    /// The norm of x - A z in each iteration, after the run.
    #[must_use]
    pub fn residuals(&self) -> Vec<f64> {
        let residual = |iteration| self.end(iteration).residual.sqrt();
        (0..self.phases.size.iterations).map(residual).collect()
    }

    /// Starts an iteration with x = z times `scale`. Returns x².
    fn start(&self, sharing: &mut dyn Worksharing, scale: f64) -> f64 {
        sharing.sum(&self.phases.start(), &|items| {
            // SAFETY: a body touches only its items of each vector.
            let (x, z, p, r) = unsafe {
                (
                    self.x.write::<P>(items.clone()),
                    self.z.write::<P>(items.clone()),
                    self.p.write::<P>(items.clone()),
                    self.r.write::<P>(items),
                )
            };
            let mut sum = 0.0;
            for (((x, z), p), r) in x.iter_mut().zip(z).zip(p).zip(r) {
                *x = scale * *z;
                *z = 0.0;
                *p = *x;
                *r = *x;
                sum += *x * *x;
            }
            sum
        })
    }

    /// Solves A z = x approximately.
    fn solve(&self, sharing: &mut dyn Worksharing, mut rho: f64) {
        for inner in 1..=INNER {
            let alpha = rho / self.product(sharing);
            let before = rho;
            rho = self.advance(sharing, alpha);
            if inner < INNER {
                self.direction(sharing, rho / before);
            }
        }
    }

    fn product(&self, sharing: &mut dyn Worksharing) -> f64 {
        sharing.sum(&self.phases.product(), &|rows| {
            // SAFETY: this phase only reads p, and a body touches only its rows of q.
            let (p, q) = unsafe { (self.p.all(), self.q.write::<P>(rows.clone())) };
            let first = rows.start;
            let mut sum = 0.0;
            self.matrix.multiply::<P>(rows, p, |row, product| {
                q[row - first] = product;
                sum += p[row] * product;
            });
            sum
        })
    }

    fn advance(&self, sharing: &mut dyn Worksharing, alpha: f64) -> f64 {
        sharing.sum(&self.phases.advance(), &|items| {
            // SAFETY: a body touches only its items of each vector.
            let (p, q, z, r) = unsafe {
                (
                    self.p.read::<P>(items.clone()),
                    self.q.read::<P>(items.clone()),
                    self.z.write::<P>(items.clone()),
                    self.r.write::<P>(items),
                )
            };
            let mut sum = 0.0;
            for (((p, q), z), r) in p.iter().zip(q).zip(z).zip(r) {
                *z += alpha * p;
                *r -= alpha * q;
                sum += *r * *r;
            }
            sum
        })
    }

    fn direction(&self, sharing: &mut dyn Worksharing, beta: f64) {
        sharing.share(&self.phases.direction(), &|items| {
            // SAFETY: a body touches only its items of each vector.
            let (r, p) = unsafe { (self.r.read::<P>(items.clone()), self.p.write::<P>(items)) };
            for (r, p) in r.iter().zip(p) {
                *p = r + beta * *p;
            }
        });
    }

    fn residual(&self, sharing: &mut dyn Worksharing, iteration: usize) -> CgEnd {
        let phase = self.phases.residual();
        sharing.share(&phase, &|rows| {
            // SAFETY: this phase only reads x and z.
            let (x, z) = unsafe { (self.x.read::<P>(rows.clone()), self.z.all()) };
            let (first, grain) = (rows.start, rows.start / phase.grain);
            let mut end = CgEnd::default();
            self.matrix.multiply::<P>(rows, z, |row, product| {
                let x = x[row - first];
                end.residual += (x - product) * (x - product);
                end.along += x * z[row];
                end.square += z[row] * z[row];
            });
            let at = iteration * grains(&self.phases) + grain;
            // SAFETY: each grain has its own element in each iteration.
            unsafe { self.ends.write::<P>(at..at + 1)[0] = end };
        });
        self.end(iteration)
    }

    fn end(&self, iteration: usize) -> CgEnd {
        let grains = grains(&self.phases);
        let mut sum = CgEnd::default();
        // SAFETY: the phase that wrote these sums is over, and no later phase writes them.
        let ends = unsafe { self.ends.part(iteration * grains..(iteration + 1) * grains) };
        for end in ends {
            sum.residual += end.residual;
            sum.along += end.along;
            sum.square += end.square;
        }
        sum
    }
}

/// The number of grains of a phase with rows as items.
fn grains(phases: &CgPhases) -> usize {
    let phase = phases.residual();
    phase.items.div_ceil(phase.grain)
}

impl<P: Platform> Program for Cg<P> {
    fn grains(&self) -> usize {
        let summed = [
            self.phases.start(),
            self.phases.product(),
            self.phases.advance(),
        ];
        let grains = summed.map(|phase| phase.items.div_ceil(phase.grain));
        grains.into_iter().max().unwrap_or_default()
    }

    unsafe fn run(&self, sharing: &mut dyn Worksharing) {
        let mut scale = 1.0;
        for iteration in 0..self.phases.size.iterations {
            let rho = self.start(sharing, scale);
            self.solve(sharing, rho);
            let end = self.residual(sharing, iteration);
            P::compute(3 * grains(&self.phases) as u64);
            scale = 1.0 / end.square.sqrt();
        }
    }

    fn verify(&self) -> Result<Verified, WrongAnswer> {
        let Some(&zeta) = self.zetas().last() else {
            unreachable!("every class has iterations");
        };
        let expected = self.phases.size.zeta;
        // This form counts a NaN as wrong.
        if (zeta - expected).abs() <= TOLERANCE * expected {
            return Ok(Verified(format!("zeta {zeta:.13}")));
        }
        Err(WrongAnswer {
            what: "zeta of the last iteration".into(),
            found: zeta,
            expected,
            tolerance: TOLERANCE,
        })
    }
}
