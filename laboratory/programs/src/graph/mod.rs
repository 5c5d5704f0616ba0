//! Graph searches in which a task makes further tasks. Park's thesis on broadcast (2013, section 7.2.1) names them as
//! future work.
//!
//! A team of ranks (threads) goes through a graph frontier by frontier. A frontier is a set of tasks. Each task is a
//! vertex and some of its edges. The ranks share the tasks by any discipline of stealing, given as [`Work`].
//! [`Triangles`] does the same with edges that appear and disappear in batches.

mod breadth_first;
mod components;
mod csr;
mod evolving;
mod frontier;
mod rmat;
mod shares;
#[cfg(test)]
mod tests;
mod triangles;

pub use breadth_first::{BreadthFirst, InvalidTree};
pub use components::{Components, WrongLabel};
pub use csr::Graph;
pub use evolving::Evolving;
pub use frontier::{Task, Work};
pub use rmat::Rmat;
pub use shares::{Share, Shares};
pub use triangles::{Triangles, WrongCount};
