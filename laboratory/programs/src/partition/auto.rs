//! The block size that the cost model gives, for `fixed-block` and `sharded` without a size.

use crate::cost::{Machine, Prices, Task, best_block};
use manycore::Partitioner;
use manycore::seam::Divided;
use manycore_platform::Platform;

/// The first iterations run inline until they have taken this long, in ns. Their number doubles each time:
/// one, two, four.
const SAMPLE_NS: f32 = 1_000.0;

/// The block size is reviewed after this many blocks per thread.
const ROUND: usize = 64;
/// The next review comes after this many times as many blocks.
const GROWTH: usize = 16;

/// Runs the loop with the block that [`best_block`] picks for this pool and the time of an iteration. This time is the
/// last known time, unless the first iteration now takes much longer. A loop that seems short gets one block, so a
/// remembered time must not decide alone.
///
/// A sample must not decide alone either: after an interrupt of a millisecond, all blocks would have one iteration. So
/// a loop of many blocks runs in rounds, and [`best_block`] picks again after each round. A round is [`GROWTH`] times
/// as long as the round before. Each round costs the post of one loop, and a loop of 2^32 blocks has about four rounds.
pub(super) fn run<P: Platform>(
    divided: &Divided<'_, P>,
    threads: usize,
    told: Option<Prices>,
    partitioner: fn(usize) -> Partitioner,
) {
    let n = divided.iterations();
    let (mut done, mut each) = sample(divided);
    let prices = told.unwrap_or_else(|| Prices {
        claim_ns: divided.claim_ticks() as f64 / f64::from(divided.ticks_per_ns()),
        ..Prices::default()
    });
    let machine = Machine {
        prices,
        ..Machine::new(divided.allowed(), divided.core_groups())
    };
    let mut blocks = ROUND * threads;
    while done < n {
        let task = Task::new(f64::from(each / divided.ticks_per_ns()));
        let block = best_block(&machine, &task, n - done);
        let to = if (n - done) / block > blocks.saturating_mul(GROWTH) {
            done + blocks * block
        } else {
            n
        };
        let before = P::now();
        divided.run_by(partitioner(block), done..to);
        let took = P::now().saturating_sub(before) as f32;
        // During this time at least one thread has worked, and at most all threads.
        let least = took / (to - done) as f32;
        let most = least * threads as f32;
        let before = each;
        each = each.clamp(least / 2.0, most).max(f32::MIN_POSITIVE);
        if each != before {
            divided.learn(each);
        }
        done = to;
        blocks = blocks.saturating_mul(GROWTH);
    }
}

/// Runs some iterations inline, if the time of an iteration must be measured. Returns how many ran, and the
/// ticks of one iteration.
fn sample<P: Platform>(divided: &Divided<'_, P>) -> (usize, f32) {
    let n = divided.iterations();
    let known = divided.recall();
    let enough = SAMPLE_NS * divided.ticks_per_ns();
    // If the loop is known to be short, the first iteration is timed.
    let most = match known {
        Some(each) if each < enough => 1,
        Some(_) => 0,
        None => n,
    };
    let (mut done, mut spent) = (0, 0.0);
    while done < most && spent < enough {
        let to = n.min((2 * done).saturating_add(1));
        let before = P::now();
        divided.run(done..to);
        spent += P::now().saturating_sub(before) as f32;
        done = to;
    }
    match known {
        // One iteration may take longer than the others.
        Some(each) if spent <= 2.0 * each + enough => (done, each),
        _ => {
            let measured = spent / done as f32;
            divided.learn(measured);
            (done, measured)
        }
    }
}
