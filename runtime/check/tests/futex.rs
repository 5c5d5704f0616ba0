//! Loom's and Shuttle's futexes keep the contract of `Platform`, and a missing wake-up is reported.

use manycore_check::{
    Deaf, Faulty, Loom, Shuttle, caught, caught_at_random, loom_model, shuttle_pct, shuttle_random,
    team,
};
use manycore_platform::{Atomic, Futex, Ordering, Platform};
use std::time::Duration;

/// One thread changes the word and wakes the others; `sleepers` threads wait for the change.
fn change_and_wake<P: Platform>(sleepers: usize, timeout: Option<Duration>) {
    let word = <P::Futex as Atomic<u32>>::new(0);
    team::<P>(1 + sleepers, |rank| {
        if rank == 0 {
            word.store(1, Ordering::Release);
            word.wake(u32::MAX);
        } else {
            while word.load(Ordering::Acquire) == 0 {
                word.wait(0, timeout);
            }
        }
    });
}

/// Two sleepers each need one of two single wake-ups.
fn one_each<P: Platform>() {
    let word = <P::Futex as Atomic<u32>>::new(0);
    team::<P>(3, |rank| {
        if rank == 0 {
            word.store(1, Ordering::Release);
            word.wake(1);
            word.wake(1);
        } else {
            word.wait(0, None);
        }
    });
}

/// One thread sleeps and no thread wakes it, while another sleeps with a timeout.
fn forgotten<P: Platform>() {
    let word = <P::Futex as Atomic<u32>>::new(0);
    team::<P>(2, |rank| {
        word.wait(0, (rank == 1).then_some(Duration::from_micros(1)))
    });
}

#[test]
fn loom_wakes_a_thread_that_compared_before_the_change() {
    assert!(loom_model(None, || change_and_wake::<Loom>(1, None)) > 3);
    assert!(loom_model(None, || change_and_wake::<Loom>(2, None)) > 10);
    assert!(loom_model(None, one_each::<Loom>) > 10);
}

#[test]
fn loom_ends_a_timed_sleep() {
    let timeout = Some(Duration::from_micros(1));
    loom_model(None, move || change_and_wake::<Loom>(1, timeout));
    loom_model(None, move || {
        change_and_wake::<Faulty<Loom, Deaf>>(1, timeout)
    });
}

#[test]
fn loom_reports_an_untimed_sleep_without_end() {
    assert!(caught(|| loom_model(None, forgotten::<Loom>)).contains("deadlock"));
    let deaf = || loom_model(None, || change_and_wake::<Faulty<Loom, Deaf>>(1, None));
    assert!(caught(deaf).contains("deadlock"));
}

#[test]
fn shuttle_wakes_a_thread_that_compared_before_the_change() {
    shuttle_random(500, || change_and_wake::<Shuttle>(3, None));
    shuttle_pct(500, 3, || change_and_wake::<Shuttle>(3, None));
    shuttle_random(500, one_each::<Shuttle>);
}

#[test]
fn shuttle_ends_a_timed_sleep() {
    let timeout = Some(Duration::from_micros(1));
    shuttle_random(500, move || change_and_wake::<Shuttle>(1, timeout));
    shuttle_pct(500, 3, move || {
        change_and_wake::<Faulty<Shuttle, Deaf>>(1, timeout)
    });
}

#[test]
fn shuttle_reports_an_untimed_sleep_without_end() {
    assert!(caught_at_random(forgotten::<Shuttle>).contains("deadlock"));
    let deaf = caught_at_random(|| change_and_wake::<Faulty<Shuttle, Deaf>>(1, None));
    assert!(deaf.contains("deadlock"), "{deaf}");
}
