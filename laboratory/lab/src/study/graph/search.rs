//! The programs of `manycore_programs::graph`, by name.

use super::program::GraphProgram;
use anyhow::Context;
use manycore_platform::Platform;
use manycore_programs::graph::{BreadthFirst, Components, Evolving, Rmat, Triangles, Work};
use std::sync::Arc;

pub(super) enum Search<P: Platform> {
    BreadthFirst(BreadthFirst<P>),
    Components(Components<P>),
    Triangles(Triangles<P>),
}

/// Batches of changed edges for triangles.
pub(super) const BATCHES: usize = 4;

impl<P: Platform> Search<P> {
    /// Makes the graph. Breadth-first search begins at the vertex with most neighbours.
    pub(super) fn new(program: GraphProgram, rmat: Rmat, ranks: usize) -> Self {
        match program {
            GraphProgram::BreadthFirst => {
                let graph = Arc::new(rmat.graph());
                let hub = graph.hub();
                Self::BreadthFirst(BreadthFirst::new(graph, hub))
            }
            GraphProgram::Components => {
                Self::Components(Components::new(rmat.graph().into(), ranks))
            }
            GraphProgram::Triangles => {
                Self::Triangles(Triangles::new(Evolving::new(rmat, BATCHES).into(), ranks))
            }
        }
    }

    pub(super) fn run(&self, rank: usize, work: &mut impl Work) {
        match self {
            Self::BreadthFirst(search) => search.run(rank, work),
            Self::Components(components) => components.run(rank, work),
            Self::Triangles(triangles) => triangles.run(rank, work),
        }
    }

    /// Checks the answer. Returns the number of edges that the search reached, of components, or of triangles.
    pub(super) fn verify(&self) -> anyhow::Result<usize> {
        match self {
            Self::BreadthFirst(search) => search.verify().context("the tree is wrong"),
            Self::Components(components) => components.verify().context("a label is wrong"),
            Self::Triangles(triangles) => triangles.verify().context("the count is wrong"),
        }
    }
}
