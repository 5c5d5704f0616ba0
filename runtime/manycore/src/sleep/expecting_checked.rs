//! Checks that a worker that expects a loop finds a job that comes earlier.

use super::nearest_checked::{Jobs, LookAtJobs, work};
use super::policy::Setup;
use super::{Idle, Latch, Nearest};
use manycore_check::{Faulty, Fenced, Loom, loom_model, team};
use manycore_platform::{Native, Ordering, Platform};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// Makes a policy of two workers that has seen loops of 1 tick, one every `period` ticks, the last at `last`.
fn with_period<P: Platform>(budget: Duration, period: u64, last: u64) -> Nearest<P> {
    const LOOPS: u64 = 6;
    let idle = Arc::new(Idle::new(budget, None, 1));
    for before in (0..LOOPS).rev() {
        let start = last - before * period;
        idle.loop_ended(1, start, start + 1);
    }
    Nearest::new(&Setup {
        clusters: &[0, 0],
        idle: &idle,
    })
}

/// Worker 1 waits for the loop: in timed sleeps, by spinning, and at last in a sleep without a timeout.
/// Meanwhile worker 0 posts a job. `nearest_checked` shows that each of these sleeps fails without a fence.
fn a_job_between_two_loops<P: Platform>() {
    let policy = with_period::<P>(Duration::from_nanos(1_000), 20_000, 120_000);
    let jobs = Jobs::none(1);
    team::<P>(2, |rank| {
        if rank == 1 {
            return work(&policy, 1, &jobs, 1);
        }
        jobs.push(0);
        let _ = policy.posted_by(|| 0, true);
    });
}

#[test]
fn a_job_is_found_whatever_is_expected() {
    loom_model(Some(2), a_job_between_two_loops::<Loom>);
    loom_model(Some(2), a_job_between_two_loops::<Faulty<Loom, Fenced>>);
}

/// It is not enough that the job is found: the worker must find it before the loop that it expects much later.
#[test]
fn a_job_is_found_before_the_loop_that_is_expected() {
    let now = Native::now();
    let period = (now / 8).min(Native::duration_to_ticks(Duration::from_secs(5)));
    let policy = with_period::<Native>(Duration::from_micros(60), period, now);
    let (jobs, found) = (Jobs::<Native>::none(1), AtomicU64::new(0));
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let (end, look) = (Latch::new(), LookAtJobs(Some(&jobs)));
            let mut idle = policy.start_looking(1);
            while !jobs.take() {
                policy.no_work_found(1, &mut idle, &end, &look);
            }
            found.store(Native::now(), Ordering::Relaxed);
            let _ = policy.work_found(1, idle);
        });
        while policy.sleepers() == 0 {
            Native::yield_now();
        }
        jobs.push(0);
        let _ = policy.posted_by(|| 0, true);
    });
    let waited = found.into_inner().saturating_sub(now);
    assert!(waited < period / 2, "{waited} of {period} ticks");
}
