//! The block size that the cost model picks, for `fixed-block` and `sharded`
//! without a size.

use crate::cost::{Machine, Prices, Task, best_block};
use manycore::Partitioner;
use manycore::seam::Divided;
use manycore_platform::Platform;

/// Iterations are run inline, to measure them, until they have taken this long, in
/// ns: one, two, four.
const SAMPLE_NS: f32 = 1_000.0;

/// A block size is reviewed after this many blocks a thread.
const ROUND: usize = 64;
/// After that it is reviewed each time that the number of blocks has grown by this factor.
const GROWTH: usize = 16;

/// Runs the loop with the block that [`best_block`] picks for this pool and the time of an
/// iteration: the last known time, unless the first iteration takes much longer today. A loop that
/// is believed short needs one block, so the belief must not decide alone.
///
/// Nor must a sample: an interrupt of a millisecond in it would mean blocks of one
/// iteration, however many there are. So a loop of many blocks runs in rounds, each
/// [`GROWTH`] times as long as the one before, and the block is picked again between them:
/// a post each, some four for a loop of 2^32 blocks.
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
        // One thread at least has worked all the time, and all of them at most.
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

/// Runs some iterations inline, if it takes that to know how long they are. Returns how
/// many, and the ticks that one takes.
fn sample<P: Platform>(divided: &Divided<'_, P>) -> (usize, f32) {
    let n = divided.iterations();
    let known = divided.recall();
    let enough = SAMPLE_NS * divided.ticks_per_ns();
    // If the loop is known to be short, its first iteration is timed.
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
        // One may take longer than the others, and no wonder.
        Some(each) if spent <= 2.0 * each + enough => (done, each),
        _ => {
            let measured = spent / done as f32;
            divided.learn(measured);
            (done, measured)
        }
    }
}
