//! Loops, by every partitioner: over ranges, nested, reductions and scans, panics, and for long.

#[path = "../support/eventually.rs"]
mod eventually;
#[path = "../support/partitioners.rs"]
mod partitioners;
#[path = "../support/pools.rs"]
mod pools;
#[path = "../support/visits.rs"]
mod visits;

mod beliefs;
mod dropped;
mod iterators;
mod nesting;
mod panics;
mod payloads;
mod ranges;
mod reduce_scan;
mod stress;
