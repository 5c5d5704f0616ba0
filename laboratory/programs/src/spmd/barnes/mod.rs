//! SPLASH's Barnes: bodies attract each other, and those far away do so as a crowd
//! (J. Barnes and P. Hut, "A hierarchical O(N log N) force-calculation algorithm", 1986).
//!
//! Space is a cube, which is divided into eight while more than ten bodies are in it. The force on
//! a body is found from the root down: a cube with an edge of less than theta times its distance
//! counts as a whole, with its mass and its quadrupole, and other cubes are opened. Then all bodies
//! are moved by a leapfrog.
//!
//! | phase of a step | what |
//! |---|---|
//! | `barnes root` | the tree is emptied, and its cube made to hold all bodies; by one rank |
//! | `barnes load` | all ranks put bodies into the tree, with a lock for each eighth of a cell |
//! | `barnes moments` | masses, centres, second moments, from the leaves up |
//! | `barnes forces` | each rank computes the forces on the bodies of its zones, moves them, and widens the next cube |
//!
//! | file | what |
//! |---|---|
//! | `slot`, `tree` | the tree, its locks, and the ascent without waiting |
//! | `moments` | what a cube is from far away, and how that pulls |
//! | `walk` | the forces on one body; which bodies a zone has |
//! | `region` | cubes; the extent that all ranks widen |
//! | `plummer` | where the bodies are at first |
//! | `input`, `declared` | sizes by name; what a run does, without its data |
//! | `verify` | forces by direct summation, energy, momentum |
//!
//! # What is the program's and what is ours
//!
//! SPLASH's program has the same model of bodies, theta, softening, time of a step and number of
//! steps, leaves of up to ten bodies, quadrupoles, a lock at the place of an insertion, zones of
//! equal cost along the tree (costs are the interactions of the last step), and four barriers a
//! step. The differences:
//!
//! * A rank does not wait for another within a phase, except for the lock of a slot, which is held
//!   for a tenth of a microsecond, and never at a safe point: safe points are between grains. In
//!   SPLASH's program the rank that makes a cell's moments waits until others have made its
//!   children's. Here the rank that makes the last child's continues with the cell. So ranks can
//!   share a worker and be interrupted.
//! * A zone has the cost of two bodies in the mean, so there are many for each rank: a
//!   rank has a run of them, as it has of SPLASH's, and a pool shares them out.
//! * A cell that the body is in is always opened. By the rule of distance alone it would
//!   be taken as a whole if its centre of mass is far enough, and pull the body towards
//!   itself; with theta above 0.58 that happens (J. Salmon and M. Warren, "Skeletons from
//!   the treecode closet", 1994).
//! * Bodies are moved to other memory than they are read from, as some ranks still compute
//!   forces when others are done with theirs.
//! * Sums are taken in the order of the tree and of the bodies' numbers: all results are the
//!   same to the bit for any number of ranks.

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

/// The program: bodies, and the tree they are put into in each step.
///
/// ```
/// use manycore_programs::spmd::barnes::{Barnes, BarnesInput};
/// use manycore_programs::spmd::{Alone, Program, Ranked, Sums};
/// use manycore_platform::Native;
///
/// let program = Barnes::<Native>::new(BarnesInput::Tiny.problem());
/// let (mut alone, sums) = (Alone, Sums::new(program.grains()));
/// // SAFETY: a team of one, whose sums nobody else has.
/// unsafe { program.run(&mut Ranked::<Native>::new(&mut alone, &sums)) };
/// println!("{}", program.verify()?);
/// # Ok::<(), manycore_programs::spmd::WrongAnswer>(())
/// ```
pub struct Barnes<P: Platform> {
    problem: BarnesProblem,
    /// Places and masses, of a step and of the next, by turns.
    points: [Shared<Point>; 2],
    /// Interactions of each body in the step before, and in this, by turns.
    costs: [Shared<u32>; 2],
    motions: Shared<BodyMotion>,
    /// The bodies in the order of the last tree, so that neighbours are put into the tree
    /// one after the other.
    order: Shared<u32>,
    tree: Tree<P>,
    bounds: Bounds<P>,
    /// The tree's cube.
    region: Shared<Region>,
    momentum_at_start: Vector,
    logs: Box<[Log<P>]>,
}

/// How a body moves.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BodyMotion {
    /// Half a step after the forces were computed; at first, when they will be.
    velocity: Vector,
    acceleration: Vector,
}

