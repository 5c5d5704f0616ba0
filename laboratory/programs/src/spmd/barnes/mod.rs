//! SPLASH's Barnes: bodies attract each other. A far group of bodies counts as one body (J. Barnes and P. Hut, "A
//! hierarchical O(N log N) force-calculation algorithm", 1986).
//!
//! Space is a cube. A cube with more than ten bodies is divided into eight. The force on a body is summed from the
//! largest cube down. A cube counts as a whole, with its mass and its quadrupole, if its edge is less than theta times
//! its distance from the body. Any other cube is opened: its eight parts are considered instead. Then a leapfrog step
//! moves all bodies.
//!
//! | phase of a step | what |
//! |---|---|
//! | `barnes root` | one rank (a thread of the team) empties the tree, and makes a cube that holds all bodies |
//! | `barnes load` | all ranks put bodies into the tree, with a lock for each eighth of a cell (a divided cube) |
//! | `barnes moments` | all ranks compute masses, centres and second moments, from the leaves up |
//! | `barnes forces` | each rank computes the forces on the bodies of its zones (neighbouring bodies), moves these bodies, and widens the next cube |
//!
//! | file | what |
//! |---|---|
//! | `slot`, `tree` | the tree, its locks, and the computation of moments without waiting |
//! | `moments` | the moments of a cube, and its pull on a far body |
//! | `walk` | the forces on one body; the bodies of a zone |
//! | `region` | cubes; the extent of all bodies |
//! | `plummer` | the initial places of the bodies |
//! | `input`, `declared` | sizes by name; the work of a run, without its data |
//! | `verify` | forces by direct summation, energy, momentum |
//!
//! # Differences from SPLASH
//!
//! SPLASH's program has the same model of bodies, theta, softening, length and number of steps, leaves of up to ten
//! bodies, quadrupoles, a lock at the place of an insertion, and four barriers for each step. It also divides the
//! bodies, in the order of the tree, into zones of equal cost. The cost of a body is the number of its interactions in
//! the last step. The differences:
//!
//! * Within a phase a rank waits only for the lock of a slot (an eighth of a cell). A rank holds a lock for 0.1 us, and
//!   holds none at a safe point: safe points are between grains (indivisible parts of a phase). In SPLASH's program the
//!   rank that makes a cell's moments waits until other ranks have made the moments of the children. Here the rank that
//!   makes the last child's moments continues with the cell. So ranks can share a worker and be interrupted.
//! * A zone has the mean cost of two bodies, so there are many zones for each rank. A rank runs
//!   consecutive zones; a pool runs them as a loop.
//! * A cell that contains the body is always opened. If only the distance decided, such a cell would count as a whole
//!   when its centre of mass is far enough, and the body would attract itself. With theta above 0.58 that can happen
//!   (J. Salmon and M. Warren, "Skeletons from the treecode closet", 1994).
//! * New places of bodies go to separate memory, since other ranks can still read the old places to
//!   compute forces.
//! * Sums follow the order of the tree and of the bodies' numbers, so every bit of the results is the same for any
//!   number of ranks.

mod declared;
mod input;
mod moments;
mod plummer;
mod region;
mod slot;
#[cfg(test)]
mod tests;
mod tree;
mod verify;
mod walk;

pub use declared::BarnesPhases;
pub use input::{BarnesInput, BarnesProblem, InvalidBarnes};
pub use verify::Errors;

use super::{Program, Shared, Verified, Worksharing, WrongAnswer};
use manycore_platform::{Atomic, Ordering::Relaxed, Platform};
use region::{Bounds, Extent, Region, Vector};
use slot::Node;
use std::ops::Range;
use tree::{Point, ROOT, Tree};
use walk::Field;

/// The program: bodies, and the tree that each step builds.
///
/// ```
/// use manycore_programs::spmd::barnes::{Barnes, BarnesInput};
/// use manycore_programs::spmd::{Alone, Program, Ranked, Sums};
/// use manycore_platform::Native;
///
/// let program = Barnes::<Native>::new(BarnesInput::Tiny.problem());
/// let (mut alone, sums) = (Alone, Sums::new(program.grains()));
/// // SAFETY: a team of one rank, with its own sums.
/// unsafe { program.run(&mut Ranked::<Native>::new(&mut alone, &sums)) };
/// println!("{}", program.verify()?);
/// # Ok::<(), manycore_programs::spmd::WrongAnswer>(())
/// ```
pub struct Barnes<P: Platform> {
    problem: BarnesProblem,
    /// Places and masses of the current and the next step. The two change roles at each step.
    points: [Shared<Point>; 2],
    /// Interactions of each body in the last and the current step. The two change roles at each step.
    costs: [Shared<u32>; 2],
    motions: Shared<BodyMotion>,
    /// The bodies in the order of the last step's tree, so that neighbours are inserted one after the other.
    order: Shared<u32>,
    tree: Tree<P>,
    bounds: Bounds<P>,
    /// The cube that the tree divides.
    region: Shared<Region>,
    momentum_at_start: Vector,
    logs: Box<[Log<P>]>,
}

