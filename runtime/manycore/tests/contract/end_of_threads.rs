//! `end_threads` where it cannot end the threads: it says so, and does not wait for its own caller.

use super::live::ends;
use manycore::Pool;
use std::sync::mpsc;
use std::thread;

/// Calls `end_threads` in the body of a scope whose thread may be no worker of the pool: the pool has one permit,
/// or threads of its own only, or another thread has the caller slot. The call comes from the body, or from a call
/// to another pool.
#[test]
fn the_body_of_a_scope_in_place_is_inside() {
    for case in 0..32_usize {
        let (threads, dedicated) = (1 + case % 2, case & 2 > 0);
        let (taken, fifo, elsewhere) = (case & 4 > 0, case & 8 > 0, case & 16 > 0);
        ends(&format!("case {case}"), move || {
            let pool = Pool::builder().threads(threads).dedicated(dedicated);
            let pool = pool.build().unwrap();
            let other = Pool::builder().threads(1).dedicated(true).build().unwrap();
            let end = || match elsewhere {
                true => other.install(|| pool.end_threads()),
                false => pool.end_threads(),
            };
            thread::scope(|outside| {
                let (inside, begun) = mpsc::channel();
                let (leave, over) = mpsc::channel::<()>();
                if taken {
                    let pool = &pool;
                    outside.spawn(move || {
                        pool.in_place_scope(|_| {
                            inside.send(()).unwrap();
                            _ = over.recv();
                        });
                    });
                    begun.recv().unwrap();
                }
                let ended = match fifo {
                    // A pool of one starts its thread with the first job.
                    true => pool.in_place_scope_fifo(|scope| {
                        scope.spawn_fifo(|_| ());
                        end()
                    }),
                    false => pool.in_place_scope(|scope| {
                        scope.spawn(|_| ());
                        end()
                    }),
                };
                assert!(!ended, "the threads ended below a call");
                drop(leave);
            });
            assert!(pool.end_threads(), "no thread is inside now");
        });
    }
}
