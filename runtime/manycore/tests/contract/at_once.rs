//! A pool of n threads runs n jobs at once, even if other threads wait in it.

use super::live::ends;
use super::pools::pool;
use manycore::Pool;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;

const ROUNDS: usize = 20;

#[test]
fn two_detached_jobs_talk_to_each_other() {
    ends("two jobs that talk", || {
        let pool = pool(2);
        for _ in 0..ROUNDS {
            // The channel has no buffer: each message needs sender and receiver at once.
            let (to, from) = mpsc::sync_channel(0);
            let (sender, receiver) = mpsc::channel();
            pool.spawn(move || (1..=10).for_each(|i| to.send(i).unwrap()));
            pool.spawn(move || sender.send(from.iter().sum::<u32>()).unwrap());
            assert_eq!(receiver.recv(), Ok(55));
        }
    });
}

/// Spawns `jobs` jobs that meet at `barrier`. Each sends a message once it has passed.
fn spawn_meeting(pool: &Pool, jobs: usize, barrier: &Arc<Barrier>) -> mpsc::Receiver<()> {
    let (sender, receiver) = mpsc::channel();
    for _ in 0..jobs {
        let (barrier, sender) = (Arc::clone(barrier), sender.clone());
        pool.spawn(move || {
            barrier.wait();
            sender.send(()).unwrap();
        });
    }
    receiver
}

#[test]
fn as_many_jobs_as_threads_meet() {
    for threads in 1..=4 {
        ends("jobs that all meet", move || {
            let pool = pool(threads);
            for _ in 0..ROUNDS {
                let receiver = spawn_meeting(&pool, threads, &Arc::new(Barrier::new(threads)));
                assert_eq!(receiver.iter().count(), threads);
            }
        });
    }
}

/// The caller takes the place of one thread.
#[test]
fn an_installed_caller_meets_the_others() {
    for threads in 1..=4 {
        for spawned_inside in [false, true] {
            ends("a caller that meets jobs", move || {
                let pool = pool(threads);
                for _ in 0..ROUNDS {
                    let barrier = Arc::new(Barrier::new(threads));
                    let spawn = || spawn_meeting(&pool, threads - 1, &barrier);
                    let early = (!spawned_inside).then(spawn);
                    let receiver = pool.install(|| {
                        let receiver = early.unwrap_or_else(spawn);
                        barrier.wait();
                        receiver
                    });
                    assert_eq!(receiver.iter().count(), threads - 1);
                }
            });
        }
    }
}

/// The caller blocks inside the pool. Once it has left, a job can have its permit again.
#[test]
fn the_others_meet_while_a_caller_sits() {
    for threads in 1..=4 {
        ends("jobs beside a caller", move || {
            let pool = pool(threads);
            for _ in 0..ROUNDS {
                let barrier = Arc::new(Barrier::new((threads - 1).max(1)));
                pool.install(|| {
                    let receiver = spawn_meeting(&pool, threads - 1, &barrier);
                    assert_eq!(receiver.iter().count(), threads - 1);
                });
                let receiver = spawn_meeting(&pool, threads, &Arc::new(Barrier::new(threads)));
                assert_eq!(receiver.iter().count(), threads);
            }
        });
    }
}

/// The caller of a call `wait` waits for a job. That job meets unrelated jobs, one for each other thread: the
/// waiting thread delays none of them.
fn meets_strangers(what: &str, wait: fn(&Pool, &(dyn Fn() + Sync))) {
    for threads in 2..=4 {
        for installed in [false, true] {
            ends(what, move || {
                let pool = pool(threads);
                for _ in 0..ROUNDS {
                    let met = AtomicUsize::new(0);
                    let meet = || {
                        let barrier = Arc::new(Barrier::new(threads));
                        let receiver = spawn_meeting(&pool, threads - 1, &barrier);
                        barrier.wait();
                        assert_eq!(receiver.iter().count(), threads - 1);
                        met.fetch_add(1, SeqCst);
                    };
                    match installed {
                        false => wait(&pool, &meet),
                        true => pool.install(|| wait(&pool, &meet)),
                    }
                    assert_eq!(met.into_inner(), 1);
                }
            });
        }
    }
}

/// Waits until another thread has set `begun`.
fn await_begin(begun: &AtomicBool) {
    while !begun.load(SeqCst) {
        thread::yield_now();
    }
}

#[test]
fn a_stolen_half_meets_strangers() {
    meets_strangers("a stolen half", |pool, meet| {
        let begun = AtomicBool::new(false);
        pool.join(
            || await_begin(&begun),
            || {
                begun.store(true, SeqCst);
                meet();
            },
        );
    });
}

#[test]
fn a_scope_s_job_meets_strangers() {
    meets_strangers("a scope's job", |pool, meet| {
        let begun = AtomicBool::new(false);
        pool.scope(|scope| {
            scope.spawn(|_| {
                begun.store(true, SeqCst);
                meet();
            });
            await_begin(&begun);
        });
    });
}

/// The last iteration waits until all others have ended, on any thread.
#[test]
fn a_loop_s_body_meets_strangers() {
    meets_strangers("a loop's body", |pool, meet| {
        let left = AtomicUsize::new(8);
        pool.parallel_for(0..8, |_| {
            if left.fetch_sub(1, SeqCst) == 1 {
                meet();
            }
        });
    });
}

/// While a worker waits in another pool, others can use all permits of its own pool.
#[test]
fn a_call_into_another_pool_leaves_the_permit() {
    for threads in 1..=3 {
        for there in 1..=2 {
            ends("a call into another pool", move || {
                let here = pool(threads);
                let builder = Pool::builder().threads(there).dedicated(true);
                let other = builder.build().unwrap();
                for _ in 0..ROUNDS {
                    here.install(|| {
                        other.install(|| {
                            let barrier = Arc::new(Barrier::new(threads));
                            let receiver = spawn_meeting(&here, threads, &barrier);
                            assert_eq!(receiver.iter().count(), threads);
                        });
                    });
                }
            });
        }
    }
}
