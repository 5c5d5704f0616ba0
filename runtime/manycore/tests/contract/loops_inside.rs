//! Inside a pool, the free loop functions run in that pool.

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
                let here = || {
                    let index = pool.current_thread_index();
                    assert!(index.is_some_and(|index| index < threads), "{index:?}");
                    ran.fetch_add(1, SeqCst)
                };
                let mut items = [0; 16];
                manycore::parallel_for(0..16, |_| _ = here());
                manycore::for_each(&items, |_| _ = here());
                manycore::for_each_mut(&mut items, |item| *item = here());
                manycore::chunks_mut(&mut items, 3, |_, chunk| chunk.fill_with(here));
                manycore::map_reduce(0..16, || (), |_| _ = here(), |(), ()| ());
            };
            pool.install(free);
            pool.join(free, free);
            pool.scope(|scope| scope.spawn(|_| free()));
            pool.parallel_for(0..4, |_| free());
            pool.broadcast(|_| free());
            assert_eq!(ran.into_inner(), 5 * 16 * (8 + threads));
        });
    }
}
