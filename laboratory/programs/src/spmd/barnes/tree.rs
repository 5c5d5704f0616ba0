//! The tree of cells. All ranks put bodies into it at once, and its moments are made from the
//! leaves up, without any waiting.

use super::moments::Moments;
use super::region::{Region, Vector};
use super::slot::{Entered, Node, Slot};
use crate::spmd::Shared;
use manycore_platform::Ordering::{AcqRel, Relaxed};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Platform};

/// Bodies that a leaf has at most: SPLASH's number.
pub(super) const LEAF: usize = 10;

/// The cell that is the whole.
pub(super) const ROOT: u32 = 0;

/// A cube that is divided, because more than a leaf's bodies are in it.
#[repr(align(64))]
struct Cell<P: Platform> {
    children: [Slot<P>; 8],
    /// The number of children with content; then, of these, the children without moments.
    pending: P::AtomicU32,
    parent: P::AtomicU32,
}

/// Bodies of a cube that is not divided.
#[derive(Clone, Copy)]
struct Leaf {
    bodies: [u32; LEAF],
    /// None: there is no such leaf.
    len: u32,
    parent: u32,
}

impl Leaf {
    const NONE: Self = Self {
        bodies: [0; LEAF],
        len: 0,
        parent: 0,
    };

    #[inline]
    fn bodies(&self) -> &[u32] {
        &self.bodies[..self.len as usize]
    }
}

/// A place with its mass, side by side for code that only reads.
pub(super) type Point = [f64; 4];

#[inline]
pub(super) fn place(point: &Point) -> Vector {
    [point[0], point[1], point[2]]
}

/// The cells, the leaves, and their moments.
///
/// The finished tree depends only on the bodies: a cube is divided if, and only if, more than
/// [`LEAF`] of them are in it. The order of insertion, and the rank that divided a cube, show only
/// in the numbers of cells and leaves and in the order within leaves, which is made anew: moments
/// are the same to the bit for any number of ranks.
///
/// # Who may touch what
///
/// While the tree is built, a leaf belongs to the holder of its slot, and a new cell to its maker.
/// A leaf has the number of a body in it. Two leaves have no body in common, so no two have the
/// same number. When moments are made, a leaf belongs to the rank with the body of that number, and
/// a cell to the rank that finished the last of its children. Then everything is read only.
pub(super) struct Tree<P: Platform> {
    cells: Box<[Cell<P>]>,
    leaves: Shared<Leaf>,
    of_cells: Shared<Moments>,
    of_leaves: Shared<Moments>,
    used: Box<CachePadded<P::AtomicU32>>,
}

impl<P: Platform> Tree<P> {
    /// For `bodies` bodies.
    ///
    /// There are half as many cells, and some more. A cell of a random model has two or more bodies
    /// for each of its children, and there are about 13 bodies a cell. If bodies are so close that
    /// more cells are needed to part them, some find no room in the tree. The program's answer is
    /// then wrong, and verification reports it.
    pub(super) fn new(bodies: usize) -> Self {
        Self::with_cells(bodies, bodies / 2 + 64)
    }

    fn with_cells(bodies: usize, cells: usize) -> Self {
        let cell = |_| Cell {
            children: std::array::from_fn(|_| Slot::new()),
            pending: Atomic::new(0),
            parent: Atomic::new(0),
        };
        let tree = Self {
            cells: (0..cells).map(cell).collect(),
            leaves: Shared::from(vec![Leaf::NONE; bodies]),
            of_cells: Shared::from(vec![Moments::default(); cells]),
            of_leaves: Shared::from(vec![Moments::default(); bodies]),
            used: Box::new(CachePadded::new(Atomic::new(1))),
        };
        P::name(&*tree.cells, "barnes cells");
        P::name(&**tree.used, "barnes cells used");
        tree
    }

    /// Empties it. One rank calls this, while no other uses it.
    ///
    /// # Safety
    ///
    /// As it says.
    pub(super) unsafe fn clear(&self) {
        let root = &self.cells[ROOT as usize];
        root.children
            .iter()
            .for_each(|slot| slot.put(Node::Nothing));
        root.pending.store(0, Relaxed);
        // Were there no body.
        // SAFETY: the caller's.
        unsafe { self.of_cells.set(ROOT as usize, Moments::default()) };
        self.used.store(1, Relaxed);
    }

