//! Checks the end of a watch while posters cease to fence: the watchdog (the sleeper that keeps watch) sees each job
//! that was left to it.

use super::super::nearest_checked::{Jobs, LookAtJobs, oversubscribed};
use super::super::policy::Scan;
use super::Nearest;
use super::calling::{FREE, FenceFault, WAKING};
use manycore_check::{
    Buffered, Faulty, Loom, NoFence, caught_at_random, loom_model, shuttle_random, team,
};
use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};

/// Worker 1 sleeps for good, and the watchdog ends its watch. One poster makes posters cease to fence. Another
/// poster posts a job: it calls worker 1, or leaves the job to the watchdog.
fn the_watch_ends<P: Platform>(policy: Nearest<P>) {
    let policy = policy.fenced_for(1);
    policy.slots.lie_down(1, false, false);
    policy.slots.mark(1, true);
    policy.callable.fetch_add(FREE, Ordering::SeqCst);
    let oversubscription = policy
        .oversubscription
        .as_ref()
        .expect("threads outnumber cores");
    let watch = oversubscription.keep_watch().expect("no other thread does");
    let watch = std::sync::Mutex::new(Some(watch));
    let (jobs, found) = (Jobs::<P>::none(1), P::AtomicBool::new(false));
    team::<P>(3, |rank| match rank {
        0 => {
            let watch = watch.lock().expect("no holder panics").take();
            policy.end_watch(oversubscription, watch.expect("one watchdog"));
            found.store(LookAtJobs(Some(&jobs)).anything(), Ordering::Relaxed);
        }
        1 => policy.count_fenced_post(1, policy.callable.load(Ordering::Acquire)),
        _ => {
            jobs.push(0);
            let _ = policy.posted_by(|| 2, true);
        }
    });
    let called = policy.callable.load(Ordering::Relaxed) & WAKING != 0;
    assert!(
        called || found.load(Ordering::Relaxed),
        "no thread finds it"
    );
}

#[test]
fn what_is_left_is_seen_while_posters_cease_to_fence() {
    loom_model(Some(2), || the_watch_ends(oversubscribed::<Loom>(4, 1)));
    shuttle_random(20_000, || the_watch_ends(oversubscribed::<Buffered>(4, 1)));
    shuttle_random(20_000, || {
        the_watch_ends(oversubscribed::<Buffered>(4, 1).light())
    });
}

#[test]
fn a_watchdog_that_leaves_unnoticed_or_unfenced_is_caught() {
    let unnoticed = caught_at_random(|| {
        the_watch_ends(oversubscribed::<Buffered>(4, 1).with_fault(FenceFault::LeavesUnnoticed));
    });
    assert!(unnoticed.contains("no thread finds it"), "{unnoticed}");
    let unfenced =
        caught_at_random(|| the_watch_ends(oversubscribed::<Faulty<Buffered, NoFence>>(4, 1)));
    assert!(unfenced.contains("no thread finds it"), "{unfenced}");
}
