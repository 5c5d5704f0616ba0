//! A loop that was empty until now and has work today is shared all the same.

use manycore::Pool;
use manycore::prelude::*;
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// The number of calls that teach the pool that the loop has no work.
const EMPTY: usize = 300;

/// Returns the number of threads that take part in a loop of `n` iterations. The iterations are empty in
/// `EMPTY` calls. Then those from `from` on are long: each waits some milliseconds for another thread. If
/// none arrives, all give up.
fn threads_of(n: usize, from: usize) -> usize {
    let pool = Pool::builder().threads(2).build().unwrap();
    let full = AtomicBool::new(false);
    let hopeless = AtomicBool::new(false);
    let threads: Mutex<HashSet<ThreadId>> = Mutex::new(HashSet::new());
    let ran = AtomicUsize::new(0);
    let long = || {
        thread::sleep(Duration::from_millis(5));
        let come = || {
            let mut threads = threads.lock().unwrap();
            threads.insert(thread::current().id());
            threads.len()
        };
        // The first iteration of all measures the cost.
        if ran.fetch_add(1, Relaxed) == 0 {
            come();
            return;
        }
        let start = Instant::now();
        while come() < 2 && !hopeless.load(Relaxed) {
            hopeless.fetch_or(start.elapsed() > Duration::from_secs(5), Relaxed);
            thread::sleep(Duration::from_millis(1));
        }
    };
    let body = |i: usize| {
        if full.load(Relaxed) && i >= from {
            long();
        }
    };
    for call in 0..=EMPTY {
        full.store(call == EMPTY, Relaxed);
        pool.parallel_for(0..n, body);
    }
    assert_eq!(ran.into_inner(), n - from);
    threads.into_inner().unwrap().len()
}

#[test]
fn a_search_that_has_ended_at_once_is_shared_when_it_is_long() {
    let pool = Pool::builder().threads(2).build().unwrap();
    let threads: Mutex<HashSet<ThreadId>> = Mutex::new(HashSet::new());
    let search = |full: bool| {
        let found = |i: usize| {
            if full && i > 0 && threads.lock().unwrap().len() < 2 {
                thread::sleep(Duration::from_millis(1));
                threads.lock().unwrap().insert(thread::current().id());
            }
            !full && i == 0
        };
        pool.install(|| (0..50_000).into_par_iter().any(found))
    };
    // The other items were skipped, and none of them was timed.
    assert!(search(false));
    assert!(!search(true));
    assert_eq!(threads.lock().unwrap().len(), 2);
}

#[test]
fn a_loop_that_was_empty_is_shared_when_it_is_full() {
    for n in [3, 8, 63, 64, 100] {
        assert_eq!(threads_of(n, 0), 2, "n = {n}");
    }
}
