//! Runs the [`Nearest`] policy on a machine with delayed stores. The duty to fence moves between posters and
//! sleepers, and no sleeper misses a job.

use super::Nearest;
use super::nearest::FenceFault;
use super::nearest_checked::{all_jobs_run_by, fresh, oversubscribed};
use manycore_check::{
    Buffered, Fault, Faulty, Fenced, NoFence, NoHeavyFence, caught_at_random, shuttle_pct,
    shuttle_random,
};
use manycore_platform::Platform;

/// The numbers of posters, of jobs of each poster, and of sleepers.
type Shape = (usize, usize, usize);

/// In the larger shapes a sleeper can get up, and fall asleep again after posters have ceased to fence.
const SHAPES: [Shape; 5] = [(1, 1, 1), (1, 4, 1), (1, 4, 2), (2, 2, 1), (2, 4, 2)];

/// Posters cease to fence after this number of posts.
const MOST_FENCED: [u32; 3] = [1, 2, 256];

fn run<P: Platform>(
    (posters, each, sleepers): Shape,
    most: u32,
    change: fn(Nearest<P>) -> Nearest<P>,
) {
    let policy = change(fresh(posters + sleepers)).fenced_for(most);
    all_jobs_run_by::<P>(policy, posters, each, sleepers);
}

fn unchanged<P: Platform>(policy: Nearest<P>) -> Nearest<P> {
    policy
}

#[test]
fn no_job_is_missed_while_posters_begin_and_cease_to_fence() {
    for shape in SHAPES {
        for most in MOST_FENCED {
            shuttle_random(300, move || run::<Buffered>(shape, most, unchanged));
            shuttle_pct(300, 3, move || run::<Buffered>(shape, most, unchanged));
        }
    }
}

#[test]
fn no_job_is_missed_without_light_fences() {
    shuttle_random(300, || {
        run::<Faulty<Buffered, Fenced>>((2, 4, 2), 1, unchanged)
    });
}

/// Posters leave jobs to the watchdog (the sleeper that keeps watch), which makes its own fences.
#[test]
fn no_job_that_is_left_to_a_watchdog_is_missed() {
    for (each, sleepers) in [(1, 1), (2, 1), (4, 2)] {
        for most in MOST_FENCED {
            shuttle_random(300, move || {
                let policy = oversubscribed::<Buffered>(1 + sleepers, 1).fenced_for(most);
                all_jobs_run_by(policy, 1, each, sleepers);
            });
        }
    }
}

#[test]
fn each_missing_fence_is_caught() {
    fn fails<F: Fault>() {
        let why = caught_at_random(|| run::<Faulty<Buffered, F>>((1, 4, 1), 1, unchanged));
        let name = std::any::type_name::<F>();
        assert!(why.contains("deadlock"), "{name}: {why}");
    }
    fails::<NoFence>();
    fails::<NoHeavyFence>();
}

#[test]
fn reliance_on_posters_fences_too_soon_or_too_long_is_caught() {
    let too_soon = || {
        run::<Buffered>((2, 4, 2), 1, |policy| {
            policy.with_fault(FenceFault::SettledTooSoon)
        })
    };
    assert!(caught_at_random(too_soon).contains("deadlock"));
    let too_long = || {
        run::<Buffered>((1, 4, 1), 1, |policy| {
            policy.with_fault(FenceFault::StaysSettled)
        })
    };
    assert!(caught_at_random(too_long).contains("deadlock"));
}
