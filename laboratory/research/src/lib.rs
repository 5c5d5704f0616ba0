//! The work that manycore is compared with, and the work that it reproduces: baseline barriers,
//! disciplines of work stealing, published sleep policies and the published cost model. This
//! crate is for studies and tests, not for programs, and is not published.
//!
//! ```
//! use manycore_research::barrier::barriers;
//! use manycore_research::stealing::disciplines;
//!
//! assert!(barriers().contains(&"dissemination"));
//! assert!(disciplines().contains(&"random"));
//! ```

pub mod barrier;
pub mod cost;
mod mutex;
pub mod sleep;
pub mod stealing;

/// The examples of the repository's README, compiled with this crate's.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// This crate's README, likewise.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct OwnReadme;
