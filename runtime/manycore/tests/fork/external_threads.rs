//! Many threads outside a pool call it.

use super::pools::pool;
use super::stolen::Door;
use manycore::Pool;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

fn tree(pool: &Pool, depth: u32) -> u32 {
    if depth == 0 {
        return 1;
    }
    let (a, b) = pool.join(|| tree(pool, depth - 1), || tree(pool, depth - 1));
    a + b
}

fn each_call(pool: &Pool) {
    assert_eq!(tree(pool, 6), 64);
    assert_eq!(pool.install(|| tree(pool, 5)), 32);
    let sum = AtomicUsize::new(0);
    let add = |i| _ = sum.fetch_add(i, Relaxed);
    pool.scope(|scope| (0..20).for_each(|i| scope.spawn(move |_| add(i))));
    pool.in_place_scope(|scope| (0..20).for_each(|i| scope.spawn(move |_| add(i))));
    pool.in_place_scope_fifo(|scope| (0..20).for_each(|i| scope.spawn_fifo(move |_| add(i))));
    pool.parallel_for(0..20, add);
    pool.with(manycore::Partitioner::fixed_block(1))
        .parallel_for(0..20, add);
    assert_eq!(sum.into_inner(), 5 * 190);
    assert_eq!(
        pool.broadcast(|context| context.index()).len(),
        pool.threads()
    );
}

#[test]
fn eight_at_once() {
    for threads in [1, 2, 3, 4] {
        for dedicated in [false, true] {
            let builder = Pool::builder().threads(threads).dedicated(dedicated);
            let pool = builder.build().unwrap();
            thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| (0..10).for_each(|_| each_call(&pool)));
                }
            });
        }
    }
}

/// A dedicated pool runs every call on its own threads: no caller takes part.
#[test]
fn a_dedicated_pool_has_all_its_threads() {
    for threads in [1, 2] {
        let pool = Pool::builder()
            .threads(threads)
            .dedicated(true)
            .build()
            .unwrap();
        let here = thread::current().id();
        for _ in 0..100 {
            let there = pool.install(|| thread::current().id());
            assert_ne!(there, here);
            assert!(pool.join_context(|a| a.migrated(), |_| ()).0);
            let all = pool.broadcast(|_| thread::current().id());
            assert!(!all.contains(&here));
        }
        // Worker 0 also works without a caller.
        let (sender, receiver) = std::sync::mpsc::channel();
        pool.spawn_broadcast(move |context| sender.send(context.index()).unwrap());
        let mut indices: Vec<_> = receiver.iter().collect();
        indices.sort_unstable();
        assert_eq!(indices, (0..threads).collect::<Vec<_>>());
    }
}

/// One external caller has the slot and waits. Another caller finds no slot and hands in its call: the first
/// caller runs it.
#[test]
fn calls_while_worker_0_waits_in_a_scope() {
    let pool = pool(1);
    let (seated, done) = (Door::default(), Door::default());
    thread::scope(|threads| {
        threads.spawn(|| {
            pool.scope(|scope| {
                seated.open();
                // This thread is the pool's only one.
                scope.spawn(|_| done.pass());
            });
        });
        seated.pass();
        let caller = threads.spawn(|| pool.install(|| 7));
        done.open();
        assert_eq!(caller.join().unwrap(), 7);
    });
}

/// The seat often changes hands.
#[test]
fn short_calls_from_many_threads() {
    for threads in [1, 2, 3] {
        let pool = pool(threads);
        let count = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        pool.install(|| count.fetch_add(1, Relaxed));
                    }
                });
            }
        });
        assert_eq!(count.into_inner(), 4_000);
    }
}
