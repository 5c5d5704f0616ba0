//! Connected components.

use super::frontier::Frontiers;
use super::{Graph, Work};
use manycore_platform::{Atomic, Ordering, Platform};
use std::sync::Arc;

/// Labels every vertex with the least number in its component. A vertex whose label falls passes the new
/// label to its neighbours, until no label falls.
///
/// ```
/// use manycore_programs::graph::{Components, Graph, Task, Work};
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
/// let graph = Graph::undirected(5, &[(0, 1), (2, 3), (3, 4)]);
/// let components = Components::<Native>::new(graph.into(), 1);
/// components.run(0, &mut Alone(Vec::new()));
/// assert_eq!(components.verify(), Ok(2));
/// ```
pub struct Components<P: Platform> {
    graph: Arc<Graph>,
    ranks: usize,
    labels: Box<[P::AtomicU32]>,
    /// The last frontier to which each vertex was added, plus one. A frontier (a round's vertices) gets a vertex only
    /// once, however often the vertex's label falls.
    added: Box<[P::AtomicU32]>,
    frontiers: Frontiers<P>,
}

/// The error: a vertex that does not have the label of its component.
///
/// ```
/// use manycore_programs::graph::{Components, Graph, WrongLabel};
/// use manycore_platform::Native;
///
/// let graph = Graph::undirected(2, &[(0, 1)]);
/// let wrong = WrongLabel { vertex: 1, label: 1, expected: 0 };
/// assert_eq!(Components::<Native>::new(graph.into(), 1).verify(), Err(wrong));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("vertex {vertex} has the label {label} in the component of {expected}")]
pub struct WrongLabel {
    /// The vertex.
    pub vertex: u32,
    /// The vertex's label.
    pub label: u32,
    /// The right label.
    pub expected: u32,
}

impl<P: Platform> Components<P> {
    /// Makes a labelling that has not begun, for a team of `ranks` ranks (threads).
    ///
    /// # Panics
    ///
    /// If `ranks` is zero.
    pub fn new(graph: Arc<Graph>, ranks: usize) -> Self {
        assert!(ranks > 0, "a team needs at least one rank");
        let vertices = graph.vertices();
        Self {
            graph,
            ranks,
            labels: (0..vertices).map(P::AtomicU32::new).collect(),
            added: (0..vertices).map(|_| P::AtomicU32::new(0)).collect(),
            frontiers: Frontiers::new(),
        }
    }

    /// Computes labels as one rank of the team.
    pub fn run(&self, rank: usize, work: &mut impl Work) {
        let first = (rank as u32..self.graph.vertices()).step_by(self.ranks);
        self.frontiers.run(
            &self.graph,
            first.collect(),
            work,
            |number, vertex, neighbour, next| {
                // Relaxed: labels only fall. A rank that lowers a label adds the vertex to the next
                // frontier, which begins after a meeting.
                let relaxed = Ordering::Relaxed;
                let label = self.labels[vertex as usize].load(relaxed);
                let other = &self.labels[neighbour as usize];
                let mut found = other.load(relaxed);
                while label < found {
                    match other.compare_exchange(found, label, relaxed, relaxed) {
                        Ok(_) => {
                            let added = &self.added[neighbour as usize];
                            if added.swap(number + 1, relaxed) != number + 1 {
                                next.push(neighbour);
                            }
                            return;
                        }
                        Err(now) => found = now,
                    }
                }
            },
        );
    }

    /// Compares the labels with a sequential union of sets. Returns the number of components with an edge.
    ///
    /// # Errors
    ///
    /// A vertex with a wrong label.
    pub fn verify(&self) -> Result<usize, WrongLabel> {
        let mut leader: Vec<u32> = (0..self.graph.vertices()).collect();
        for from in 0..self.graph.vertices() {
            for &to in self.graph.neighbours(from) {
                let (a, b) = (find(&mut leader, from), find(&mut leader, to));
                // The vertex with the least number leads the set.
                leader[a.max(b) as usize] = a.min(b);
            }
        }
        let mut components = 0;
        for vertex in 0..self.graph.vertices() {
            let expected = find(&mut leader, vertex);
            let label = self.labels[vertex as usize].load(Ordering::Relaxed);
            if label != expected {
                return Err(WrongLabel {
                    vertex,
                    label,
                    expected,
                });
            }
            let has_edge = !self.graph.neighbours(vertex).is_empty();
            components += usize::from(expected == vertex && has_edge);
        }
        Ok(components)
    }
}

/// The leader of a vertex's set. Halves the path to it.
fn find(leader: &mut [u32], mut vertex: u32) -> u32 {
    while leader[vertex as usize] != vertex {
        let above = leader[vertex as usize];
        leader[vertex as usize] = leader[above as usize];
        vertex = above;
    }
    vertex
}

impl<P: Platform> std::fmt::Debug for Components<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Components")
            .field("ranks", &self.ranks)
            .finish_non_exhaustive()
    }
}
