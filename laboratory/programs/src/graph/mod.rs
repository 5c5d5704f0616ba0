//! Graph searches with tasks that make tasks: future work of the broadcast thesis for its work
//! stealing (Park 2013, section 7.2.1).
//!
//! A team of ranks goes through a graph frontier by frontier. A frontier is a
//! bag of tasks, a vertex and some of its edges each, which the ranks share by
//! whatever discipline of stealing they are given as [`Work`]. [`Triangles`] does the same with
//! the edges of a graph that come and go, batch by batch.

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