/// The motion of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BodyMotion {
    /// The velocity half a step after the time of the last forces. Before the first step, the velocity at the time of
    /// the first forces.
    velocity: Vector,
    acceleration: Vector,
}

/// The totals of a step. All ranks know them.
struct Log<P: Platform> {
    /// The bits of the total energy at the time of the step's forces.
    energy: P::AtomicU64,
    /// The number of bodies in the tree.
    bodies: P::AtomicU64,
}

impl<P: Platform> Barnes<P> {
    /// Makes bodies at their initial places, in about 350 bytes for each body.
    ///
    /// ```
    /// use manycore_programs::spmd::Program;
    /// use manycore_programs::spmd::barnes::{Barnes, BarnesProblem};
    /// use manycore_platform::Native;
    ///
    /// let program = Barnes::<Native>::new(BarnesProblem::new(100)?);
    /// assert!(program.verify().is_err()); // has not run
    /// # Ok::<(), manycore_programs::spmd::barnes::InvalidBarnes>(())
    /// ```
    #[must_use]
    pub fn new(problem: BarnesProblem) -> Self {
        let bodies = problem.bodies;
        let start = plummer::spheres(bodies, problem.seed);
        let mass = 1.0 / bodies as f64;
        let points: Vec<Point> = (start.iter())
            .map(|&([x, y, z], _)| [x, y, z, mass])
            .collect();
        let motion = |&(_, velocity): &(Vector, Vector)| BodyMotion {
            velocity,
            acceleration: [0.0; 3],
        };
        let extent = (points.iter()).fold(Extent::NONE, |all, it| all.with(&tree::place(it)));
        let log = |_| Log {
            energy: Atomic::new(0),
            bodies: Atomic::new(0),
        };
        Self {
            problem,
            points: [Shared::from(points.clone()), Shared::from(points)],
            costs: [(); 2].map(|()| Shared::from(vec![1; bodies])),
            motions: Shared::from(start.iter().map(motion).collect::<Vec<_>>()),
            order: Shared::from((0..bodies as u32).collect::<Vec<_>>()),
            tree: Tree::new(bodies),
            bounds: Bounds::new(extent),
            region: Shared::from(vec![extent.cube()]),
            momentum_at_start: std::array::from_fn(|axis| {
                start.iter().map(|it| it.1[axis] * mass).sum()
            }),
            logs: (0..problem.steps).map(log).collect(),
        }
    }

    /// The program's phases.
    ///
    /// ```
    /// use manycore_programs::spmd::barnes::{Barnes, BarnesPhases, BarnesInput};
    /// use manycore_platform::Native;
    ///
    /// let program = Barnes::<Native>::new(BarnesInput::Tiny.problem());
    /// assert_eq!(program.declaration(), BarnesPhases::of(BarnesInput::Tiny));
    /// ```
    #[must_use]
    pub fn declaration(&self) -> BarnesPhases {
        BarnesPhases::new(self.problem)
    }

