//! Observes a program's bodies: the permits and ranks of each thread, and the number of runs of each iteration.
//!
//! The observations are in the host's memory and take no simulated time, as in
//! [`recorder`](super::super::recorder).

use manycore_chip::{Simulated, SimulatedThread};
use manycore_platform::Platform;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The newest use of a permit or rank, which only one thread at a time may use.
#[derive(Clone, Copy)]
struct Stay {
    thread: SimulatedThread,
    /// When the use ended. `None` if it has not ended.
    until: Option<u64>,
}

#[derive(Default)]
struct Seen {
    /// The newest stretch (user code without a call into a pool) with each permit of each pool.
    permits: [BTreeMap<usize, Stay>; 2],
    /// For each loop, how often each iteration ran, and the newest block with each rank.
    loops: Vec<(Vec<u32>, BTreeMap<usize, Stay>)>,
    /// The number of running threads of each pool.
    live: [usize; 2],
    /// The number of calls into each pool that have begun, and of those that have not ended.
    begun: [u64; 2],
    under_way: [usize; 2],
    /// The first failure.
    broken: Option<String>,
}

#[derive(Default)]
pub(super) struct Witness(Mutex<Seen>);

impl Seen {
    fn blame(&mut self, what: impl FnOnce() -> String) {
        self.broken.get_or_insert_with(what);
    }
}

/// Records that this thread begins to use the permit or rank `to`. Returns another thread that still uses it.
fn come(stays: &mut BTreeMap<usize, Stay>, to: usize) -> Option<SimulatedThread> {
    let (thread, now) = (Simulated::this_thread(), Simulated::now());
    let here = Stay {
        thread,
        until: None,
    };
    let before = stays.insert(to, here)?;
    let apart = before.until.is_some_and(|until| until <= now);
    (!apart && before.thread != thread).then_some(before.thread)
}

/// Records that this thread stops using the permit or rank `from`. Returns `false` if another thread has begun to
/// use it.
fn go(stays: &mut BTreeMap<usize, Stay>, from: usize) -> bool {
    let (thread, now) = (Simulated::this_thread(), Simulated::now());
    match stays.get_mut(&from) {
        Some(stay) if stay.thread == thread => {
            stay.until = Some(now);
            true
        }
        _ => false,
    }
}

impl Witness {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the first failure.
    pub(super) fn broken(&self) -> Option<String> {
        self.seen().broken.clone()
    }

    pub(super) fn blame(&self, what: impl FnOnce() -> String) {
        self.seen().blame(what);
    }

    /// This thread begins a stretch with `permit` of `pool`.
    pub(super) fn begin_stretch(&self, pool: usize, permit: Option<usize>) {
        let mut seen = self.seen();
        let Some(permit) = permit else {
            return seen.blame(|| format!("a body of pool {pool} ran with no permit"));
        };
        if let Some(other) = come(&mut seen.permits[pool], permit) {
            let this = Simulated::this_thread();
            let now = Simulated::now();
            seen.blame(|| {
                format!("{other:?} and {this:?} both had permit {permit} of pool {pool} at {now}")
            });
        }
    }

    /// This thread ends its stretch with `permit` of `pool`.
    pub(super) fn end_stretch(&self, pool: usize, permit: Option<usize>) {
        let mut seen = self.seen();
        let Some(permit) = permit else { return };
        if !go(&mut seen.permits[pool], permit) {
            let this = Simulated::this_thread();
            seen.blame(|| {
                format!("{this:?} changed to permit {permit} of pool {pool} without a call")
            });
        }
    }

    /// A loop begins. Returns its number.
    pub(super) fn call_loop(&self, iterations: usize) -> usize {
        let loops = &mut self.seen().loops;
        loops.push((vec![0; iterations], BTreeMap::new()));
        loops.len() - 1
    }

    pub(super) fn iteration(&self, called: usize, i: usize) {
        self.seen().loops[called].0[i] += 1;
    }

    /// This thread begins a block of loop `called` with `rank`.
    pub(super) fn begin_block(&self, called: usize, rank: usize) {
        let mut seen = self.seen();
        if let Some(other) = come(&mut seen.loops[called].1, rank) {
            let this = Simulated::this_thread();
            seen.blame(|| format!("{other:?} and {this:?} both had rank {rank} of loop {called}"));
        }
    }

    pub(super) fn end_block(&self, called: usize, rank: usize) {
        go(&mut self.seen().loops[called].1, rank);
    }

    /// Loop `called` has ended. Checks that each iteration has run once.
    pub(super) fn end_loop(&self, called: usize) {
        let mut seen = self.seen();
        let runs = std::mem::take(&mut seen.loops[called].0);
        if let Some(i) = runs.iter().position(|&runs| runs != 1) {
            let (n, times) = (runs.len(), runs[i]);
            seen.blame(|| format!("iteration {i} of {n} of loop {called} ran {times} times"));
        }
    }

    pub(super) fn thread_begins(&self, pool: usize) {
        self.seen().live[pool] += 1;
    }

    pub(super) fn thread_ends(&self, pool: usize) {
        self.seen().live[pool] -= 1;
    }

    pub(super) fn begin_call(&self, pool: usize) {
        let mut seen = self.seen();
        seen.begun[pool] += 1;
        seen.under_way[pool] += 1;
    }

    pub(super) fn end_call(&self, pool: usize) {
        self.seen().under_way[pool] -= 1;
    }

    /// Returns how many calls into `pool` have begun, if all have ended.
    pub(super) fn quiet(&self, pool: usize) -> Option<u64> {
        let seen = self.seen();
        (seen.under_way[pool] == 0).then_some(seen.begun[pool])
    }

    /// `end_threads` of `pool` has returned. `before` is the result of [`quiet`](Self::quiet) before. If no call
    /// has begun since, checks that no thread of the pool runs.
    pub(super) fn threads_ended(&self, pool: usize, before: Option<u64>) {
        let mut seen = self.seen();
        let still = before.is_some_and(|before| seen.begun[pool] == before);
        let live = seen.live[pool];
        if still && live != 0 {
            seen.blame(|| format!("pool {pool} had {live} threads after `end_threads`"));
        }
    }
}
