//! The programs of the laboratory, which verify their own answers. The crate also has the barriers, disciplines
//! (algorithms) of work stealing, sleep policies and cost models that manycore is compared with. It is for studies and
//! tests, and is not published.
//!
//! # Programs
//!
//! A [`Load`] is a loop with independent iterations. It is made from a seed, runs on any platform, has a sequential
//! version, and declares the cost of an iteration to a simulated chip. [`audit`] checks that a loop ran every iteration
//! exactly once, and that each iteration did its work.
//!
//! | kernel | iterations |
//! |---|---|
//! | [`UnitTask`] | the unit task of Shuai's paper (2021): read, compute, write |
//! | [`Irregular::triangular`] | cost grows with the index |
//! | [`Irregular::reverse_triangular`] | cost falls with the index |
//! | [`Irregular::heavy_tailed`] | a few iterations hold much of the work |
//! | [`Tiny`] | each takes about 5 ns |
//!
//! A [`fork::Kernel`] is a program that divides its work by `join`. It runs on any scheduler that
//! implements [`fork::Fork`]. [`fork::Algorithm`] lists the kernels by name, with their sizes.
//!
//! | program | what it asks of a scheduler |
//! |---|---|
//! | [`fork::MergeSort`], [`fork::QuickSort`] | recursion over halves, even and uneven; much memory |
//! | [`fork::FrogJump`] | a search in rounds, with a set that all frogs mark |
//! | [`fork::Life`] | a hundred short loops one after the other |
//! | [`fork::NBody`] | ten long loops; in its reduce form, loops within them |
//! | [`fork::Tsp`] | a search whose branches share a bound |
//! | [`fork::Sieve`] | a loop over a few large blocks |
//! | [`fork::MatMul`] | recursion into four parts, or into seven with separate memory |
//! | [`fork::Fibonacci`], [`fork::JoinRecursively`] | joins without work |
//! | [`fork::IncrementAll`] | a loop hardly worth parallel threads |
//! | [`fork::TreeSum`] | joins with one memory access each |
//! | [`fork::MapCollect`] | results that must be combined |
//! | [`fork::StringSplit`] | work that can be divided only at some places |
//!
//! In [`graph`] a team of threads searches a graph. The threads steal tasks from each other.
//!
//! The programs in [`spmd`] run on a fixed team of threads, which meet at barriers.
//!
//! | program | what it asks of a barrier |
//! |---|---|
//! | [`spmd::Streamcluster`] | nine waits for each new centre, with little work between them on small inputs |
//! | [`spmd::Bt`] | three waits for each step, far apart, with nothing to sum |
//! | [`spmd::Cg`] | 76 waits for each iteration, tens of microseconds to milliseconds apart, most for a sum |
//! | [`spmd::Ft`] | three waits an iteration, far apart: early threads wait long |
//! | [`spmd::barnes::Barnes`] | four waits a step, after phases with almost no work to most of it, with locks in one |
//! | [`spmd::canneal::Canneal`] | one wait for each step, after moves that race with each other |
//!
//! ```
//! use manycore_programs::{Load, Tiny, audit};
//! use manycore_platform::Native;
//!
//! let load = Tiny::new(1000, 42);
//! load.sequential::<Native>();
//! // A loop that claims to be parallel: here it is `for`.
//! audit::<Native, _>(&load, |n, body| (0..n).for_each(body)).unwrap();
//! // This loop forgets the last iteration.
//! assert!(audit::<Native, _>(&load, |n, body| (0..n - 1).for_each(body)).is_err());
//! ```
//!
//! # What manycore is compared with
//!
//! ```
//! use manycore_programs::barrier::barriers;
//! use manycore_programs::stealing::disciplines;
//!
//! assert!(barriers().contains(&"dissemination"));
//! assert!(disciplines().contains(&"random"));
//! ```

mod additions;
mod audit;
pub mod barrier;
mod buffer;
pub mod channel;
pub mod cost;
pub mod fork;
pub mod graph;
mod irregular;
mod load;
pub mod lock;
mod mutex;
mod names;
pub mod partition;
#[cfg(feature = "sleep")]
pub mod sleep;
pub mod spmd;
pub mod stealing;
mod tiny;
mod unit_task;
#[cfg(test)]
mod wireless;

pub use additions::opaque_additions;
pub use audit::{Fault, audit};
pub use irregular::Irregular;
pub use load::Load;
pub use names::UnknownName;
pub use tiny::Tiny;
pub use unit_task::{Folding, InvalidSize, TaskSize, UnitTask};

/// The examples of the repository's README. They are compiled with this crate's examples.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The examples of this crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct OwnReadme;