    /// Puts a body into the tree of the space `region`. Returns the number of cells on its way;
    /// `None` if it found no room, see [`new`](Self::new).
    ///
    /// # Safety
    ///
    /// The tree is being built, and no other thread puts this body into it, or writes `points`.
    pub(super) unsafe fn insert(
        &self,
        points: &Shared<Point>,
        region: Region,
        body: u32,
    ) -> Option<usize> {
        // SAFETY: no thread writes points. A leaf of this number can only be left over from the
        // last tree: a leaf of this tree has bodies that are in it already.
        let own = unsafe {
            self.leaves.set(body as usize, Leaf::NONE);
            place(&points.read::<P>(body as usize..body as usize + 1)[0])
        };
        let (mut at, mut region, mut levels) = (ROOT, region, 1);
        loop {
            let octant = region.octant(&own);
            let cell = &self.cells[at as usize];
            at = match cell.children[octant].enter() {
                Entered::Cell(below) => below,
                Entered::Held(held) => match held.node {
                    Node::Leaf(leaf) => {
                        // SAFETY: the leaf is this rank's, as its slot is.
                        let full = unsafe { self.push(leaf, body) };
                        if full.is_ok() {
                            held.leave(Node::Leaf(leaf));
                            return Some(levels);
                        }
                        // SAFETY: as above.
                        match unsafe { self.divide(points, leaf, at, region.part(octant)) } {
                            Some(below) => {
                                held.leave(Node::Cell(below));
                                below
                            }
                            None => {
                                held.leave(Node::Leaf(leaf));
                                return None;
                            }
                        }
                    }
                    _ => {
                        // SAFETY: no other leaf has the number of this body.
                        unsafe { self.begin(body, at) };
                        held.leave(Node::Leaf(body));
                        // Relaxed: a count, which is read after a barrier.
                        cell.pending.fetch_add(1, Relaxed);
                        return Some(levels);
                    }
                },
            };
            region = region.part(octant);
            levels += 1;
        }
    }

    /// Makes a leaf with one body, and with the number of that body.
    ///
    /// # Safety
    ///
    /// This rank put the body into the tree, or holds the slot of the body's former leaf.
    unsafe fn begin(&self, body: u32, parent: u32) {
        let mut leaf = Leaf {
            len: 1,
            parent,
            ..Leaf::NONE
        };
        leaf.bodies[0] = body;
        // SAFETY: the caller's.
        let at = unsafe { self.leaves.write::<P>(body as usize..body as usize + 1) };
        at[0] = leaf;
    }

    /// Puts a body into a leaf, if that has room.
    ///
    /// # Safety
    ///
    /// This rank holds the leaf's slot, or no other thread knows the leaf.
    unsafe fn push(&self, leaf: u32, body: u32) -> Result<(), Full> {
        // SAFETY: the caller's.
        let leaf = unsafe { &mut self.leaves.write::<P>(leaf as usize..leaf as usize + 1)[0] };
        let len = leaf.len as usize;
        *leaf.bodies.get_mut(len).ok_or(Full)? = body;
        leaf.len += 1;
        Ok(())
    }

    /// Makes a cell of a full leaf, in this region; `None`, if there is no more room.
    ///
    /// # Safety
    ///
    /// This rank holds the leaf's slot, and no thread writes `points`.
    unsafe fn divide(
        &self,
        points: &Shared<Point>,
        leaf: u32,
        parent: u32,
        region: Region,
    ) -> Option<u32> {
        // Relaxed: a number for each. It does not go far above the number of cells, as a
        // rank adds one for a body at most when there are no more.
        let new = self.used.fetch_add(1, Relaxed);
        let cell = self.cells.get(new as usize)?;
        // No other thread knows the cell until the slot is left.
        cell.children
            .iter()
            .for_each(|slot| slot.put(Node::Nothing));
        cell.parent.store(parent, Relaxed);
        let mut children = 0;
        // SAFETY: the slot is this rank's, and so are the leaf, which is no more, and the
        // leaves that have its bodies' numbers: those are in no other leaf.
        unsafe {
            let old = self.leaves.get(leaf as usize);
            self.leaves.set(leaf as usize, Leaf::NONE);
            for &body in old.bodies() {
                let point = &points.read::<P>(body as usize..body as usize + 1)[0];
                let slot = &cell.children[region.octant(&place(point))];
                match slot.get() {
                    Node::Leaf(leaf) => {
                        let pushed = self.push(leaf, body);
                        debug_assert!(pushed.is_ok(), "no more than there were");
                    }
                    _ => {
                        self.begin(body, new);
                        slot.put(Node::Leaf(body));
                        children += 1;
                    }
                }
            }
        }
        cell.pending.store(children, Relaxed);
        Some(new)
    }

