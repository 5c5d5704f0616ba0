//! A pool's report on its decisions.

use manycore::{Pool, Reason};
use std::hint::black_box;
use std::process::Command;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

fn spin(rounds: u32) {
    (0..rounds).for_each(|round| {
        black_box(round);
    });
}

#[test]
fn a_pool_that_is_not_asked_says_nothing() {
    let pool = Pool::builder().threads(2).build().unwrap();
    pool.parallel_for(0..100, |_| ());
    assert!(pool.decisions().is_empty());
}

/// Not inlined, so that it has a name even without debug information.
#[inline(never)]
fn calls_loops(pool: &Pool) {
    for _ in 0..50 {
        pool.parallel_for(0..1_000, |_| spin(1_000));
    }
    for _ in 0..70 {
        pool.parallel_for(0..4, |_| ());
    }
}

#[test]
fn every_call_has_a_reason_and_a_place() {
    let pool = Pool::builder().threads(2).explain(true).build().unwrap();
    calls_loops(&pool);
    let decisions = pool.decisions();
    let calls: Vec<_> = decisions.iter().map(|decision| decision.calls).collect();
    assert_eq!(calls, [70, 50]);
    for decision in &decisions {
        let sum: u64 = decision.reasons.iter().map(|(_, calls)| calls).sum();
        assert_eq!(sum, decision.calls, "{decision}");
        let place = decision.place.as_deref().unwrap_or_default();
        assert!(place.contains("calls_loops"), "{decision}");
        assert!(
            decision.shared_median.is_some(),
            "the first call counts as shared"
        );
    }
    assert_eq!(decisions[0].reason, Reason::Short);
    assert!(decisions[1].shared > 25, "{}", decisions[1]);
}

#[test]
fn lengths_of_another_magnitude_are_apart() {
    let pool = Pool::builder().threads(1).explain(true).build().unwrap();
    for n in [1_000, 1_001, 5_000] {
        pool.parallel_for(0..n, |_| ());
    }
    let decisions = pool.decisions();
    // The place in the program is the same; the lengths have two magnitudes.
    assert_eq!(decisions.len(), 2);
    assert!(
        decisions
            .iter()
            .all(|decision| decision.reason == Reason::OneThread)
    );
}

/// The child process of the next test.
#[test]
fn child() {
    if std::env::var_os("MANYCORE_EXPLAIN").is_none() {
        return;
    }
    two_pools();
}

#[inline(never)]
fn two_pools() {
    let pool = Pool::builder().threads(2).build().unwrap();
    pool.parallel_for(0..10, |_| ());
    drop(pool);
    manycore::parallel_for(0..10, |_| ());
}

/// The child process of the next test but one.
#[test]
fn child_that_dismisses() {
    if std::env::var_os("MANYCORE_EXPLAIN").is_some() {
        dismissed_pool();
    }
}

/// Not inlined, so that it has a name even without debug information.
#[inline(never)]
fn dismissed_loop() {
    manycore::parallel_for(0..10, |_| ());
    black_box(());
}

/// A job of the pool runs a loop after the pool was dismissed, and another drops its pool before a loop.
fn dismissed_pool() {
    for drops in [false, true] {
        let (go, gone) = mpsc::channel();
        let (over, ended) = mpsc::channel::<()>();
        let pool = Arc::new(Pool::builder().threads(2).build().unwrap());
        let own = Mutex::new(drops.then(|| Arc::clone(&pool)));
        pool.spawn(move || {
            gone.recv().unwrap();
            drop(own.lock().unwrap().take());
            dismissed_loop();
            drop(over);
        });
        match Arc::try_unwrap(pool) {
            Ok(pool) => pool.dismiss(),
            Err(pool) => drop(pool),
        }
        go.send(()).unwrap();
        assert!(ended.recv().is_err());
    }
    // The pools end without this thread.
    thread::sleep(Duration::from_millis(500));
}

#[test]
fn pools_that_end_later_print_their_decisions() {
    let program = std::env::current_exe().unwrap();
    let child = Command::new(program)
        .args(["--exact", "child_that_dismisses", "--nocapture"])
        .env("MANYCORE_EXPLAIN", "1")
        .output()
        .unwrap();
    let said = String::from_utf8(child.stderr).unwrap();
    let lines = said.lines();
    let lines =
        lines.filter(|line| line.starts_with("manycore: ") && line.contains("dismissed_loop"));
    assert_eq!(lines.count(), 2, "{said}");
}

#[test]
fn a_variable_has_all_pools_print_their_decisions() {
    let program = std::env::current_exe().unwrap();
    let child = Command::new(program)
        .args(["--exact", "child", "--nocapture"])
        .env("MANYCORE_EXPLAIN", "1")
        .output()
        .unwrap();
    let said = String::from_utf8(child.stderr).unwrap();
    // A pool prints when it ends; the global pool prints when the program ends.
    let lines = said
        .lines()
        .filter(|line| line.starts_with("manycore: ") && line.contains("two_pools"));
    assert_eq!(lines.count(), 2, "{said}");
}
