//! Calls from pool to pool and back: a worker that waits for a call into another pool runs a job meanwhile.

use super::whole::pool;
use crate::pool::job::Job;
use crate::pool::oneshot::Oneshot;
use manycore_check::{
    Deaf, Faulty, Loom, Plain, Shuttle, caught, loom_model, shuttle_random, team,
};
use manycore_platform::Platform;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Thread 1 calls back `times` times, waits for each job, and ends. Thread 0 waits, as `Context::block_on` does: it
/// spins, naps or sleeps.
fn calls_back<P: Platform>(times: u32) {
    let (oneshot, ran) = (Oneshot::<P>::new(), Plain::new(0));
    let ends: Vec<_> = (0..times).map(|_| Oneshot::<P>::new()).collect();
    team::<P>(2, |rank| {
        if rank == 0 {
            let mut jobs = 0;
            loop {
                if jobs % 2 == 0 {
                    oneshot.sleep_for(Duration::from_micros(1));
                    if oneshot.close() {
                        oneshot.open();
                    }
                }
                oneshot.sleep();
                match oneshot.take_job() {
                    Some(job) => job.run(true),
                    None => break,
                }
                oneshot.open();
                jobs += 1;
            }
            assert!(oneshot.since().is_some() && jobs <= times);
            return;
        }
        for end in &ends {
            let (ran, at): (*const Plain<u32>, *const Oneshot<P>) = (&raw const ran, end);
            // SAFETY: `ran` and the oneshot outlive the team. The job does not unwind.
            let job = unsafe {
                Job::new(move |_| {
                    (*ran).write((*ran).read() + 1);
                    (*at).notify();
                })
            };
            // SAFETY: this thread alone calls back and notifies, and waits for the job here.
            let called = unsafe { oneshot.call_back(job) };
            if let Err(job) = called {
                job.run(true);
            }
            end.sleep();
            assert!(end.take_job().is_none());
        }
        assert_eq!(ran.read(), times);
        oneshot.notify();
    });
}

#[test]
fn a_job_runs_in_the_midst_of_a_wait() {
    loom_model(Some(3), || calls_back::<Loom>(0));
    loom_model(Some(3), || calls_back::<Loom>(1));
    loom_model(Some(2), || calls_back::<Loom>(2));
}

#[test]
fn a_caller_that_is_not_woken_is_caught() {
    let why = caught(|| loom_model(Some(3), || calls_back::<Faulty<Loom, Deaf>>(1)));
    assert!(why.contains("deadlock"), "{why}");
}

/// Two pools call each other, `depth` deep. The innermost call panics.
#[test]
fn pools_call_each_other_in_a_circle() {
    fn walk<P: Platform>(a: &crate::pool::Pool<P>, b: &crate::pool::Pool<P>, depth: u32) -> u32 {
        assert!(depth > 0, "the innermost");
        a.install(|| {
            let below = catch_unwind(AssertUnwindSafe(|| walk(b, a, depth - 1)));
            below.map_or(1, |count| count + 1)
        })
    }
    shuttle_random(2_000, || {
        let (a, b) = (pool::<Shuttle>(1), pool::<Shuttle>(2));
        team::<Shuttle>(2, |rank| match rank {
            0 => assert_eq!(walk(&a, &b, 4), 4),
            _ => assert_eq!(walk(&b, &a, 3), 3),
        });
    });
}
