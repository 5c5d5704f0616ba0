//! Breadth-first search.

use super::frontier::Frontiers;
use super::{Graph, Work};
use manycore_platform::{Atomic, Ordering, Platform};
use std::sync::Arc;

/// Stands for no parent.
const NONE: u32 = u32::MAX;

/// A search from a root, which finds a parent nearer to the root for each vertex that it reaches.
///
/// ```
/// use manycore_programs::graph::{BreadthFirst, Graph, Task, Work};
/// use manycore_platform::Native;
///
/// struct Alone(Vec<Task>);
///
/// impl Work for Alone {
///     fn put(&mut self, task: Task) {
///         self.0.push(task);
///     }
///
///     fn get(&mut self) -> Option<Task> {
///         self.0.pop()
///     }
///
///     fn meet(&mut self) {}
/// }
///
/// let graph = Graph::undirected(4, &[(0, 1), (1, 2), (2, 0)]);
/// let search = BreadthFirst::<Native>::new(graph.into(), 0);
/// search.run(0, &mut Alone(Vec::new()));
/// assert_eq!(search.verify(), Ok(3), "edges between reached vertices");
/// ```
pub struct BreadthFirst<P: Platform> {
    graph: Arc<Graph>,
    root: u32,
    parents: Box<[P::AtomicU32]>,
    frontiers: Frontiers<P>,
}

/// A fault of a tree, by the rules of Graph500 (specification 2.0, "Validation").
///
/// ```
/// use manycore_programs::graph::{BreadthFirst, Graph, InvalidTree};
/// use manycore_platform::Native;
///
/// let graph = Graph::undirected(2, &[(0, 1)]);
/// let search = BreadthFirst::<Native>::new(graph.into(), 0);
/// assert_eq!(search.verify(), Err(InvalidTree::Unreached { vertex: 1 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTree {
    /// The parents form a circle (rule 1).
    #[error("the parents of vertex {vertex} do not lead to the root")]
    Circle {
        /// The vertex.
        vertex: u32,
    },
    /// An edge joins vertices that are more than one level apart (rules 2 and 3).
    #[error("vertices {from} and {to} are neighbours, but more than a level apart")]
    Levels {
        /// One end.
        from: u32,
        /// The other.
        to: u32,
    },
    /// A neighbour of a vertex of the tree is not in the tree (rule 4).
    #[error("vertex {vertex} is next to the tree, but not in it")]
    Unreached {
        /// The vertex.
        vertex: u32,
    },
    /// A vertex and its parent are not neighbours (rule 5).
    #[error("vertex {vertex} is not next to its parent {parent}")]
    NoEdge {
        /// The vertex.
        vertex: u32,
        /// Its parent.
        parent: u32,
    },
}

impl<P: Platform> BreadthFirst<P> {
    /// A search that has not begun.
    ///
    /// # Panics
    ///
    /// If the graph has no vertex `root`.
    pub fn new(graph: Arc<Graph>, root: u32) -> Self {
        let vertices = graph.vertices();
        assert!(root < vertices, "root {root} of {vertices} vertices");
        let parent = |vertex| P::AtomicU32::new(if vertex == root { root } else { NONE });
        Self {
            graph,
            root,
            parents: (0..vertices).map(parent).collect(),
            frontiers: Frontiers::new(),
        }
    }

    /// Searches as one rank (thread) of a team. Rank 0 begins with the root.
    pub fn run(&self, rank: usize, work: &mut impl Work) {
        let first = if rank == 0 {
            vec![self.root]
        } else {
            Vec::new()
        };
        self.frontiers
            .run(&self.graph, first, work, |_, vertex, neighbour, next| {
                let parent = &self.parents[neighbour as usize];
                // Relaxed: the meetings of the ranks order the frontiers (the sets of vertices at one distance). Any
                // neighbour in the frontier is a right parent, and the first compare-and-swap decides. A load comes
                // first because most neighbours already have a parent.
                let relaxed = Ordering::Relaxed;
                if parent.load(relaxed) == NONE
                    && (parent.compare_exchange(NONE, vertex, relaxed, relaxed)).is_ok()
                {
                    next.push(neighbour);
                }
            });
    }

    /// Checks the tree. Returns the number of the graph's edges between vertices of the tree.
    ///
    /// # Errors
    ///
    /// The first rule of Graph500 that the tree breaks.
    pub fn verify(&self) -> Result<usize, InvalidTree> {
        let parents: Vec<u32> = self
            .parents
            .iter()
            .map(|parent| parent.load(Ordering::Relaxed))
            .collect();
        let levels = levels(self.root, &parents)?;
        let mut arcs = 0;
        for from in 0..self.graph.vertices() {
            let neighbours = self.graph.neighbours(from);
            let parent = parents[from as usize];
            if parent != NONE && from != self.root && neighbours.binary_search(&parent).is_err() {
                let vertex = from;
                return Err(InvalidTree::NoEdge { vertex, parent });
            }
            let Some(level) = levels[from as usize] else {
                continue;
            };
            for &to in neighbours {
                match levels[to as usize] {
                    None => return Err(InvalidTree::Unreached { vertex: to }),
                    Some(other) if level.abs_diff(other) > 1 => {
                        return Err(InvalidTree::Levels { from, to });
                    }
                    Some(_) => arcs += 1,
                }
            }
        }
        Ok(arcs / 2)
    }
}

/// The distance of each vertex of the tree from the root, along the parents.
fn levels(root: u32, parents: &[u32]) -> Result<Vec<Option<u32>>, InvalidTree> {
    let mut levels = vec![None; parents.len()];
    levels[root as usize] = Some(0);
    let mut way = Vec::new();
    for vertex in 0..parents.len() as u32 {
        if parents[vertex as usize] == NONE {
            continue;
        }
        // Walks up to a vertex with a known level, and down again.
        let mut at = vertex;
        while levels[at as usize].is_none() {
            let parent = parents[at as usize];
            if way.len() > parents.len() || parent == NONE {
                return Err(InvalidTree::Circle { vertex });
            }
            way.push(at);
            at = parent;
        }
        let mut level = levels[at as usize];
        while let Some(below) = way.pop() {
            level = level.map(|level| level + 1);
            levels[below as usize] = level;
        }
    }
    Ok(levels)
}

impl<P: Platform> std::fmt::Debug for BreadthFirst<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BreadthFirst")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}
