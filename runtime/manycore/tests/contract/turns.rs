//! First come, first served: how many calls of another caller pass before a waiting job or caller has its
//! turn.

use super::live::ends;
use super::pools::pool;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;

/// A first-come, first-served queue lets far fewer pass; a starving queue lets thousands pass.
const MOST: usize = 200;

fn spin() {
    (0..3_000).for_each(|_| std::hint::spin_loop());
}

/// A caller wants the only thread without end.
#[test]
fn a_spawned_job_gets_its_turn() {
    ends("a job beside a caller", || {
        let pool = Arc::new(pool(1));
        let (calls, stop) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let caller = {
            let (pool, calls, stop) = (Arc::clone(&pool), Arc::clone(&calls), Arc::clone(&stop));
            thread::spawn(move || {
                while !stop.load(SeqCst) {
                    pool.join(spin, spin);
                    calls.fetch_add(1, SeqCst);
                }
            })
        };
        for _ in 0..100 {
            let (sender, receiver) = mpsc::channel();
            let counted = Arc::clone(&calls);
            pool.spawn(move || sender.send(counted.load(SeqCst)).unwrap());
            // Counted after the spawn: earlier calls do not count.
            let posted = calls.load(SeqCst);
            let passed = receiver.recv().unwrap().saturating_sub(posted);
            assert!(passed <= MOST, "{passed} calls passed before a job's turn");
        }
        stop.store(true, SeqCst);
        caller.join().unwrap();
    });
}

/// One thread has a long job; a caller wants the other without end.
#[test]
fn another_caller_gets_its_turn() {
    for threads in [1, 2] {
        ends("a caller beside a caller", move || {
            let pool = pool(threads);
            let (calls, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
            let (end, long) = mpsc::channel::<()>();
            let (begin, begun) = mpsc::channel();
            if threads == 2 {
                pool.spawn(move || {
                    begin.send(()).unwrap();
                    assert!(long.recv().is_err());
                });
                begun.recv().unwrap();
            }
            thread::scope(|scope| {
                scope.spawn(|| {
                    while !stop.load(SeqCst) {
                        pool.install(spin);
                        calls.fetch_add(1, SeqCst);
                    }
                });
                let passed = |_| {
                    let before = calls.load(SeqCst);
                    pool.install(|| calls.load(SeqCst)) - before
                };
                let mut passed: Vec<usize> = (0..101).map(passed).collect();
                stop.store(true, SeqCst);
                // A single value may be high: this thread can be preempted before its call.
                passed.sort_unstable();
                let median = passed[50];
                assert!(
                    median <= MOST,
                    "{median} calls passed before a caller's turn"
                );
            });
            drop(end);
        });
    }
}

/// Jobs that one thread spawns while the pool is busy begin in their order.
#[test]
fn jobs_from_outside_begin_in_their_order() {
    ends("jobs in order", || {
        let pool = pool(1);
        for _ in 0..20 {
            let (sender, receiver) = mpsc::channel();
            pool.install(|| {
                thread::scope(|scope| {
                    scope.spawn(|| {
                        for i in 0..30 {
                            let sender = sender.clone();
                            pool.spawn_fifo(move || sender.send(i).unwrap());
                        }
                    });
                });
            });
            drop(sender);
            assert!(receiver.iter().eq(0..30));
        }
    });
}
