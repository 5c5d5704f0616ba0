//! rayon-core's interface over manycore. A program that uses rayon runs on manycore's pool, unchanged, if its
//! `Cargo.toml` contains
//!
//! ```toml
//! [patch.crates-io]
//! rayon-core = { path = "…/manycore/runtime/rayon-core" }
//! ```
//!
//! The functions and types have the same meaning as in rayon-core 1.13. This crate's README says how to check that the
//! patch has taken effect, what differs, and what can be set.
//!
//! ```
//! let (a, b) = rayon_core::join(|| 1 + 1, || 2 + 2);
//! assert_eq!((a, b), (2, 4));
//! ```

mod builder;
mod compatibility;
mod error;
mod global;
mod handlers;
mod pool;
mod settings;
mod spawning;
mod trace;

pub use builder::ThreadPoolBuilder;
#[allow(deprecated)]
pub use compatibility::{Configuration, initialize};
pub use error::ThreadPoolBuildError;
pub use global::{
    broadcast, current_num_threads, end_global_threads, in_place_scope, in_place_scope_fifo, join,
    join_context, scope, scope_fifo, spawn, spawn_broadcast, spawn_fifo,
};
pub use manycore::seam::Probe;
pub use manycore::{
    BroadcastContext, FnContext, Scope, ScopeFifo, Yield, current_thread_has_pending_tasks,
    current_thread_index, yield_local, yield_now,
};
pub use pool::ThreadPool;
pub use settings::ThreadPoolBuilderExt;
pub use spawning::ThreadBuilder;

/// The largest number of threads that a pool can have: 16,383.
///
/// A builder reduces larger numbers to this one.
///
/// ```
/// assert!(rayon_core::max_num_threads() >= 1);
/// ```
pub fn max_num_threads() -> usize {
    (1 << 14) - 1
}

/// The README's example, compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The guide's page on rayon programs.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/rayon.md")]
struct Guide;
