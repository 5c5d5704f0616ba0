//! Fork-join kernels: programs that divide their work by `join`.
//!
//! A kernel runs on any scheduler. It asks a [`Fork`] for its parallelism, so the same code runs on a pool,
//! on a simulated chip and, with [`Serial`], on one thread.
//!
//! # Declared costs
//!
//! Each leaf (undivided piece of work) declares its cost to a simulated chip: the instructions of its inner loop times
//! its iterations, and the memory that it reads and writes. The constants are instructions of the release build on
//! x86-64: callgrind's count for sequential runs of several sizes, divided by the number of elements, pairs or nodes. A
//! whole run declares the executed instructions to within a tenth. Compilers differ by as much. In native code the
//! declarations compile to nothing.

mod algorithm;
#[cfg(test)]
pub(crate) mod counted;
mod fibonacci;
mod frog_jump;
mod joins;
mod kernel;
mod life;
mod map_collect;
mod matmul;
mod merge_sort;
mod nbody;
mod pool;
mod prepared;
mod quick_sort;
mod scheduler;
mod sieve;
mod sorted;
mod splitting;
mod string_split;
#[cfg(test)]
mod testing;
mod tree;
mod tsp;

pub use algorithm::{Algorithm, Size};
pub use fibonacci::Fibonacci;
pub use frog_jump::FrogJump;
pub use joins::{IncrementAll, JoinRecursively};
pub use kernel::{Kernel, Wrong};
pub use life::Life;
pub use map_collect::MapCollect;
pub use matmul::{MatMul, Method};
pub use merge_sort::MergeSort;
pub use nbody::{Form, NBody};
pub use prepared::Prepared;
pub use quick_sort::QuickSort;
pub use scheduler::{Fork, Serial};
pub use sieve::Sieve;
pub use splitting::{SlicePart, Splittable};
pub use string_split::StringSplit;
pub use tree::{Placement, TreeSum};
pub use tsp::{TooManyCities, Tsp};