    /// The force field of the step, once the tree has been made.
    ///
    /// # Safety
    ///
    /// No thread writes the region while the field is in use.
    unsafe fn field(&self, step: usize) -> Field<'_, P> {
        Field {
            tree: &self.tree,
            points: &self.points[step % 2],
            // SAFETY: by the caller's contract.
            region: unsafe { self.region.get(0) },
            theta: self.problem.theta,
            softening: self.problem.softening,
        }
    }

    /// Empties the tree and makes its cube.
    ///
    /// # Safety
    ///
    /// One rank calls this, while no other thread uses the program.
    unsafe fn root(&self) {
        // SAFETY: by the caller's contract.
        unsafe {
            self.tree.clear();
            self.region.write::<P>(0..1)[0] = self.bounds.take().cube();
        }
    }

    /// Computes the forces on the bodies in `zones`, and moves these bodies. Returns their energy. The step has `of`
    /// zones.
    ///
    /// # Safety
    ///
    /// The tree and the moments of the step are made, and each zone is passed to one call.
    unsafe fn forces(&self, step: usize, zones: Range<usize>, of: usize) -> f64 {
        // SAFETY: this phase only reads the points and costs of the step, the tree and the region.
        let field = unsafe { self.field(step) };
        let costs = &self.costs[step % 2];
        // SAFETY: as above.
        let total = unsafe { self.tree.moments(Node::Cell(ROOT)) }.cost;
        // Up to 2^27 bodies, 2^27 interactions for each, and 2^27 zones: the product needs more
        // than 64 bits.
        let cut = |zone: usize| (u128::from(total) * zone as u128 / of as u128) as u64;
        let mut extent = Extent::NONE;
        let mut energy = 0.0;
        let mut visit = |body: u32, number: usize| {
            // SAFETY: as above, each body is in one zone and has its own number.
            let (place, of_body) = unsafe { self.advance(&field, step, body, number) };
            extent = extent.with(&place);
            energy += of_body;
        };
        // SAFETY: as above.
        unsafe { field.zone(costs, cut(zones.start)..cut(zones.end), &mut visit) };
        self.bounds.widen(&extent);
        energy
    }

    /// Moves the body with this number in the order of the tree. Returns its new place, and its
    /// former energy.
    ///
    /// # Safety
    ///
    /// As for [`forces`](Self::forces), and each body and each number is passed to one call.
    unsafe fn advance(
        &self,
        field: &Field<P>,
        step: usize,
        body: u32,
        number: usize,
    ) -> (Vector, f64) {
        let index = body as usize;
        let own = index..index + 1;
        // SAFETY: by the caller's contract only this call writes the elements of this body and the element of this
        // number.
        unsafe {
            let (pull, count) = field.pull_on(body);
            let [x, y, z, mass] = field.points.get(index);
            let motion = &mut self.motions.write::<P>(own.clone())[0];
            let half = self.problem.time / 2.0;
            let kicked = |velocity: Vector| -> Vector {
                std::array::from_fn(|axis| velocity[axis] + pull.acceleration[axis] * half)
            };
            // The first velocities belong to the time of these forces. All later velocities belong to half a step
            // before.
            let velocity = if step == 0 {
                motion.velocity
            } else {
                kicked(motion.velocity)
            };
            *motion = BodyMotion {
                velocity: kicked(velocity),
                acceleration: pull.acceleration,
            };
            let by = motion.velocity.map(|it| it * self.problem.time);
            let next = [x + by[0], y + by[1], z + by[2]];
            let [x, y, z] = next;
            self.points[(step + 1) % 2].write::<P>(own.clone())[0] = [x, y, z, mass];
            // The cost is at least 1, since a body of cost 0 would be in no zone.
            let cost = (count.wholes + count.bodies).max(1);
            self.costs[(step + 1) % 2].write::<P>(own)[0] = cost;
            self.order.write::<P>(number..number + 1)[0] = body;
            let kinetic = velocity.iter().map(|it| it * it).sum::<f64>() / 2.0;
            (next, mass * (kinetic + pull.potential / 2.0))
        }
    }
}

impl<P: Platform> Program for Barnes<P> {
    fn grains(&self) -> usize {
        let forces = self.declaration().forces();
        forces.items.div_ceil(forces.grain)
    }

    unsafe fn run(&self, sharing: &mut dyn Worksharing) {
        let declared = self.declaration();
        let [root, load, moments, forces] = declared.phases();
        for (step, log) in self.logs.iter().enumerate() {
            let (points, costs) = (&self.points[step % 2], &self.costs[step % 2]);
            // SAFETY: one rank runs the only item.
            sharing.share(&root, &|_| unsafe { self.root() });
            sharing.share(&load, &|items| {
                // SAFETY: this phase only reads order and region.
                let (order, region) =
                    unsafe { (self.order.read::<P>(items), self.region.read::<P>(0..1)[0]) };
                for &body in order {
                    // SAFETY: each body is in the order once. The count below notices a body for which the tree had no
                    // room.
                    let _ = unsafe { self.tree.insert(points, region, body) };
                }
            });
            sharing.share(&moments, &|items| {
                // SAFETY: this phase only reads order, points and costs, and each body is in the
                // order once.
                unsafe {
                    for &body in self.order.read::<P>(items) {
                        self.tree.raise(points, costs, body);
                    }
                }
            });
            // SAFETY: the moments are made, and are only read until the next step.
            let bodies = unsafe { self.tree.moments(Node::Cell(ROOT)) }.bodies as usize;
            // Relaxed, here and below: all ranks store the same value, and other threads read it after the run.
            log.bodies.store(bodies as u64, Relaxed);
            if bodies != self.problem.bodies {
                // Some bodies found no room. All ranks see that, and verification reports it. These
                // bodies are in no zone, so the order of the next step would lack them.
                return;
            }
            let energy = sharing.sum(&forces, &|zones| {
                // SAFETY: the tree is made, and each zone is in one range.
                unsafe { self.forces(step, zones, forces.items) }
            });
            log.energy.store(energy.to_bits(), Relaxed);
        }
    }

    fn verify(&self) -> Result<Verified, WrongAnswer> {
        self.check().map(|(errors, energy)| {
            Verified(format!(
                "accelerations off by {:.2e} of their root mean square, energy by {energy:.2e}",
                errors.root_mean_square
            ))
        })
    }
}
