//! `manycore::parallel_for` inside a pool is a loop of that pool.

use super::live::ends;
use super::pools::pool;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

#[test]
fn free_loops_are_the_pool_s() {
    for threads in 1..=3 {
        ends("free loops", move || {
            let pool = pool(threads);
            let ran = AtomicUsize::new(0);
            let free = || {
                manycore::parallel_for(0..16, |_| {
                    let index = pool.current_thread_index();
                    assert!(index.is_some_and(|index| index < threads), "{index:?}");
                    ran.fetch_add(1, SeqCst);
                });
            };
            pool.install(free);
            pool.join(free, free);
            pool.scope(|scope| scope.spawn(|_| free()));
            pool.parallel_for(0..4, |_| free());
            pool.broadcast(|_| free());
            assert_eq!(ran.into_inner(), 16 * (8 + threads));
        });
    }
}
