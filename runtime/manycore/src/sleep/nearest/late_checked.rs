//! Checks posters that wake further sleepers while earlier calls are under way.

use super::super::nearest_checked::{all_jobs_run_by, fresh, policy};
use super::super::parking_slots::CALLED;
use super::Nearest;
use super::calling::{FREE, WAKING};
use manycore_check::{Buffered, Loom, loom_model, preemptions, shuttle_pct, shuttle_random};
use manycore_platform::{Native, Ordering};

/// Each post calls another sleeper, and the last called worker that gets up ends the calls.
#[test]
fn late_calls_wake_all_sleepers() {
    const SLEEPERS: usize = 3;
    let policy = policy::<Native>(1 + SLEEPERS).hasty();
    for worker in 1..=SLEEPERS {
        policy.slots.lie_down(worker, false, false);
        policy.slots.mark(worker, true);
        policy.callable.fetch_add(FREE, Ordering::SeqCst);
    }
    let called = || {
        let is_called = |&worker: &usize| policy.slots.parker(worker).glance() == CALLED;
        (1..=SLEEPERS).filter(is_called).count()
    };
    for post in 1..=SLEEPERS + 2 {
        assert!(!policy.posted_by(|| 0, true));
        assert_eq!(called(), post.min(SLEEPERS));
    }
    for up in 1..=SLEEPERS {
        let cleared = policy.end_call();
        assert_eq!(cleared.is_some(), up == SLEEPERS);
    }
    assert_eq!(policy.callable.load(Ordering::SeqCst) & WAKING, 0);
}

/// Until its time comes, a poster leaves its job to the worker that is called.
#[test]
fn a_call_that_is_not_late_is_the_only_one() {
    let policy = policy::<Native>(3);
    for worker in 1..3 {
        policy.slots.lie_down(worker, false, false);
        policy.slots.mark(worker, true);
        policy.callable.fetch_add(FREE, Ordering::SeqCst);
    }
    assert!(!policy.posted_by(|| 0, true));
    policy.calls.next.store(u64::MAX, Ordering::SeqCst);
    assert!(!policy.posted_by(|| 0, true));
    assert_eq!(policy.slots.tally().1, 1);
}

/// The numbers of posters, of the jobs of each, and of sleepers.
const SHAPES: [(usize, usize, usize); 5] = [(1, 2, 2), (1, 3, 3), (2, 2, 2), (2, 3, 3), (3, 2, 2)];

#[test]
fn no_job_is_missed_while_calls_are_late() {
    loom_model(preemptions(1), || {
        all_jobs_run_by(policy::<Loom>(3).hasty(), 1, 2, 2);
    });
    for (posters, each, sleepers) in SHAPES {
        let run = move |policy: fn(usize) -> Nearest<Buffered>| {
            all_jobs_run_by(policy(posters + sleepers).hasty(), posters, each, sleepers);
        };
        shuttle_random(300, move || run(policy));
        shuttle_random(300, move || run(fresh));
        shuttle_pct(300, 3, move || run(policy));
    }
}

/// A worker is counted that has just got up by itself. If the calls that fail were not taken back, posters would leave
/// their jobs to a worker that does not come.
#[test]
fn a_call_that_finds_no_sleeper_is_taken_back() {
    let policy = policy::<Native>(4).hasty();
    policy.callable.fetch_add(3 * FREE, Ordering::SeqCst);
    let is_waking = || policy.callable.load(Ordering::SeqCst) & WAKING != 0;
    assert!(!policy.posted_by(|| 0, true));
    assert!(!is_waking());
    // A late call fails while another is under way.
    policy.slots.lie_down(1, false, false);
    policy.slots.mark(1, true);
    for _ in 0..3 {
        assert!(!policy.posted_by(|| 0, true));
        assert!(is_waking());
    }
    policy.end_call();
    assert!(!is_waking());
}
