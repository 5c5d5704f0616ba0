//! Loops with every partitioner: ranges, nested loops, reductions, scans, panics and long runs.

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
