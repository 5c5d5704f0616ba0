//! Checks the end of a watch under loom: the watchdog (the sleeper that keeps watch) sees each job that was left to it.

use super::oversubscription::Oversubscription;
use manycore_check::{Fault, Faulty, Loom, NoFence, NoHeavyFence, caught, loom_model, team};
use manycore_platform::{Atomic, Ordering, Platform};

/// A poster leaves its job to the watchdog. If `is_seen_asleep`, a parked worker that has seen the job leaves it to the
/// watchdog instead. The watchdog ends its watch and looks once more.
fn what_is_left_is_seen<P: Platform>(is_seen_asleep: bool) {
    let oversubscription = Oversubscription::<P>::new(3, 1);
    let watch = oversubscription.keep_watch().expect("no other thread does");
    let (job, left, found) = (word::<P>(), word::<P>(), word::<P>());
    let watch = std::sync::Mutex::new(Some(watch));
    team::<P>(2 + usize::from(is_seen_asleep), |rank| match rank {
        0 => {
            let watch = watch.lock().expect("no holder panics").take();
            oversubscription.leave(watch.expect("one watchdog"), P::heavy_fence);
            // All accesses here are relaxed: the model checks the fences.
            found.store(job.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        1 => {
            job.store(1, Ordering::Relaxed);
            P::untested_light_fence();
            if !is_seen_asleep && oversubscription.is_watched() {
                left.store(1, Ordering::Relaxed);
            }
        }
        _ => {
            let seen = job.load(Ordering::Relaxed) == 1;
            P::fence(Ordering::SeqCst);
            if seen && oversubscription.is_watched() {
                left.store(1, Ordering::Relaxed);
            }
        }
    });
    let (left, found) = (left.load(Ordering::Relaxed), found.load(Ordering::Relaxed));
    assert!(left <= found, "no thread finds it");
}

fn word<P: Platform>() -> P::AtomicU32 {
    P::AtomicU32::new(0)
}

#[test]
fn what_a_poster_leaves_is_seen() {
    loom_model(None, || what_is_left_is_seen::<Loom>(false));
}

#[test]
fn what_a_parked_worker_leaves_is_seen() {
    loom_model(None, || what_is_left_is_seen::<Loom>(true));
}

#[test]
fn each_missing_fence_is_caught() {
    fn fails<F: Fault>(is_seen_asleep: bool) {
        let why = caught(|| {
            loom_model(None, move || {
                what_is_left_is_seen::<Faulty<Loom, F>>(is_seen_asleep);
            });
        });
        assert!(
            why.contains("no thread finds it"),
            "{}: {why}",
            std::any::type_name::<F>()
        );
    }
    fails::<NoFence>(false);
    fails::<NoFence>(true);
    fails::<NoHeavyFence>(false);
    fails::<NoHeavyFence>(true);
}
