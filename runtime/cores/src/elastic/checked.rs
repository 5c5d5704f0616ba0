//! Model checks: a worker that awaits its turn is woken for it.

use super::Allotment;
use manycore_check::{Deaf, Faulty, Loom, Relaxed, caught, loom_model, team};
use manycore_platform::{Atomic, Ordering, Platform};

/// One thread makes room for worker 1, which parks before that, meanwhile or never.
fn makes_room<P: Platform>() {
    let allotment = Allotment::<P>::new(1);
    team::<P>(2, |rank| match rank {
        0 => allotment.set(2),
        _ => {
            allotment.await_turn(1, || false);
            assert!(allotment.allows(1));
        }
    });
}

/// One thread makes room, takes it back, and makes it again.
fn flickers<P: Platform>() {
    let allotment = Allotment::<P>::new(1);
    team::<P>(2, |rank| match rank {
        0 => [2, 1, 2].into_iter().for_each(|cores| allotment.set(cores)),
        _ => allotment.await_turn(1, || false),
    });
}

/// One thread sends something to worker 1, which may not run.
fn is_nudged<P: Platform>() {
    let (allotment, mail) = (Allotment::<P>::new(1), P::AtomicBool::new(false));
    team::<P>(2, |rank| match rank {
        0 => {
            // Relaxed: the nudge publishes it.
            mail.store(true, Ordering::Relaxed);
            allotment.nudge();
        }
        _ => allotment.await_turn(1, || mail.load(Ordering::Relaxed)),
    });
}

/// A thread waits as a team does: until the allotment's word changes.
fn sees_the_change<P: Platform>() {
    let (allotment, mail) = (Allotment::<P>::new(1), P::AtomicBool::new(false));
    team::<P>(2, |rank| match rank {
        0 => {
            mail.store(true, Ordering::Relaxed);
            allotment.nudge();
        }
        _ => loop {
            let seen = allotment.seen();
            if mail.load(Ordering::Relaxed) {
                return;
            }
            allotment.wait_while(seen);
        },
    });
}

fn all<P: Platform>() -> [fn(); 4] {
    [
        makes_room::<P>,
        flickers::<P>,
        is_nudged::<P>,
        sees_the_change::<P>,
    ]
}

#[test]
fn a_worker_is_woken_for_its_turn() {
    for model in all::<Loom>() {
        loom_model(None, model);
    }
}

#[test]
fn a_lost_wake_up_is_caught() {
    for model in all::<Faulty<Loom, Deaf>>() {
        let why = caught(move || loom_model(None, model));
        assert!(why.contains("deadlock"), "{why}");
    }
}

#[test]
fn relaxed_accesses_are_caught() {
    for model in [
        is_nudged::<Faulty<Loom, Relaxed>>,
        sees_the_change::<Faulty<Loom, Relaxed>>,
    ] {
        let why = caught(move || loom_model(None, model));
        assert!(why.contains("deadlock"), "{why}");
    }
}
