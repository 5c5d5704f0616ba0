//! The forces on one body, and the bodies of a zone.

use super::moments::Pull;
use super::region::{Region, Vector};
use super::slot::Node;
use super::tree::{Point, ROOT, Tree, place};
use crate::spmd::Shared;
use manycore_platform::Platform;
use std::ops::Range;

/// A finished tree, with its bodies.
pub(super) struct Field<'a, P: Platform> {
    pub(super) tree: &'a Tree<P>,
    pub(super) points: &'a Shared<Point>,
    pub(super) region: Region,
    pub(super) theta: f64,
    pub(super) softening: f64,
}

/// The interactions of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Interactions {
    /// Cells and leaves that attract the body as a whole.
    pub(super) wholes: u32,
    /// Other bodies that attract the body one by one.
    pub(super) bodies: u32,
    /// Cells and leaves that the walk looks at.
    pub(super) looks: u32,
}

impl<'a, P: Platform> Field<'a, P> {
    /// The pull on a body.
    ///
    /// # Safety
    ///
    /// The tree's moments are made, and no thread writes the moments or the points while the field is alive.
    pub(super) unsafe fn pull_on(&self, body: u32) -> (Pull, Interactions) {
        let index = body as usize;
        // SAFETY: by the caller's contract.
        let point = unsafe { &self.points.read::<P>(index..index + 1)[0] };
        let mut walk = Walk {
            field: self,
            body,
            place: place(point),
            theta2: self.theta * self.theta,
            softening2: self.softening * self.softening,
            pull: Pull::default(),
            count: Interactions::default(),
        };
        walk.look_at(Node::Cell(ROOT), self.region);
        (walk.pull, walk.count)
    }

    /// Calls `visit` with each body of a zone, a range of the cumulated costs in the order of the
    /// tree, and with the body's number in that order.
    ///
    /// # Safety
    ///
    /// As for [`pull_on`](Self::pull_on), and no thread writes `costs`, since two zones can have bodies in one leaf.
    pub(super) unsafe fn zone(
        &self,
        costs: &Shared<u32>,
        zone: Range<u64>,
        visit: &mut dyn FnMut(u32, usize),
    ) {
        let mut before = Before { cost: 0, bodies: 0 };
        self.zone_within(Node::Cell(ROOT), costs, &zone, &mut before, visit);
    }

    fn zone_within(
        &self,
        node: Node,
        costs: &Shared<u32>,
        zone: &Range<u64>,
        before: &mut Before,
        visit: &mut dyn FnMut(u32, usize),
    ) {
        // SAFETY: by the contract of `zone`.
        let moments = unsafe { self.tree.moments(node) };
        if before.cost + moments.cost <= zone.start || before.cost >= zone.end {
            before.cost += moments.cost;
            before.bodies += moments.bodies as usize;
            return;
        }
        match node {
            Node::Cell(cell) => {
                for (_, child) in self.tree.children(cell) {
                    self.zone_within(child, costs, zone, before, visit);
                }
            }
            Node::Leaf(leaf) => {
                // SAFETY: by the contract of `zone`.
                for &body in unsafe { self.tree.bodies(leaf) } {
                    let index = body as usize;
                    // SAFETY: by the contract of `zone`.
                    let cost = unsafe { costs.read::<P>(index..index + 1)[0] };
                    if zone.contains(&before.cost) {
                        visit(body, before.bodies);
                    }
                    before.cost += u64::from(cost);
                    before.bodies += 1;
                }
            }
            Node::Nothing => {}
        }
    }
}

/// Sums over all nodes before a node, in the order of the tree.
struct Before {
    cost: u64,
    bodies: usize,
}

struct Walk<'a, 'b, P: Platform> {
    field: &'a Field<'b, P>,
    body: u32,
    place: Vector,
    theta2: f64,
    softening2: f64,
    pull: Pull,
    count: Interactions,
}

impl<P: Platform> Walk<'_, '_, P> {
    fn look_at(&mut self, node: Node, region: Region) {
        let tree = self.field.tree;
        // SAFETY: by the contract of `pull_on`.
        let moments = unsafe { tree.moments(node) };
        self.count.looks += 1;
        let way: Vector = std::array::from_fn(|axis| moments.centre[axis] - self.place[axis]);
        let square: f64 = way.iter().map(|it| it * it).sum();
        let edge = 2.0 * region.half;
        // A cell that contains the body is always opened, see the module's documentation.
        if edge * edge < self.theta2 * square && !region.contains(&self.place) {
            self.pull.add_cell(way, moments, self.softening2);
            self.count.wholes += 1;
            return;
        }
        match node {
            Node::Cell(cell) => {
                for (octant, child) in tree.children(cell) {
                    self.look_at(child, region.part(octant));
                }
            }
            Node::Leaf(leaf) => {
                // SAFETY: by the contract of `pull_on`.
                for &other in unsafe { tree.bodies(leaf) } {
                    if other == self.body {
                        continue;
                    }
                    let index = other as usize;
                    // SAFETY: as above.
                    let point = unsafe { &self.field.points.read::<P>(index..index + 1)[0] };
                    let at = place(point);
                    let way = std::array::from_fn(|axis| at[axis] - self.place[axis]);
                    self.pull.add_mass(way, point[3], self.softening2);
                    self.count.bodies += 1;
                }
            }
            Node::Nothing => {}
        }
    }
}
