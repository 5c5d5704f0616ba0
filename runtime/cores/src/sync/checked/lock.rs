//! The lock under loom: one thread holds it at a time, every thread gets it in the end, and each fence is needed.

use crate::sync::Lock;
use manycore_check::{Deaf, Faulty, Fenced, Loom, NoFence, NoHeavyFence, caught, loom_model, team};
use manycore_platform::Platform;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Each of `threads` threads increments a number that only the lock guards.
fn all_are_counted<P: Platform>(threads: usize, times: u32) {
    let count = Lock::<P, u32>::new(0);
    team::<P>(threads, |_| {
        for _ in 0..times {
            count.with(|count| {
                let before = *count;
                // Another thread may run here.
                P::relax();
                *count = before + 1;
            });
        }
    });
    assert_eq!(count.with(|count| *count), threads as u32 * times);
}

/// One thread waits for the lock, and another thread tries it once. The number is right in both cases.
fn attempts_are_counted<P: Platform>() {
    let count = Lock::<P, u32>::new(0);
    let increment = |count: &mut u32| {
        let before = *count;
        P::relax();
        *count = before + 1;
    };
    let tried = AtomicU32::new(0);
    team::<P>(2, |member| match member {
        0 => count.with(increment),
        _ => _ = tried.fetch_add(count.try_with(increment).map_or(0, |()| 1), Relaxed),
    });
    assert_eq!(count.with(|count| *count), 1 + tried.into_inner());
}

#[test]
fn a_thread_may_try() {
    loom_model(None, attempts_are_counted::<Loom>);
    loom_model(None, attempts_are_counted::<Faulty<Loom, Fenced>>);
}

#[test]
fn two_and_three_threads() {
    loom_model(Some(3), || all_are_counted::<Loom>(2, 2));
    loom_model(Some(2), || all_are_counted::<Loom>(3, 1));
    // A system that refuses asymmetric fences.
    loom_model(Some(3), || all_are_counted::<Faulty<Loom, Fenced>>(2, 2));
}

#[test]
fn each_fault_is_caught() {
    let check = |model: fn(usize, u32)| caught(|| loom_model(None, move || model(2, 1)));
    for why in [
        check(all_are_counted::<Faulty<Loom, NoFence>>),
        check(all_are_counted::<Faulty<Loom, NoHeavyFence>>),
        check(all_are_counted::<Faulty<Loom, Deaf>>),
    ] {
        assert!(why.contains("deadlock"), "{why}");
    }
}
