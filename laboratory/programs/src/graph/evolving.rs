//! Graphs whose edges change in batches.

use super::{Graph, Rmat};
use std::collections::BTreeMap;

/// The edges are divided into this many parts. A batch of changes replaces one part.
const PARTS: usize = 16;

/// An R-MAT graph. Each batch replaces a sixteenth of the edges, as if a window slides over the sequence of drawn
/// edges.
///
/// ```
/// use manycore_programs::graph::{Evolving, Rmat};
///
/// let rmat = Rmat { scale: 6, edge_factor: 8, seed: 1 };
/// let evolving = Evolving::new(rmat, 3);
/// assert_eq!((evolving.batches(), evolving.graphs().len()), (3, 4));
/// assert_eq!(evolving.graphs()[0], rmat.graph());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evolving {
    /// The graph before the first batch, and after each batch.
    graphs: Vec<Graph>,
    changes: Vec<Changes>,
}

/// The edges of a batch, ascending. Each has its lower vertex first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Changes {
    /// Edges that are only in the graph before.
    pub(super) gone: Vec<(u32, u32)>,
    /// Edges that are only in the graph after.
    pub(super) come: Vec<(u32, u32)>,
}

impl Evolving {
    /// Draws the graph and its changes in a number of batches.
    ///
    /// # Panics
    ///
    /// If the scale is more than 26.
    pub fn new(rmat: Rmat, batches: usize) -> Self {
        let window = (rmat.edge_factor as usize) << rmat.scale;
        let part = window.div_ceil(PARTS);
        let edges = rmat.draw(window + batches * part);
        let graph = |batch: usize| {
            let edges = &edges[batch * part..batch * part + window];
            Graph::undirected(1 << rmat.scale, edges)
        };
        let graphs: Vec<Graph> = (0..=batches).map(graph).collect();
        let changes = graphs
            .windows(2)
            .map(|pair| Changes::between(&pair[0], &pair[1]));
        Self {
            changes: changes.collect(),
            graphs,
        }
    }

    /// The number of batches.
    pub fn batches(&self) -> usize {
        self.changes.len()
    }

    /// The graph before the first batch, and after each batch.
    pub fn graphs(&self) -> &[Graph] {
        &self.graphs
    }

    /// The changes of a batch, and the graphs before and after it.
    pub(super) fn batch(&self, number: usize) -> (&Changes, [&Graph; 2]) {
        let graphs = [&self.graphs[number], &self.graphs[number + 1]];
        (&self.changes[number], graphs)
    }
}

impl Changes {
    fn between(before: &Graph, after: &Graph) -> Self {
        let mut count = BTreeMap::new();
        for (graph, side) in [(before, -1), (after, 1)] {
            edges(graph).for_each(|edge| *count.entry(edge).or_insert(0) += side);
        }
        let only = |side: i32| {
            let edges = count.iter().filter(|(_, count)| **count == side);
            edges.map(|(edge, _)| *edge).collect()
        };
        Self {
            gone: only(-1),
            come: only(1),
        }
    }
}

/// Yields each edge once.
fn edges(graph: &Graph) -> impl Iterator<Item = (u32, u32)> {
    let of = |vertex: u32| {
        graph
            .neighbours(vertex)
            .iter()
            .map(move |&other| (vertex, other))
    };
    (0..graph.vertices()).flat_map(of).filter(|(a, b)| a < b)
}
