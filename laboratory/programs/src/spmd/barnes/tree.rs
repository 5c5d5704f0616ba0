//! The tree of cells (divided cubes). All ranks (threads of the team) insert bodies at the same time. Then they compute
//! moments from the leaves up, without waiting.

use super::moments::Moments;
use super::region::{Region, Vector};
use super::slot::{Entered, Node, Slot};
use crate::spmd::Shared;
use manycore_platform::Ordering::{AcqRel, Relaxed};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Platform};

/// The most bodies of a leaf, as in SPLASH's program.
pub(super) const LEAF: usize = 10;

/// The cell of the whole space.
pub(super) const ROOT: u32 = 0;

/// A cube that is divided, because it has more bodies than a leaf can hold.
#[repr(align(64))]
struct Cell<P: Platform> {
    children: [Slot<P>; 8],
    /// While the tree is built: the number of children. Later: the number of children without moments.
    pending: P::AtomicU32,
    parent: P::AtomicU32,
}

/// The bodies of a cube that is not divided.
#[derive(Clone, Copy)]
struct Leaf {
    bodies: [u32; LEAF],
    /// The number of bodies. 0 means that the leaf does not exist.
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

/// A place and its mass.
pub(super) type Point = [f64; 4];

#[inline]
pub(super) fn place(point: &Point) -> Vector {
    [point[0], point[1], point[2]]
}

/// The cells, the leaves, and their moments.
///
/// The finished tree depends only on the bodies: a cube is divided if, and only if, it has more than [`LEAF`] bodies.
/// The order of insertion changes only the indices of cells and leaves, and the order of the bodies within a leaf,
/// which are sorted later. So every bit of the moments is the same for any number of ranks.
///
/// # Which rank may write what
///
/// While the tree is built, a leaf belongs to the holder of its slot, and a new cell to its maker. The index of a leaf
/// is the number of a body in the leaf. Two leaves have no body in common, so they have different indices. When moments
/// are made, a leaf belongs to the rank that handles the body with the leaf's index. A cell belongs to the rank that
/// finished the last of its children. Afterwards all ranks only read.
pub(super) struct Tree<P: Platform> {
    cells: Box<[Cell<P>]>,
    leaves: Shared<Leaf>,
    of_cells: Shared<Moments>,
    of_leaves: Shared<Moments>,
    used: Box<CachePadded<P::AtomicU32>>,
}

impl<P: Platform> Tree<P> {
    /// Makes an empty tree for `bodies` bodies.
    ///
    /// The tree has room for `bodies / 2 + 64` cells. Random models have about 13 bodies for each cell, and two or more
    /// for each child. If bodies are so close that separating them needs more cells, some bodies find no room in the
    /// tree. Then the answer is wrong, and verification reports it.
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

    /// Empties the tree.
    ///
    /// # Safety
    ///
    /// One rank calls this, while no other thread uses the tree.
    pub(super) unsafe fn clear(&self) {
        let root = &self.cells[ROOT as usize];
        root.children
            .iter()
            .for_each(|slot| slot.put(Node::Nothing));
        root.pending.store(0, Relaxed);
        // The moments of a tree without bodies.
        // SAFETY: by the caller's contract.
        unsafe { self.of_cells.set(ROOT as usize, Moments::default()) };
        self.used.store(1, Relaxed);
    }