/// The common knowledge of all ranks about a step.
struct Log<P: Platform> {
    /// The bits of the energy of all, when forces were computed.
    energy: P::AtomicU64,
    /// Bodies in the tree.
    bodies: P::AtomicU64,
}

impl<P: Platform> Barnes<P> {
    /// Bodies at their first places. Takes some 350 bytes a body.
    ///
    /// ```
    /// use manycore_programs::spmd::Program;
    /// use manycore_programs::spmd::barnes::{Barnes, BarnesProblem};
    /// use manycore_platform::Native;
    ///
    /// let program = Barnes::<Native>::new(BarnesProblem::new(100)?);
    /// assert!(program.verify().is_err()); // not yet moved
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

    /// Its phases.
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

    /// The field of the step, after the tree has been made.
    ///
    /// # Safety
    ///
    /// No thread writes the region.
    unsafe fn field(&self, step: usize) -> Field<'_, P> {
        Field {
            tree: &self.tree,
            points: &self.points[step % 2],
            // SAFETY: the caller's.
            region: unsafe { self.region.get(0) },
            theta: self.problem.theta,
            softening: self.problem.softening,
        }
    }

    /// Empties the tree and makes its cube.
    ///
    /// # Safety
    ///
    /// By one rank, while the others do nothing.
    unsafe fn root(&self) {
        // SAFETY: the caller's.
        unsafe {
            self.tree.clear();
            self.region.write::<P>(0..1)[0] = self.bounds.take().cube();
        }
    }

    /// Computes the forces on the bodies of some zones, and moves those; the energy that
    /// they have.
    ///
    /// # Safety
    ///
    /// After the tree of the step has been made; each zone once.
    unsafe fn forces(&self, step: usize, zones: Range<usize>, of: usize) -> f64 {
        // SAFETY: points and costs of the step, the tree and the region are only read in
        // this phase.
        let field = unsafe { self.field(step) };
        let costs = &self.costs[step % 2];
        // SAFETY: as above.
        let total = unsafe { self.tree.moments(Node::Cell(ROOT)) }.cost;
        // Up to 2^27 bodies, each with as many interactions, by 2^27 zones.
        let cut = |zone: usize| (u128::from(total) * zone as u128 / of as u128) as u64;
        let mut extent = Extent::NONE;
        let mut energy = 0.0;
        let mut visit = |body: u32, number: usize| {
            // SAFETY: the body is in one zone, and its number is its own; otherwise as
            // above.
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
    /// As [`forces`](Self::forces); each body, and each number, once.
    unsafe fn advance(
        &self,
        field: &Field<P>,
        step: usize,
        body: u32,
        number: usize,
    ) -> (Vector, f64) {
        let index = body as usize;
        let own = index..index + 1;
        // SAFETY: the caller's: what is written is this body's.
        unsafe {
            let (pull, count) = field.pull_on(body);
            let [x, y, z, mass] = field.points.get(index);
            let motion = &mut self.motions.write::<P>(own.clone())[0];
            let half = self.problem.time / 2.0;
            let kicked = |velocity: Vector| -> Vector {
                std::array::from_fn(|axis| velocity[axis] + pull.acceleration[axis] * half)
            };
            // The first velocities are of the time of the forces, all others of half a
            // step before.
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
            // The cost of at least one, or the body would be in no zone.
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
            // SAFETY: the only item is one rank's.
            sharing.share(&root, &|_| unsafe { self.root() });
            sharing.share(&load, &|items| {
                // SAFETY: order and region are only read in this phase.
                let (order, region) =
                    unsafe { (self.order.read::<P>(items), self.region.read::<P>(0..1)[0]) };
                for &body in order {
                    // SAFETY: each body is in the order once. A body without room is noticed below.
                    let _ = unsafe { self.tree.insert(points, region, body) };
                }
            });
            sharing.share(&moments, &|items| {
                // SAFETY: order, points and costs are only read in this phase; each body is
                // in the order once.
                unsafe {
                    for &body in self.order.read::<P>(items) {
                        self.tree.raise(points, costs, body);
                    }
                }
            });
            // SAFETY: moments have been made, and are read only until the next are.
            let bodies = unsafe { self.tree.moments(Node::Cell(ROOT)) }.bodies as usize;
            // Relaxed, as below: all ranks store the same.
            log.bodies.store(bodies as u64, Relaxed);
            if bodies != self.problem.bodies {
                // Some bodies found no room. All ranks see that, and verification reports it. These
                // bodies are in no zone, so they would be missing in the order of the next step.
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
