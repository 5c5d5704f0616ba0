//! A worker waits for a latch. It sleeps, is woken for a job, sleeps again, and is woken by the latch.

use super::super::discipline::{Discipline, Sound};
use super::super::variants::{NoInactive, NoJecSleepers, Packed, Split, Variant};
use super::between::Brief;
use super::{Pool, WithFault};
use manycore::seam::Latch;
use manycore::seam::Sleep;
use manycore_check::{Deaf, Loom, caught, loom_model, team};
use manycore_platform::Platform;

/// Thread 0 posts `jobs` jobs and then sets thread 1's latch. Meanwhile thread 1 does the jobs that it
/// finds.
fn latch_and_jobs<P: Platform, V: Variant, D: Discipline>(jobs: u32) {
    loom_model(Some(4), move || {
        let pool = Pool::<P, V, Brief<D>>::new(2, false);
        let latch = Latch::new();
        team::<P>(2, |rank| {
            if rank == 0 {
                (0..jobs).for_each(|_| pool.push(0));
                pool.set(&latch, 1);
            } else {
                while pool.look(1, &latch) {}
                assert!(latch.is_set());
            }
        });
        assert_eq!(pool.policy.sleepers(), 0);
    });
}

#[test]
fn a_latch_reaches_its_owner() {
    latch_and_jobs::<Loom, Packed, Sound>(0);
    latch_and_jobs::<Loom, NoJecSleepers, Sound>(0);
}

#[test]
fn a_latch_reaches_its_owner_in_its_second_sleep() {
    latch_and_jobs::<Loom, Packed, Sound>(1);
    latch_and_jobs::<Loom, Split, Sound>(1);
    latch_and_jobs::<Loom, NoJecSleepers, Sound>(1);
    latch_and_jobs::<Loom, NoInactive, Sound>(1);
}

#[test]
fn a_latch_that_wakes_no_thread_is_caught() {
    let deaf = || latch_and_jobs::<WithFault<Deaf>, NoInactive, Sound>(0);
    assert!(caught(deaf).contains("deadlock"));
    let silent = || {
        loom_model(None, || {
            let pool = Pool::<Loom, NoInactive, Brief<Sound>>::new(2, false);
            let latch = Latch::new();
            team::<Loom>(2, |rank| match rank {
                0 => _ = latch.set(),
                _ => while pool.look(1, &latch) {},
            });
        })
    };
    assert!(caught(silent).contains("deadlock"));
}
