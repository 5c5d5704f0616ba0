//! Once detached jobs have ended, a caller runs its calls itself again, as before them.

use super::eventually::eventually;
use super::pools::pool;
use manycore::Pool;
use std::sync::mpsc;
use std::thread;

fn is_run_here(pool: &Pool) -> bool {
    pool.install(|| thread::current().id()) == thread::current().id()
}

/// Checks that the caller runs its calls itself again, and keeps doing so.
fn assert_as_before(pool: &Pool) {
    eventually("a call runs on the calling thread", || {
        is_run_here(pool).then_some(())
    });
    for _ in 0..1_000 {
        assert!(
            is_run_here(pool),
            "the caller of an idle pool runs its call itself"
        );
    }
}

#[test]
fn a_caller_runs_its_calls_itself() {
    for threads in 1..=4 {
        let pool = pool(threads);
        assert_as_before(&pool);
        for round in 0..20 {
            let (sender, receiver) = mpsc::channel();
            let again = sender.clone();
            pool.spawn_broadcast(move |_| sender.send(()).unwrap());
            if round % 2 == 0 {
                assert_eq!(receiver.iter().take(threads).count(), threads);
                assert_as_before(&pool);
            }
            pool.spawn(move || {
                let more = again.clone();
                manycore::spawn(move || more.send(()).unwrap());
                again.send(()).unwrap();
            });
            let rest = receiver.iter().count();
            assert_eq!(rest, if round % 2 == 0 { 2 } else { threads + 2 });
            assert_as_before(&pool);
        }
    }
}
