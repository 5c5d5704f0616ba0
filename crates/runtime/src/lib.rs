//! Parallel loops that pick their own block size.
//!
//! ```
//! use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
//!
//! let sum = AtomicU64::new(0);
//! manycore::parallel_for(0..1_000, |i| {
//!     sum.fetch_add(i as u64, Relaxed);
//! });
//! assert_eq!(sum.into_inner(), 499_500);
//! ```
//!
//! A [`Pool`] runs loops over index ranges and slices
//! ([`parallel_for`](Pool::parallel_for), [`for_each_mut`](Pool::for_each_mut),
//! [`chunks_mut`](Pool::chunks_mut)), reductions
//! ([`map_reduce`](Pool::map_reduce)) and scans
//! ([`inclusive_scan`](Pool::inclusive_scan)). Nothing needs tuning: the
//! default [`Partitioner`] measures the loop while it runs, a loop too short
//! to gain from a second thread runs inline, and idle workers spin only as
//! long as the next loop is likely to be near.
//!
//! Everything is written over the [`Platform`] trait, so that the same code is
//! model-checked; [`Native`] is the default and costs nothing.

pub mod barrier;
pub mod channel;
pub mod cost;
pub mod elastic;
mod loops;
pub mod piles;
mod pool;
pub mod sleep;
mod steal;
pub mod topology;

pub use loops::{Block, Loop, ParsePartitionerError, Partitioner, parallel_for};
pub use manycore_platform::{Native, Platform};
pub use pool::{
    BroadcastContext, BuildError, Builder, FnContext, Pool, Scope, ScopeFifo, Yield, broadcast,
    current_thread_has_pending_tasks, current_thread_index, in_place_scope, in_place_scope_fifo,
    join, join_context, scope, scope_fifo, spawn, spawn_broadcast, spawn_fifo, yield_local,
    yield_now,
};
pub use topology::Affinity;
