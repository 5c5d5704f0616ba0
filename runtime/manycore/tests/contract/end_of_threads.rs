//! `end_threads` where it cannot end the threads: it says so, and does not wait for its own caller.

use super::live::ends;
use manycore::Pool;
use std::sync::{Arc, OnceLock, mpsc};
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

/// No caller has permit 0 then, and no caller can come for its mail.
#[test]
fn handlers_of_the_end_broadcast() {
    for case in 0..12_usize {
        ends(&format!("case {case}"), move || {
            let exits = Arc::new(OnceLock::<Arc<Pool>>::new());
            let exiting = Arc::clone(&exits);
            let builder = Pool::builder()
                .threads(1 + case % 3)
                .dedicated(case & 4 > 0);
            let builder = builder.on_thread_exit(move |_| {
                let pool = exiting.get().expect("the pool was built");
                assert_eq!(
                    pool.broadcast(|context| context.index()).len(),
                    pool.threads()
                );
            });
            let pool = Arc::new(builder.build().unwrap());
            _ = exits.set(Arc::clone(&pool));
            for _ in 0..20 {
                pool.spawn(|| ());
                assert!(pool.end_threads());
            }
        });
    }
}