    /// Makes the moments of the leaf with this number, if there is such a leaf, and of all cells
    /// for which this completes the children.
    ///
    /// No rank waits. Of the ranks that finish a cell's children, the last continues with the cell,
    /// and the others are done here. So each cell is made once: by induction from the leaves up all
    /// its children are made, and exactly one rank takes the count of unfinished children to
    /// nothing.
    ///
    /// # Safety
    ///
    /// After the tree is built, once for each body. No thread writes `points` or `costs`.
    pub(super) unsafe fn raise(&self, points: &Shared<Point>, costs: &Shared<u32>, body: u32) {
        let index = body as usize;
        // SAFETY: the leaf of this number is this rank's.
        let leaf = unsafe { &mut self.leaves.write::<P>(index..index + 1)[0] };
        if leaf.len == 0 {
            return;
        }
        let bodies = &mut leaf.bodies[..leaf.len as usize];
        // So that sums are the same whoever came first.
        bodies.sort_unstable();
        let mut parts = [Moments::default(); LEAF];
        for (part, &body) in parts.iter_mut().zip(&*bodies) {
            let body = body as usize;
            // SAFETY: no thread writes them.
            let (point, cost) = unsafe {
                let point = points.read::<P>(body..body + 1)[0];
                (point, costs.read::<P>(body..body + 1)[0])
            };
            *part = Moments::of_body(place(&point), point[3], u64::from(cost));
        }
        let moments = Moments::of_parts(&parts[..bodies.len()]);
        // SAFETY: as the leaf.
        unsafe { self.of_leaves.write::<P>(index..index + 1)[0] = moments };
        self.done(leaf.parent);
    }

    /// A child of the cell is done; if it was the last, the cell is made, and so on up.
    fn done(&self, mut at: u32) {
        loop {
            let cell = &self.cells[at as usize];
            // Release: the last rank sees this child's moments. Acquire: the last rank sees all,
            // since the count only changes by read-modify-writes, and each carries on the releases
            // before it.
            if cell.pending.fetch_sub(1, AcqRel) != 1 {
                return;
            }
            let mut parts = [Moments::default(); 8];
            let mut count = 0;
            for slot in &cell.children {
                let node = slot.get();
                if node != Node::Nothing {
                    // SAFETY: made, and seen, as above.
                    parts[count] = *unsafe { self.moments(node) };
                    count += 1;
                }
            }
            let moments = Moments::of_parts(&parts[..count]);
            let index = at as usize;
            // SAFETY: this rank was the last.
            unsafe { self.of_cells.write::<P>(index..index + 1)[0] = moments };
            if at == ROOT {
                return;
            }
            // Relaxed: written when the tree was built.
            at = cell.parent.load(Relaxed);
        }
    }

    /// The moments of a node that is something.
    ///
    /// # Safety
    ///
    /// They have been made, and no thread writes them.
    ///
    /// # Panics
    ///
    /// If it is nothing.
    #[inline]
    pub(super) unsafe fn moments(&self, node: Node) -> &Moments {
        let (all, index) = match node {
            Node::Cell(cell) => (&self.of_cells, cell as usize),
            Node::Leaf(leaf) => (&self.of_leaves, leaf as usize),
            Node::Nothing => unreachable!("nothing has no moments"),
        };
        // SAFETY: the caller's.
        unsafe { &all.read::<P>(index..index + 1)[0] }
    }

    /// The content of each eighth of a cell, after the tree is built.
    #[inline]
    pub(super) fn children(&self, cell: u32) -> impl Iterator<Item = (usize, Node)> {
        let children = self.cells[cell as usize].children.iter();
        children
            .map(Slot::get)
            .enumerate()
            .filter(|&(_, node)| node != Node::Nothing)
    }

    /// The bodies of a leaf, in order.
    ///
    /// # Safety
    ///
    /// After moments have been made.
    #[inline]
    pub(super) unsafe fn bodies(&self, leaf: u32) -> &[u32] {
        let leaf = leaf as usize;
        // SAFETY: no thread writes leaves then.
        unsafe { self.leaves.read::<P>(leaf..leaf + 1)[0].bodies() }
    }
}

/// A leaf has no room.
#[derive(Debug)]
struct Full;

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
