//! A team's work on one frontier (the vertices at one distance) after the other.

use super::Graph;
use manycore_platform::{Atomic, Ordering, Platform};
use std::num::NonZeroU64;
use std::ops::Range;

/// A vertex and a stretch of its edges, as an integer for the work-stealing disciplines.
pub type Task = NonZeroU64;

/// The most edges of a task. A vertex with many edges has many tasks.
const EDGES: usize = 64;

/// Instructions to look at one edge, not counting memory accesses.
const LOOK: u64 = 4;

/// The access of one rank (thread of the team) to the tasks that the team shares.
///
/// ```
/// use manycore_programs::graph::{Task, Work};
///
/// /// A team of one needs no stealing.
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
/// ```
pub trait Work {
    /// Adds a task to the frontier that begins. Ranks do this before they call [`get`](Self::get).
    fn put(&mut self, task: Task);

    /// Returns a task of this frontier, or `None` when no rank has a task left. The ranks meet before any
    /// of them adds tasks again.
    fn get(&mut self) -> Option<Task>;

    /// Waits until every rank has called this equally often.
    fn meet(&mut self);
}

/// Flags that say whether a frontier is empty. All ranks get the same answer.
///
/// A rank that finds a vertex for the next frontier sets that frontier's flag. Each rank clears the flag after it,
/// meets the others, and reads the next frontier's flag. With three flags, no rank clears one that another may read.
pub(super) struct Frontiers<P: Platform> {
    inhabited: [P::AtomicBool; 3],
}

impl<P: Platform> Frontiers<P> {
    pub(super) fn new() -> Self {
        Self {
            inhabited: [(); 3].map(|()| P::AtomicBool::new(false)),
        }
    }

    /// Goes through the graph as one rank, beginning with the vertices in `first`. Calls `visit` for each
    /// edge from a vertex of the frontier, with the number of the frontier. `visit` pushes the vertices of
    /// the next frontier.
    pub(super) fn run(
        &self,
        graph: &Graph,
        mut first: Vec<u32>,
        work: &mut impl Work,
        mut visit: impl FnMut(u32, u32, u32, &mut Vec<u32>),
    ) {
        let mut next = Vec::new();
        for number in 0.. {
            for &vertex in &first {
                tasks(graph, vertex).for_each(|task| work.put(task));
            }
            while let Some(task) = work.get() {
                let (vertex, edges) = stretch(graph, task);
                let neighbours = &graph.neighbours(vertex)[edges];
                P::read(neighbours);
                P::compute(LOOK * neighbours.len() as u64);
                for &neighbour in neighbours {
                    visit(number, vertex, neighbour, &mut next);
                }
            }
            let [this, after] = [0, 1].map(|ahead| &self.inhabited[(number as usize + ahead) % 3]);
            // Relaxed throughout: meetings order the accesses. The load before the store avoids most repeated writes to
            // the line.
            if !next.is_empty() && !this.load(Ordering::Relaxed) {
                this.store(true, Ordering::Relaxed);
            }
            if after.load(Ordering::Relaxed) {
                after.store(false, Ordering::Relaxed);
            }
            work.meet();
            if !this.load(Ordering::Relaxed) {
                return;
            }
            std::mem::swap(&mut first, &mut next);
            next.clear();
        }
    }
}

/// The tasks of a vertex: the high half numbers the stretch of edges, the low half is the vertex plus one.
fn tasks(graph: &Graph, vertex: u32) -> impl Iterator<Item = Task> {
    let stretches = graph.neighbours(vertex).len().div_ceil(EDGES) as u64;
    (0..stretches).filter_map(move |stretch| Task::new(stretch << 32 | (u64::from(vertex) + 1)))
}

/// The vertex and the edges of a task from [`tasks`].
fn stretch(graph: &Graph, task: Task) -> (u32, Range<usize>) {
    let vertex = task.get() as u32 - 1;
    let begin = (task.get() >> 32) as usize * EDGES;
    let end = graph.neighbours(vertex).len().min(begin + EDGES);
    (vertex, begin..end)
}
