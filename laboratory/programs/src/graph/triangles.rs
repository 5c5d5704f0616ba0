//! Counts triangles while edges appear and disappear.

use super::evolving::Evolving;
use super::{Graph, Task, Work};
use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};
use std::sync::Arc;

/// Instructions to look at one neighbour, not counting memory accesses.
const LOOK: u64 = 4;

/// Keeps the number of triangles in a graph up to date while batches of edges appear and disappear.
///
/// A task is one changed edge. The lists of neighbours of its two vertices give the triangles that the change made or
/// broke, so tasks at vertices with many edges are long. If a batch adds several edges of a triangle, or removes
/// several, the task of the least edge counts the triangle.
///
/// ```
/// use manycore_programs::graph::{Evolving, Rmat, Task, Triangles, Work};
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
/// let rmat = Rmat { scale: 6, edge_factor: 8, seed: 1 };
/// let triangles = Triangles::<Native>::new(Evolving::new(rmat, 2).into(), 1);
/// triangles.run(0, &mut Alone(Vec::new()));
/// assert!(triangles.verify().is_ok());
/// ```
pub struct Triangles<P: Platform> {
    evolving: Arc<Evolving>,
    ranks: usize,
    made: P::AtomicU64,
    broken: P::AtomicU64,
}

/// The error: the number of triangles does not match the last graph.
///
/// ```
/// use manycore_programs::graph::WrongCount;
///
/// let wrong = WrongCount { found: 2, expected: 3 };
/// assert_eq!(wrong.to_string(), "there are 2 triangles; expected 3");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are {found} triangles; expected {expected}")]
pub struct WrongCount {
    /// The number in the first graph, plus triangles made, minus triangles broken.
    pub found: i64,
    /// The number in the last graph.
    pub expected: i64,
}

impl<P: Platform> Triangles<P> {
    /// Makes a count that has not begun, for a team of `ranks` ranks (threads).
    ///
    /// # Panics
    ///
    /// If `ranks` is zero.
    pub fn new(evolving: Arc<Evolving>, ranks: usize) -> Self {
        assert!(ranks > 0, "a team needs at least one rank");
        Self {
            evolving,
            ranks,
            made: P::AtomicU64::new(0),
            broken: P::AtomicU64::new(0),
        }
    }

    /// Counts as one rank of the team. Each rank adds tasks for its part of the edges of each batch.
    pub fn run(&self, rank: usize, work: &mut impl Work) {
        for number in 0..self.evolving.batches() {
            let (changes, [before, after]) = self.evolving.batch(number);
            let (gone, come) = (&changes.gone, &changes.come);
            let all = gone.len() + come.len();
            let mine = all * rank / self.ranks..all * (rank + 1) / self.ranks;
            let tasks = mine.filter_map(|change| Task::new(change as u64 + 1));
            tasks.for_each(|task| work.put(task));
            let (mut broken, mut made) = (0, 0);
            while let Some(task) = work.get() {
                let change = task.get() as usize - 1;
                match change.checked_sub(gone.len()) {
                    None => broken += counted_by::<P>(before, gone, change),
                    Some(change) => made += counted_by::<P>(after, come, change),
                }
            }
            // Relaxed: the caller reads these sums after joining all ranks.
            self.broken.fetch_add(broken, Ordering::Relaxed);
            self.made.fetch_add(made, Ordering::Relaxed);
            work.meet();
        }
    }

    /// Counts the triangles of the last graph. Returns their number.
    ///
    /// # Errors
    ///
    /// If this number differs from the number in the first graph, plus the triangles made, minus those broken.
    pub fn verify(&self) -> Result<usize, WrongCount> {
        let [first, .., last] = self.evolving.graphs() else {
            return Ok(triangles(&self.evolving.graphs()[0]));
        };
        let [made, broken] =
            [&self.made, &self.broken].map(|sum| sum.load(Ordering::Relaxed) as i64);
        let found = triangles(first) as i64 + made - broken;
        let expected = triangles(last);
        match found == expected as i64 {
            true => Ok(expected),
            false => Err(WrongCount {
                found,
                expected: expected as i64,
            }),
        }
    }
}

/// Counts the triangles at a changed edge, except triangles with an earlier edge of the batch.
fn counted_by<P: Platform>(graph: &Graph, changed: &[(u32, u32)], change: usize) -> u64 {
    let (a, b) = changed[change];
    let rows = [a, b].map(|vertex| graph.neighbours(vertex));
    rows.iter().for_each(|row| P::read(row));
    P::compute(LOOK * rows.iter().map(|row| row.len() as u64).sum::<u64>());
    let is_before = |vertex: u32, other: u32| {
        let edge = (vertex.min(other), vertex.max(other));
        changed.binary_search(&edge).is_ok_and(|at| at < change)
    };
    let mine = |third: &u32| !is_before(a, *third) && !is_before(b, *third);
    common(rows[0], rows[1]).filter(mine).count() as u64
}

/// The neighbours in both lists.
fn common<'a>(row: &'a [u32], other: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
    let mut rest = other.iter().copied().peekable();
    row.iter().copied().filter(move |&vertex| {
        while rest.next_if(|&below| below < vertex).is_some() {}
        rest.peek() == Some(&vertex)
    })
}

fn triangles(graph: &Graph) -> usize {
    let above = |vertex: u32| {
        let row = graph.neighbours(vertex);
        &row[row.partition_point(|&other| other <= vertex)..]
    };
    let at = |vertex: u32| {
        let others = above(vertex).iter();
        others
            .map(move |&other| common(above(vertex), above(other)).count())
            .sum::<usize>()
    };
    (0..graph.vertices()).map(at).sum()
}

impl<P: Platform> std::fmt::Debug for Triangles<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Triangles")
            .field("ranks", &self.ranks)
            .finish_non_exhaustive()
    }
}
