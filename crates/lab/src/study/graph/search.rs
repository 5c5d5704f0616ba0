//! The programs of `manycore_kernels::graph`, by name.

use super::program::GraphProgram;
use anyhow::Context;
use manycore_kernels::graph::{BreadthFirst, Components, Graph, Work};
use manycore_platform::Platform;
use std::sync::Arc;

/// One of them, on a graph.
pub(super) enum Search<P: Platform> {
    BreadthFirst(BreadthFirst<P>),
    Components(Components<P>),
}

impl<P: Platform> Search<P> {
    /// Breadth-first from the vertex with most neighbours.
    pub(super) fn new(program: GraphProgram, graph: Graph, ranks: usize) -> Self {
        let hub = graph.hub();
        let graph = Arc::new(graph);
        match program {
            GraphProgram::BreadthFirst => Self::BreadthFirst(BreadthFirst::new(graph, hub)),
            GraphProgram::Components => Self::Components(Components::new(graph, ranks)),
        }
    }

    pub(super) fn run(&self, rank: usize, work: &mut impl Work) {
        match self {
            Self::BreadthFirst(search) => search.run(rank, work),
            Self::Components(components) => components.run(rank, work),
        }
    }

    /// Checks the answer; edges within the tree's component, or components.
    pub(super) fn verify(&self) -> anyhow::Result<usize> {
        match self {
            Self::BreadthFirst(search) => search.verify().context("the tree is wrong"),
            Self::Components(components) => components.verify().context("a label is wrong"),
        }
    }
}
