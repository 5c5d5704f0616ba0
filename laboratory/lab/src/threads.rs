//! Starts threads of a platform for probes and studies.

use anyhow::Context;
use manycore_platform::{Platform, ThreadSpec};
use std::io;
use std::ops::Range;

/// Starts a thread that runs `body` on one of `cpus`, or anywhere if `cpus` is empty.
pub(crate) fn start<P: Platform>(
    name: String,
    cpus: Vec<usize>,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<P::Thread> {
    let spec = ThreadSpec {
        name,
        cpus,
        ..ThreadSpec::default()
    };
    P::spawn(spec, Box::new(body))
}

/// Starts a thread for each rank, one after the other, on a CPU that `cpus` lists for it. `body`
/// makes the thread's function.
///
/// If a thread cannot be made, the earlier threads may wait for it forever. So the process reports the error and ends.
pub(crate) fn start_ranks<P: Platform, F: FnOnce() + Send + 'static>(
    ranks: Range<usize>,
    cpus: impl Fn(usize) -> Vec<usize>,
    mut body: impl FnMut(usize) -> F,
) -> impl Iterator<Item = anyhow::Result<P::Thread>> {
    ranks.map(move |rank| {
        let thread = start::<P>(format!("rank {rank}"), cpus(rank), body(rank));
        thread.context("cannot start a rank's thread")
    })
}
