//! Spare workers, for ranks that wait while no worker changes ranks.

use super::{HALL, MOST, RUNNING, Rank, STALL, WAITING, Worker};
use crate::lock::Guarded;
use std::sync::Once;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::time::Duration;

/// The workers there are.
static WORKERS: Guarded<Vec<&'static Worker>> = Guarded::new(vec![]);
/// Indices of spare workers begin here: they own no share.
const FIRST: usize = usize::MAX / 2;

/// How often it is looked whether there is anything to look at.
const IDLE: Duration = Duration::from_millis(20);

/// The worker's changes are looked at from now on.
pub(super) fn watch(worker: &'static Worker) {
    WORKERS.with(|workers| workers.push(worker));
}

/// Begins to look for stalls.
pub(super) fn start() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| crate::crew::spawn("manycore-omp-s", Some(64 << 10), look));
}

fn ranks() -> impl Iterator<Item = &'static Rank> {
    let count = HALL.count.load(Acquire).min(MOST);
    // SAFETY: ranks live for ever.
    let rank = |slot: &std::sync::atomic::AtomicPtr<Rank>| unsafe { slot.load(Acquire).as_ref() };
    HALL.ranks[..count].iter().filter_map(rank)
}

/// Whether ranks run, and others could.
fn is_contended() -> bool {
    HALL.owned.load(Relaxed)
        && ranks().any(|rank| rank.state.load(Relaxed) == RUNNING)
        && ranks().any(|rank| rank.state.load(Relaxed) == WAITING)
}

/// Looks for stalls. One thread does at a time: when it runs a rank, another begins to look.
fn look() {
    let changes = || WORKERS.with(|all| all.iter().map(|w| w.switches.load(Relaxed)).sum::<u64>());
    let spare = Worker::new(FIRST);
    let mut last = changes();
    loop {
        let contended = is_contended();
        std::thread::sleep(if contended { STALL } else { IDLE });
        let now = changes();
        let stalled = contended && now == last && is_contended();
        last = now;
        if let Some(rank) = stalled.then(|| spare.take(true)).flatten() {
            crate::crew::spawn("manycore-omp-s", Some(64 << 10), look);
            // Until it waits again. Meanwhile this thread may be blocked for long.
            spare.run(rank);
            return;
        }
    }
}
