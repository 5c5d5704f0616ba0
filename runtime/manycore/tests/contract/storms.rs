//! Many callers of every kind. A pool of n threads never runs more than n bodies at the same time, and no two
//! of these have one index.

use super::live::ends;
use super::pools::pool;
use manycore::Pool;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;

const CALLERS: u64 = 4;
const CALLS: usize = 150;

/// The workers that run now, by index.
struct Watch {
    /// Whether the worker of each index runs.
    taken: Vec<AtomicBool>,
    running: AtomicUsize,
    /// The number of sections so far.
    sections: AtomicUsize,
}

impl Watch {
    fn new(threads: usize) -> Arc<Self> {
        Arc::new(Self {
            taken: (0..threads).map(|_| AtomicBool::new(false)).collect(),
            running: AtomicUsize::new(0),
            sections: AtomicUsize::new(0),
        })
    }

    /// A part of a body that does not wait.
    fn section(&self) {
        let threads = self.taken.len();
        let index = manycore::current_thread_index().expect("bodies run in the pool");
        assert!(index < threads, "index {index} in a pool of {threads}");
        let was_taken = self.taken[index].swap(true, SeqCst);
        assert!(!was_taken, "two bodies with index {index} at once");
        let others = self.running.fetch_add(1, SeqCst);
        assert!(others < threads, "more than {threads} bodies at once");
        // Lets other threads run, so that a body too many would be seen.
        thread::yield_now();
        (0..100).for_each(|_| std::hint::spin_loop());
        thread::yield_now();
        assert_eq!(manycore::current_thread_index(), Some(index));
        self.running.fetch_sub(1, SeqCst);
        self.taken[index].store(false, SeqCst);
        self.sections.fetch_add(1, SeqCst);
    }
}

/// Halves down to `leaves` sections, with one section before and one after each join.
fn tree(pool: &Pool, watch: &Watch, depth: u32) -> usize {
    watch.section();
    if depth == 0 {
        return 1;
    }
    let (a, b) = pool.join(
        || tree(pool, watch, depth - 1),
        || tree(pool, watch, depth - 1),
    );
    watch.section();
    2 + a + b
}

/// Makes one call of this kind. Returns its number of sections.
fn call(pool: &Pool, watch: &Arc<Watch>, kind: usize, size: usize) -> usize {
    match kind {
        0 => {
            pool.parallel_for(0..size, |_| watch.section());
            size
        }
        1 => pool.install(|| tree(pool, watch, 3)),
        2 => {
            pool.scope(|scope| {
                for _ in 0..size {
                    scope.spawn(|scope| {
                        watch.section();
                        scope.spawn(|_| watch.section());
                    });
                }
                watch.section();
            });
            2 * size + 1
        }
        3 => {
            let watch = Arc::clone(watch);
            pool.spawn(move || {
                watch.section();
                manycore::join(|| watch.section(), || watch.section());
                watch.section();
            });
            4
        }
        4 => pool.broadcast(|_| watch.section()).len(),
        5 => {
            let watch = Arc::clone(watch);
            pool.spawn_broadcast(move |_| watch.section());
            pool.threads()
        }
        // A nested call of any other kind.
        _ => pool.install(|| {
            watch.section();
            let inner = call(pool, watch, size % 6, size);
            watch.section();
            2 + inner
        }),
    }
}

fn storm(threads: usize, dedicated: bool, seed: u64) {
    let builder = Pool::builder().threads(threads).dedicated(dedicated);
    let pool = builder.build().unwrap();
    let watch = Watch::new(threads);
    let caller = |caller: u64| {
        let mut random = fastrand::Rng::with_seed(seed * CALLERS + caller);
        let one = |_| call(&pool, &watch, random.usize(..7), random.usize(..12));
        (0..CALLS).map(one).sum::<usize>()
    };
    let expected: usize = thread::scope(|scope| {
        let caller = &caller;
        let callers = [0, 1, 2, 3].map(|number| scope.spawn(move || caller(number)));
        callers.into_iter().map(|one| one.join().unwrap()).sum()
    });
    drop(pool);
    assert_eq!(watch.sections.load(SeqCst), expected);
}

#[test]
fn never_more_than_the_pool_has() {
    for threads in 1..=3 {
        for dedicated in [false, true] {
            for seed in 0..4 {
                ends("a storm", move || storm(threads, dedicated, seed));
            }
        }
    }
}

/// The bodies are long, so that the threads that wait for them give their permits away.
#[test]
fn nor_while_permits_change_hands() {
    for threads in 1..=3 {
        ends("a storm of waiting", move || {
            let pool = pool(threads);
            let watch = Watch::new(threads);
            let slow = || {
                watch.section();
                thread::sleep(std::time::Duration::from_micros(300));
                watch.section();
            };
            let rounds = |kind: usize| {
                for _ in 0..30 {
                    match kind {
                        0 => drop(pool.join(slow, slow)),
                        1 => pool.scope(|scope| {
                            scope.spawn(|_| slow());
                            scope.spawn(|_| slow());
                        }),
                        2 => pool.parallel_for(0..2, |_| slow()),
                        _ => pool.install(|| {
                            slow();
                            slow();
                        }),
                    }
                }
            };
            thread::scope(|scope| {
                for kind in 0..4 {
                    let rounds = &rounds;
                    scope.spawn(move || rounds(kind));
                }
            });
            drop(pool);
            assert_eq!(watch.sections.load(SeqCst), 4 * 30 * 4);
        });
    }
}
