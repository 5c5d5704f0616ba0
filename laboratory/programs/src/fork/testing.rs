//! Schedulers and checks for the kernels' tests.

use super::{Fork, Kernel, Serial};
use manycore_platform::Native;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

/// A scheduler that chooses at random at each `join`. It runs the closures one after the other in either order, or runs
/// one closure on a new thread, as if that closure had migrated.
pub(super) struct Threads {
    threads: usize,
    /// How many more threads may be made at the moment. Relaxed, like `joins`: both only count, and the making and
    /// joining of a thread order its effects.
    spare: AtomicUsize,
    /// The number of joins so far. Choices depend on this number and the seed.
    joins: AtomicU64,
    choice: Choice,
}

enum Choice {
    Lot(u64),
    Migrate,
    Stay,
}

impl Threads {
    /// A scheduler that chooses by `seed`, and splits as if it had `threads` threads.
    pub(super) fn new(threads: usize, seed: u64) -> Self {
        Self::with(threads, 8, Choice::Lot(seed))
    }

    /// A scheduler that runs all closures on one thread, in order.
    pub(super) fn that_never_migrate(threads: usize) -> Self {
        Self::with(threads, 0, Choice::Stay)
    }

    /// A scheduler under which only the second closure of the first `join` migrates.
    pub(super) fn that_migrate_at_first(threads: usize) -> Self {
        Self::with(threads, 1, Choice::Migrate)
    }

    fn with(threads: usize, spare: usize, choice: Choice) -> Self {
        Self {
            threads,
            spare: AtomicUsize::new(spare),
            joins: AtomicU64::new(0),
            choice,
        }
    }

    fn lot(&self) -> u64 {
        let join = self.joins.fetch_add(1, Ordering::Relaxed);
        match self.choice {
            // With time new threads become rarer, so that large kernels do not make too many.
            Choice::Lot(seed) => fastrand::Rng::with_seed(seed ^ join << 20).u64(0..6 + join / 16),
            Choice::Migrate if join == 0 => 0,
            Choice::Migrate | Choice::Stay => 5,
        }
    }

    fn takes_a_thread(&self) -> bool {
        let take = |spare: usize| spare.checked_sub(1);
        (self.spare)
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .is_ok()
    }

    /// Runs `there` on a new thread, and `here` meanwhile. Both are trait objects, so that the long code
    /// that makes a thread is compiled once.
    fn apart(&self, there: &mut (dyn FnMut() + Send), here: &mut dyn FnMut()) {
        thread::scope(|scope| {
            let there = scope.spawn(there);
            here();
            there.join().unwrap();
        });
        self.spare.fetch_add(1, Ordering::Relaxed);
    }
}

impl Fork for Threads {
    type Platform = Native;

    fn threads(&self) -> usize {
        self.threads
    }

    fn join_context<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(bool) -> RA + Send,
        B: FnOnce(bool) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let (mut a, mut b) = (Some(a), Some(b));
        let (mut left, mut right) = (None, None);
        let mut first = |migrated| left = a.take().map(|a| a(migrated));
        let mut second = |migrated| right = b.take().map(|b| b(migrated));
        match self.lot() {
            0 | 1 if self.takes_a_thread() => {
                self.apart(&mut || second(true), &mut || first(false));
            }
            2 if self.takes_a_thread() => {
                self.apart(&mut || first(true), &mut || second(false));
            }
            3 => {
                second(false);
                first(false);
            }
            _ => {
                first(false);
                second(false);
            }
        }
        (left.unwrap(), right.unwrap())
    }
}

/// A few schedulers that choose differently.
pub(super) fn schedules() -> impl Iterator<Item = Threads> {
    [(1, 0), (2, 1), (3, 2), (16, 3)]
        .into_iter()
        .map(|(threads, seed)| Threads::new(threads, seed))
}

/// Asserts that the kernel's answer is right sequentially and in all schedules, and that the kernel can run again after
/// a reset.
pub(super) fn check<K: Kernel>(kernel: &mut K) {
    kernel.sequential::<Native>();
    kernel.verify().expect("sequential");
    kernel.reset();
    kernel.run(&Serial::<Native>::default());
    kernel.verify().expect("on one thread");
    for fork in schedules() {
        kernel.reset();
        kernel.run(&fork);
        kernel.verify().expect("in parallel");
    }
}
