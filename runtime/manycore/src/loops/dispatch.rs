//! From a partitioner to the code that runs a loop by it.

use super::adaptive;
use super::launch::{Shares, Wake};
use crate::partition::{
    ALONE, Body, Claims, Division, FixedBlock, Partition, Partitioner, Sharded,
};
use crate::pool::{Address, Context, Registry};
use manycore_platform::Native;
use manycore_platform::Platform;
use std::num::NonZeroUsize;
use std::ops::Range;

/// Runs `body` over `range` as `partitioner` divides it.
///
/// Out of line, once for all loops: what is left in the caller is a call.
#[inline(never)]
pub(crate) fn drive<P: Platform>(
    pool: &Registry<P>,
    partitioner: Partitioner,
    range: Range<usize>,
    body: Body<'_>,
) {
    if !range.is_empty() {
        // As a worker of the pool, so that what the body asks of it is the same on all
        // threads.
        pool.inside(|| dispatch(pool, partitioner, range.start, range.len(), body));
    }
}

/// For the crates of users, as in `pool/compiled_here.rs`.
#[expect(dead_code, reason = "to have it compiled is all")]
static COMPILED_HERE: Address = Address::of(drive::<Native> as *const ());

fn dispatch<P: Platform>(
    pool: &Registry<P>,
    partitioner: Partitioner,
    start: usize,
    n: usize,
    body: Body<'_>,
) {
    match partitioner.0 {
        Division::Adaptive => adaptive::run(pool, start, n, body),
        Division::FixedBlock(block) => {
            run(pool, start, n, body, Some(block), |_| {
                FixedBlock::<P>::new(n, block, pool.shared().threads())
            });
        }
        Division::Sharded(block) => {
            run(pool, start, n, body, Some(block), |shares| Sharded {
                ranges: shares.of(n),
                block,
            });
        }
    }
}

/// Posts a loop that is to be shared whatever it costs, and wakes sleeping workers. No block is longer than
/// `block`. `partition` is as for [`Registry::post`].
pub(super) fn run<'p, P: Platform, S: Partition>(
    pool: &'p Registry<P>,
    start: usize,
    n: usize,
    body: Body<'_>,
    block: Option<NonZeroUsize>,
    partition: impl FnOnce(Shares<'p, P>) -> S,
) {
    let shared = if pool.shared().threads() == 1 {
        run_claimed(pool, start, body, partition)
    } else {
        (pool.post(body, start..start + n, Wake::Always, partition)).is_some()
    };
    if shared {
        return;
    }
    // All slots are taken by open loops: this loop runs alone.
    let block = block.map_or(n, NonZeroUsize::get);
    let mut done = 0;
    while done < n {
        let next = n.min(done.saturating_add(block));
        body.run(ALONE, start + done..start + next);
        done = next;
    }
}

/// Runs a partitioned loop in a pool of one thread, claims and all; `false`: no slot is free, and
/// nothing was run.
fn run_claimed<'p, P: Platform, S: Partition>(
    pool: &'p Registry<P>,
    start: usize,
    body: Body<'_>,
    partition: impl FnOnce(Shares<'p, P>) -> S,
) -> bool {
    let Some(slot) = Context::take_slot(pool.shared()) else {
        return false;
    };
    let partition = partition(Shares::alone(pool.shared(), slot.index()));
    let mut claims = partition.claims(ALONE);
    while let Some(block) = claims.next() {
        body.run(ALONE, start + block.start..start + block.end);
    }
    true
}
