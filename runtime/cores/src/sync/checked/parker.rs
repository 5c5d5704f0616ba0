//! The parker under loom: no wake-up is lost, exactly one of several threads unparks a thread, and none unparks a
//! thread that gets up by itself.

use crate::sync::Parker;
use manycore_check::{Deaf, Faulty, Loom, caught, loom_model, team};
use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};

/// The reason for which thread `rank` unparks the sleeper.
const fn reason(rank: usize) -> u32 {
    10 + rank as u32
}

/// Thread 0 lies down and sleeps until another thread writes something and rouses it.
fn one_rouses<P: Platform>(others: usize) {
    let (parker, data) = (Parker::<P>::asleep(), P::AtomicU32::new(0));
    let roused = P::AtomicU32::new(0);
    team::<P>(1 + others, |rank| {
        if rank == 0 {
            let why = parker.sleep_out();
            assert_eq!(parker.rise(), why);
            let by = why - reason(0);
            // Relaxed: reading the reason has acquired it.
            assert_ne!(data.load(Ordering::Relaxed) & 1 << by, 0, "roused by {by}");
        } else {
            data.fetch_or(1 << rank, Ordering::Relaxed);
            if parker.rouse(reason(rank)) {
                roused.fetch_add(1, Ordering::Relaxed);
                parker.wake();
            }
        }
    });
    assert_eq!(roused.load(Ordering::Relaxed), 1);
}

/// Thread 0 lies down and gets up by itself, while thread 1 tries to rouse it. Exactly one thread succeeds.
fn it_is_roused_or_rises<P: Platform>(rises: impl Fn(&Parker<P>) -> bool + Sync) {
    let parker = Parker::<P>::asleep();
    let (alone, roused) = (P::AtomicBool::new(false), P::AtomicBool::new(false));
    team::<P>(2, |rank| {
        if rank == 0 {
            alone.store(rises(&parker), Ordering::Relaxed);
        } else {
            roused.store(parker.rouse(reason(1)), Ordering::Relaxed);
        }
    });
    let (alone, roused) = (
        alone.load(Ordering::Relaxed),
        roused.load(Ordering::Relaxed),
    );
    assert_ne!(alone, roused);
}

/// Thread 1 sleeps from the start, and waits for thread 0's write.
fn it_is_told<P: Platform>() {
    let (told, data) = (Parker::<P>::asleep(), P::AtomicU32::new(0));
    team::<P>(2, |rank| {
        if rank == 0 {
            data.store(7, Ordering::Relaxed);
            told.notify(Parker::<P>::AWAKE);
        } else {
            told.sleep_out();
            assert_eq!(data.load(Ordering::Relaxed), 7);
        }
    });
}

#[test]
fn a_sleeper_wakes() {
    loom_model(None, || one_rouses::<Loom>(1));
    loom_model(Some(3), || one_rouses::<Loom>(2));
    loom_model(None, it_is_told::<Loom>);
}

#[test]
fn a_thread_that_rises_is_not_roused() {
    let swaps = |parker: &Parker<Loom>| parker.rise() == Parker::<Loom>::ASLEEP;
    loom_model(None, move || it_is_roused_or_rises::<Loom>(swaps));
    loom_model(None, || {
        it_is_roused_or_rises::<Loom>(Parker::rise_unroused)
    });
}

#[test]
fn a_lost_wake_up_is_caught() {
    let check = |model: fn()| caught(move || loom_model(None, model));
    for why in [
        check(|| one_rouses::<Faulty<Loom, Deaf>>(1)),
        check(it_is_told::<Faulty<Loom, Deaf>>),
    ] {
        assert!(why.contains("deadlock"), "{why}");
    }
}
