//! The locks under the model checkers. Sections do not overlap, each section sees the previous one, and each thread
//! enters.

use super::{Lock, McsLock, TicketLock};
use manycore_check::{Loom, Shuttle, loom_model, shuttle_pct, shuttle_random, team};
use manycore_platform::{Atomic, Ordering::Relaxed, Platform};

/// Each of `threads` threads enters `rounds` times, reads the count and writes it back. The count is right only if
/// sections exclude each other and see each other's writes.
fn count<P: Platform, L: Lock<P>>(threads: usize, rounds: u64) {
    let lock = L::new(threads);
    let count = P::AtomicU64::new(0);
    team::<P>(threads, |rank| {
        for _ in 0..rounds {
            lock.with(rank, || count.store(count.load(Relaxed) + 1, Relaxed));
        }
    });
    let all = rounds * threads as u64;
    assert_eq!(lock.with(0, || count.load(Relaxed)), all);
}

#[test]
fn two_threads_in_every_interleaving() {
    loom_model(Some(3), || count::<Loom, TicketLock<Loom>>(2, 2));
    loom_model(Some(3), || count::<Loom, McsLock<Loom>>(2, 2));
}

#[test]
fn three_threads_in_many_interleavings() {
    shuttle_random(500, || count::<Shuttle, TicketLock<Shuttle>>(3, 3));
    shuttle_random(500, || count::<Shuttle, McsLock<Shuttle>>(3, 3));
    shuttle_pct(500, 3, || count::<Shuttle, McsLock<Shuttle>>(3, 3));
}
