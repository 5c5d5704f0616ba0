//! Pools that start no thread in the place of a waiting one: if a program ends on rayon, it also ends on such
//! a pool.

use crate::eventually::LIMIT;
use manycore::Pool;
use manycore::seam::BuilderExt;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

#[path = "../support/random_program.rs"]
mod random_program;

fn pool(threads: usize) -> Pool {
    let builder = Pool::builder().threads(threads).dedicated(true);
    builder.reserve(false).build().expect("threads can be made")
}

/// Runs `program` on a thread of its own.
fn ends(what: &str, program: impl FnOnce() + Send + 'static) {
    let (tell, told) = mpsc::channel();
    let runs = thread::spawn(move || {
        program();
        tell.send(()).expect("the test waits");
    });
    let ended = told.recv_timeout(LIMIT);
    // If the program panicked, its end of the channel is closed.
    if ended != Err(mpsc::RecvTimeoutError::Timeout) {
        runs.join().expect(what);
    }
    assert!(ended.is_ok(), "does not end: {what}");
}

#[test]
fn a_stolen_half_waits_for_a_job_that_the_other_half_has_spawned() {
    ends("join", || {
        let pool = pool(2);
        for _ in 0..20 {
            let (send, receive) = mpsc::channel();
            let spawns = || pool.spawn(move || send.send(7).expect("the other half waits"));
            let (_, received) = pool.install(|| pool.join(spawns, move || receive.recv()));
            assert_eq!(received, Ok(7));
        }
    });
}

#[test]
fn a_job_waits_in_another_pool_for_a_job_of_its_own() {
    ends("install", || {
        let (here, there) = (pool(1), pool(1));
        let (send, receive) = mpsc::channel();
        here.install(|| {
            here.spawn(move || send.send(7).expect("a job waits"));
            assert_eq!(there.install(move || receive.recv()), Ok(7));
        });
    });
}

#[test]
fn pools_call_each_other_in_a_circle() {
    fn call(pools: &[Pool; 2], depth: usize) -> usize {
        match depth {
            0 => 0,
            _ => 1 + pools[depth % 2].install(|| call(pools, depth - 1)),
        }
    }
    ends("circle", || {
        let pools = [pool(1), pool(1)];
        assert_eq!(call(&pools, 20), 20);
    });
}

#[test]
fn threads_outside_spawn_into_a_scope_whose_body_waits_for_them() {
    ends("scope", || {
        let (pool, ran) = (pool(1), AtomicUsize::new(0));
        pool.scope(|scope| {
            thread::scope(|threads| {
                for _ in 0..4 {
                    threads.spawn(|| scope.spawn(|_| _ = ran.fetch_add(1, Relaxed)));
                }
            });
        });
        assert_eq!(ran.into_inner(), 4);
    });
}

/// Two callers have borrowed the permits of the pool's threads, wait, and go on with permits of their own. The pool's
/// threads do not end meanwhile, since the pool could not start others for the permits that the callers leave.
#[test]
#[cfg_attr(miri, ignore = "waits for a second")]
fn threads_outlast_visitors_that_stay_long() {
    ends("visitors", || {
        let ended = Arc::new(AtomicUsize::new(0));
        let ends = Arc::clone(&ended);
        let builder = Pool::builder().threads(3).reserve(false);
        let builder = builder.on_thread_exit(move |_| _ = ends.fetch_add(1, Relaxed));
        let (visited, other) = (builder.build().unwrap(), pool(2));
        let inside = Barrier::new(2);
        thread::scope(|callers| {
            callers.spawn(|| {
                visited.install(|| {
                    inside.wait();
                    thread::sleep(Duration::from_millis(2_200));
                });
            });
            inside.wait();
            // Time for the pool's threads to fall asleep.
            thread::sleep(Duration::from_millis(300));
            for _ in 0..2 {
                callers.spawn(|| {
                    visited.install(|| {
                        other.install(|| thread::sleep(Duration::from_millis(50)));
                        thread::sleep(Duration::from_millis(1_500));
                    });
                });
            }
        });
        assert_eq!(visited.broadcast(|context| context.index()), [0, 1, 2]);
        assert_eq!(ended.load(Relaxed), 0, "threads have ended");
    });
}

#[test]
fn random_programs_over_several_pools_end() {
    let seeds = if cfg!(miri) { 0..1 } else { 0..400 };
    for seed in seeds {
        ends(&format!("seed {seed}"), move || {
            let mut random = fastrand::Rng::with_seed(seed);
            let pools = [pool(1), pool(random.usize(1..4)), pool(2)];
            // The same program gives the same sum in pools that have a reserve.
            let with_reserve = || {
                Pool::builder()
                    .threads(2)
                    .build()
                    .expect("threads can be made")
            };
            let others = [with_reserve(), with_reserve(), with_reserve()];
            let sum = random_program::run(&pools, &mut random.clone(), 5);
            assert_eq!(sum, random_program::run(&others, &mut random, 5));
        });
    }
}
