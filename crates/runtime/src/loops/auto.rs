//! The block size that the cost model picks, for `fixed-block` and `sharded`
//! without a size.

use super::launch::Body;
use super::partitioner::{Block, Partitioner, drive};
use super::sites::Site;
use crate::cost::{Machine, Task, best_block};
use crate::pool::{Context, Shared};
use manycore_platform::Platform;

/// The first part of a loop that is run inline to measure it.
const SAMPLE: usize = 64;
/// What a claim's line takes from one core to another, in ns, until somebody
/// measures it for the pool: two cores of one group, as `manycore machine`
/// finds on most machines.
const HANDOFF_NS: f64 = 60.0;
/// How much later a spinning worker arrives than the caller, in ns.
const LAUNCH_NS: f64 = 400.0;

/// Runs the loop with the block that [`best_block`] picks for this pool and for
/// what an iteration took the last time. A loop seen for the first time runs a
/// 64th of its iterations inline, at least one, to measure them.
pub(super) fn run<P: Platform>(
    pool: &Shared<P>,
    start: usize,
    n: usize,
    body: Body<'_>,
    partitioner: fn(Block) -> Partitioner,
) {
    let site = Site::new(body.address(), n);
    let known = pool.sites.recall(site);
    let (sample, each) = match known {
        Some(each) => (0, each),
        None => {
            let sample = n.div_ceil(SAMPLE);
            let before = P::now();
            body.run(Context::current(pool).rank, start..start + sample);
            let each = P::now().saturating_sub(before) as f32 / sample as f32;
            pool.sites.learn(site, None, each);
            (sample, each)
        }
    };
    let machine = Machine {
        claim_ns: pool.claim_ticks as f64 / f64::from(pool.ticks_per_ns),
        handoff_ns: HANDOFF_NS,
        wake_ns: LAUNCH_NS,
        ..Machine::new(pool.allowed(), pool.core_groups)
    };
    let task = Task::new(f64::from(each / pool.ticks_per_ns));
    let block = best_block(&machine, &task, n - sample);
    drive(
        pool,
        partitioner(Block::size(block)),
        start + sample..start + n,
        body,
    );
}
