//! While a permit (a worker's right to run jobs) is lent and given back, no sleeper misses a job, a latch or the end of
//! the pool.

use super::super::Latch;
use super::super::nearest_checked::{Jobs, LookAtJobs, fresh, oversubscribed, policy, work};
use super::Nearest;
use super::calling::FenceFault;
use manycore_check::{Buffered, Loom, caught, loom_model, preemptions, shuttle_random, team};
use manycore_platform::Platform;

/// Worker 0 sleeps or is about to. A caller borrows its permit and lays it back. A poster with the number 1 posts
/// `count` jobs, and worker 0 runs them all.
fn lent_beside_posts<P: Platform>(policy: Nearest<P>, count: usize) {
    let jobs = Jobs::<P>::none(count);
    team::<P>(3, |rank| match rank {
        0 => work(&policy, 0, &jobs, count),
        1 => {
            if let Some(worker) = policy.borrow() {
                policy.lay_back(worker, &LookAtJobs(Some(&jobs)));
            }
        }
        _ => (0..count).for_each(|job| {
            jobs.push(job);
            let _ = policy.posted_by(|| 1, true);
        }),
    });
    assert!(!jobs.take(), "a job was not run");
}

/// One interruption shows the mistake below. The random schedules have any number of interruptions.
#[test]
fn a_job_that_is_posted_while_the_permit_is_lent_wakes_its_worker() {
    loom_model(preemptions(1), || lent_beside_posts::<Loom>(policy(2), 1));
    shuttle_random(2_000, || lent_beside_posts::<Buffered>(policy(2), 2));
    shuttle_random(2_000, || {
        lent_beside_posts::<Buffered>(policy(2).fenced_for(1), 2)
    });
    shuttle_random(2_000, || {
        lent_beside_posts::<Buffered>(oversubscribed(2, 1), 2)
    });
}

#[test]
fn a_job_that_is_posted_in_a_new_pool_while_the_permit_is_lent_wakes_its_worker() {
    loom_model(preemptions(1), || lent_beside_posts::<Loom>(fresh(2), 1));
    shuttle_random(2_000, || lent_beside_posts::<Buffered>(fresh(2), 2));
}

/// When a borrower waits, it gives the permit back to the worker, which finds a job.
#[test]
fn a_worker_gets_up_when_the_borrower_waits() {
    fn waits<P: Platform>() {
        let (policy, jobs) = (policy::<P>(2), Jobs::<P>::none(1));
        team::<P>(2, |rank| match rank {
            0 => work(&policy, 0, &jobs, 1),
            _ => {
                let borrowed = policy.borrow();
                jobs.push(0);
                match borrowed {
                    Some(worker) => policy.give_back(worker),
                    None => drop(policy.posted_by(|| 1, true)),
                }
            }
        });
    }
    loom_model(Some(3), waits::<Loom>);
}

/// The borrower sleeps during its call, and another thread sets its latch.
#[test]
fn a_borrower_that_sleeps_is_woken() {
    fn sleeps<P: Platform>() {
        let (policy, jobs, latch) = (policy::<P>(2), Jobs::<P>::none(1), Latch::<P>::new());
        team::<P>(3, |rank| match rank {
            0 => work(&policy, 0, &jobs, 1),
            1 => {
                let borrowed = policy.borrow();
                if let Some(worker) = borrowed {
                    let nothing = LookAtJobs::<P>(None);
                    let mut idle = policy.start_looking(worker);
                    while !latch.is_set() {
                        policy.no_work_found(worker, &mut idle, &latch, &nothing);
                    }
                    policy.lay_back(worker, &LookAtJobs(Some(&jobs)));
                }
            }
            _ => {
                if latch.set() {
                    policy.notify(0);
                }
                jobs.push(0);
                let _ = policy.posted_by(|| 1, true);
            }
        });
    }
    loom_model(Some(1), sleeps::<Loom>);
    shuttle_random(2_000, sleeps::<Buffered>);
}

#[test]
fn a_permit_that_is_laid_back_without_a_look_is_caught() {
    let no_look = || policy(2).with_fault(FenceFault::NoLookAfterLoan);
    let why = caught(|| loom_model(Some(1), move || lent_beside_posts::<Loom>(no_look(), 1)));
    assert!(why.contains("deadlock"), "{why}");
}
