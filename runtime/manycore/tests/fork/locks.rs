//! A thread holds a lock around a join or a loop. While it waits, it runs only descendants, so no job that it
//! runs wants the lock.

use super::partitioners::all;
use super::pools::pool;
use manycore::Pool;
use std::cell::Cell;
use std::sync::Mutex;

thread_local! {
    static HOLDS: Cell<bool> = const { Cell::new(false) };
}

/// Runs `section` under `lock`, which this thread must not hold.
fn locked(lock: &Mutex<u32>, section: impl FnOnce()) {
    assert!(
        !HOLDS.replace(false),
        "an unrelated job runs on the stack of the lock's holder"
    );
    let mut count = lock.lock().unwrap();
    HOLDS.set(true);
    section();
    HOLDS.set(false);
    *count += 1;
}

/// A tree of joins. It takes no lock; its caller may hold one.
fn tree(pool: &Pool, depth: u32, leaf: &(impl Fn() + Sync)) {
    if depth == 0 {
        return leaf();
    }
    pool.join(
        || tree(pool, depth - 1, leaf),
        || tree(pool, depth - 1, leaf),
    );
}

fn spin() {
    (0..50).for_each(|_| std::hint::spin_loop());
}

#[test]
fn around_a_join() {
    for threads in [2, 3, 4] {
        let pool = pool(threads);
        for _ in 0..20 {
            let lock = Mutex::new(0);
            pool.install(|| {
                tree(&pool, 7, &|| locked(&lock, || tree(&pool, 4, &spin)));
            });
            assert_eq!(lock.into_inner().unwrap(), 128);
        }
    }
}

#[test]
fn around_a_loop() {
    for threads in [2, 3, 4] {
        let pool = pool(threads);
        for partitioner in all() {
            let loops = pool.with(partitioner);
            let lock = Mutex::new(0);
            loops.parallel_for(0..64, |_| {
                locked(&lock, || loops.parallel_for(0..16, |_| spin()));
            });
            pool.install(|| {
                tree(&pool, 6, &|| {
                    locked(&lock, || loops.parallel_for(0..16, |_| spin()))
                });
            });
            loops.parallel_for(0..64, |_| locked(&lock, || tree(&pool, 4, &spin)));
            assert_eq!(lock.into_inner().unwrap(), 3 * 64, "{partitioner}");
        }
    }
}

/// Nor does the holder run an unrelated loop or detached job.
#[test]
fn among_strangers() {
    let pool = pool(3);
    let lock = std::sync::Arc::new(Mutex::new(0));
    for _ in 0..200 {
        let lock = std::sync::Arc::clone(&lock);
        pool.spawn(move || {
            manycore::join(
                || locked(&lock, || _ = manycore::join(spin, spin)),
                || locked(&lock, || _ = manycore::join(spin, spin)),
            );
        });
    }
    drop(pool);
    assert_eq!(*lock.lock().unwrap(), 400);
}