    /// Inserts a body into the tree that divides `region`. Returns the number of cells on the way to the body's place.
    /// Returns `None` if there is no room, see [`new`](Self::new).
    ///
    /// # Safety
    ///
    /// The tree is being built, and no other thread inserts this body or writes `points`.
    pub(super) unsafe fn insert(
        &self,
        points: &Shared<Point>,
        region: Region,
        body: u32,
    ) -> Option<usize> {
        // SAFETY: no thread writes points. The leaf of this index can only be left over from the last tree, since each
        // leaf of this tree has the index of a body that has been inserted.
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
                        // SAFETY: this rank holds the leaf's slot.
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
                        // SAFETY: no other leaf has the index of this body.
                        unsafe { self.begin(body, at) };
                        held.leave(Node::Leaf(body));
                        // Relaxed: the count is read after a barrier.
                        cell.pending.fetch_add(1, Relaxed);
                        return Some(levels);
                    }
                },
            };
            region = region.part(octant);
            levels += 1;
        }
    }

    /// Makes a leaf that contains one body. The leaf's index is the body's number.
    ///
    /// # Safety
    ///
    /// This rank inserts the body, or holds the slot (the eighth of a cell) of the body's former leaf.
    unsafe fn begin(&self, body: u32, parent: u32) {
        let mut leaf = Leaf {
            len: 1,
            parent,
            ..Leaf::NONE
        };
        leaf.bodies[0] = body;
        // SAFETY: by the caller's contract.
        let at = unsafe { self.leaves.write::<P>(body as usize..body as usize + 1) };
        at[0] = leaf;
    }

    /// Adds a body to a leaf, if the leaf has room.
    ///
    /// # Safety
    ///
    /// This rank holds the leaf's slot, or no other thread knows the leaf.
    unsafe fn push(&self, leaf: u32, body: u32) -> Result<(), Full> {
        // SAFETY: by the caller's contract.
        let leaf = unsafe { &mut self.leaves.write::<P>(leaf as usize..leaf as usize + 1)[0] };
        let len = leaf.len as usize;
        *leaf.bodies.get_mut(len).ok_or(Full)? = body;
        leaf.len += 1;
        Ok(())
    }

    /// Replaces a full leaf in `region` by a new cell, and returns the cell. Returns `None` if no
    /// cell is left.
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
        // Relaxed: each call gets its own number. The counter does not overflow, since each body adds at most 1 to it
        // when no cell is left.
        let new = self.used.fetch_add(1, Relaxed);
        let cell = self.cells.get(new as usize)?;
        // No other thread knows the cell until this rank leaves the slot.
        cell.children
            .iter()
            .for_each(|slot| slot.put(Node::Nothing));
        cell.parent.store(parent, Relaxed);
        let mut children = 0;
        // SAFETY: this rank holds the slot, so it owns the old leaf and the leaves with the indices
        // of its bodies, which are in no other leaf.
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

    /// Makes the moments of the leaf with the index `body`, if there is such a leaf. If the node is the last unfinished
    /// child of its cell, continues with that cell, and so on.
    ///
    /// No rank waits. When several ranks finish the children of a cell, the last of them continues with the cell, and
    /// the others return. So the moments of each cell are made once. The proof is by induction from the leaves up: all
    /// children of the cell are finished, and exactly one rank decrements the count of unfinished children to zero.
    ///
    /// # Safety
    ///
    /// The tree is built, and each body is passed to one call. No thread writes `points` or `costs`.
    pub(super) unsafe fn raise(&self, points: &Shared<Point>, costs: &Shared<u32>, body: u32) {
        let index = body as usize;
        // SAFETY: only this rank handles the leaf of this index.
        let leaf = unsafe { &mut self.leaves.write::<P>(index..index + 1)[0] };
        if leaf.len == 0 {
            return;
        }
        let bodies = &mut leaf.bodies[..leaf.len as usize];
        // Sorting makes the sums independent of the order of insertion.
        bodies.sort_unstable();
        let mut parts = [Moments::default(); LEAF];
        for (part, &body) in parts.iter_mut().zip(&*bodies) {
            let body = body as usize;
            // SAFETY: by the caller's contract no thread writes points or costs.
            let (point, cost) = unsafe {
                let point = points.read::<P>(body..body + 1)[0];
                (point, costs.read::<P>(body..body + 1)[0])
            };
            *part = Moments::of_body(place(&point), point[3], u64::from(cost));
        }
        let moments = Moments::of_parts(&parts[..bodies.len()]);
        // SAFETY: as for the leaf.
        unsafe { self.of_leaves.write::<P>(index..index + 1)[0] = moments };
        self.done(leaf.parent);
    }

    /// Counts a finished child of the cell `at`. If the child is the last, makes the cell's moments and continues with
    /// the cell's parent.
    fn done(&self, mut at: u32) {
        loop {
            let cell = &self.cells[at as usize];
            // Release: the last rank sees this child's moments. Acquire: the last rank sees the moments of all
            // children. Only read-modify-writes change the count, and each of them continues the release sequences of
            // those before it.
            if cell.pending.fetch_sub(1, AcqRel) != 1 {
                return;
            }
            let mut parts = [Moments::default(); 8];
            let mut count = 0;
            for slot in &cell.children {
                let node = slot.get();
                if node != Node::Nothing {
                    // SAFETY: the child's moments are made, and this rank sees them, as above.
                    parts[count] = *unsafe { self.moments(node) };
                    count += 1;
                }
            }
            let moments = Moments::of_parts(&parts[..count]);
            let index = at as usize;
            // SAFETY: only the last rank, this one, writes the cell's moments.
            unsafe { self.of_cells.write::<P>(index..index + 1)[0] = moments };
            if at == ROOT {
                return;
            }
            // Relaxed: a barrier follows the building of the tree.
            at = cell.parent.load(Relaxed);
        }
    }

    /// The moments of a cell or a leaf.
    ///
    /// # Safety
    ///
    /// The moments are made, and no thread writes them.
    ///
    /// # Panics
    ///
    /// If `node` is `Node::Nothing`.
    #[inline]
    pub(super) unsafe fn moments(&self, node: Node) -> &Moments {
        let (all, index) = match node {
            Node::Cell(cell) => (&self.of_cells, cell as usize),
            Node::Leaf(leaf) => (&self.of_leaves, leaf as usize),
            Node::Nothing => unreachable!("nothing has no moments"),
        };
        // SAFETY: by the caller's contract.
        unsafe { &all.read::<P>(index..index + 1)[0] }
    }

    /// The children of a cell with their octants, once the tree is built.
    #[inline]
    pub(super) fn children(&self, cell: u32) -> impl Iterator<Item = (usize, Node)> {
        let children = self.cells[cell as usize].children.iter();
        children
            .map(Slot::get)
            .enumerate()
            .filter(|&(_, node)| node != Node::Nothing)
    }

    /// The bodies of a leaf, sorted.
    ///
    /// # Safety
    ///
    /// The moments are made, and the tree is not being built.
    #[inline]
    pub(super) unsafe fn bodies(&self, leaf: u32) -> &[u32] {
        let leaf = leaf as usize;
        // SAFETY: by the caller's contract no thread writes leaves.
        unsafe { self.leaves.read::<P>(leaf..leaf + 1)[0].bodies() }
    }
}

/// A leaf has no room.
#[derive(Debug)]
struct Full;

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
