//! Chooses the code that runs a loop by its partitioner.

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
/// This function is never inlined, so each loop in a program adds only a call.
#[inline(never)]
pub(crate) fn drive<P: Platform>(
    pool: &Registry<P>,
    partitioner: Partitioner,
    range: Range<usize>,
    body: Body<'_>,
) {
    if !range.is_empty() {
        // The caller runs as a worker of the pool, so all threads that run the body see the same pool.
        pool.inside(|| dispatch(pool, partitioner, range.start, range.len(), body));
    }
}

/// Compiles `drive` in this crate, not in the crates of users (`pool/compiled_here.rs`).
#[expect(dead_code, reason = "it is only compiled, never read")]
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

/// Posts a loop, whatever that costs, and wakes sleeping workers. No block is longer than `block`. `partition` is as
/// in [`Registry::post`].
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
    // Open loops have taken all slots of the board, in which loops are posted. So the caller runs this loop alone.
    let block = block.map_or(n, NonZeroUsize::get);
    let mut done = 0;
    while done < n {
        let next = n.min(done.saturating_add(block));
        body.run(ALONE, start + done..start + next);
        done = next;
    }
}

/// Runs a partitioned loop in a pool of one thread. The thread claims block after block. Returns `false` if no slot is
/// free and nothing has run.
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
