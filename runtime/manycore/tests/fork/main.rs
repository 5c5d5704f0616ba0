//! Fork-join as a user sees it: the promises of `join`, scopes, `spawn`, `broadcast` and related functions,
//! in one pool and in several.

#[path = "../support/eventually.rs"]
mod eventually;
#[path = "../support/partitioners.rs"]
mod partitioners;
#[path = "../support/pools.rs"]
mod pools;
#[cfg(unix)]
#[path = "../support/this_program.rs"]
mod this_program;

mod adopted;
mod broadcasts;
mod deep;
mod external_threads;
mod joins;
mod life;
mod locks;
mod panics;
mod pools_in_pools;
mod scopes;
mod spawns;
mod stolen;
