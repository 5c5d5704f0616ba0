//! A caller that sleeps until the last helper has left its loop is woken.

use crate::pool::gate::{Gate, Left};
use crate::sleep::EventCount;
use manycore_check::{Deaf, Faulty, Loom, NoFence, Plain, caught, loom_model, team};
use manycore_platform::Platform;

/// What the caller gets wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mistake {
    /// It sleeps without having looked again after the announcement.
    NoSecondLook,
    /// It reads the count of posts after that look, not before.
    ReadsCountLate,
    /// It does not announce that it sleeps.
    NotAnnounced,
}

/// `Shared::wait` without its patience (64 looks and 100 us) and without
/// helping: it sleeps as soon as it may. The checker would need all of that
/// time to come to the step that matters; `whole` runs the original.
fn wait<P: Platform>(gate: &Gate<P>, events: &EventCount<P>, mistake: Option<Mistake>) {
    gate.close();
    let mut awaited = false;
    while !gate.is_empty() {
        let mut seen = events.seen();
        if mistake != Some(Mistake::NotAnnounced) {
            gate.await_last();
            awaited = true;
        }
        if mistake != Some(Mistake::NoSecondLook) && gate.is_empty() {
            break;
        }
        if mistake == Some(Mistake::ReadsCountLate) {
            seen = events.seen();
        }
        events.sleep(seen, None);
    }
    if awaited {
        gate.awaited_no_more();
    }
}

/// `Shared::tell`.
fn tell<P: Platform>(left: Left, events: &EventCount<P>) {
    if left == Left::LastAwaited {
        events.post();
        events.wake(u32::MAX);
    }
}

/// One caller runs `loops` loops and waits, each helper comes by once.
fn caller_is_woken<P: Platform>(helpers: usize, loops: u32, mistake: Option<Mistake>) {
    let (gate, events) = (Gate::<P>::new(), EventCount::<P>::new());
    let frame = Plain::new(0);
    team::<P>(1 + helpers, |rank| {
        if rank > 0 {
            match gate.join() {
                Ok(_) => {
                    assert_ne!(frame.read(), 0, "joined a loop that is over");
                    tell(gate.leave_closed(), &events);
                }
                Err(left) => tell(left, &events),
            }
            return;
        }
        for number in 1..=loops {
            frame.write(number);
            gate.open();
            wait(&gate, &events, mistake);
            frame.write(0);
        }
    });
}

#[test]
fn by_one_helper() {
    loom_model(None, || caller_is_woken::<Loom>(1, 1, None));
}

#[test]
fn by_one_helper_in_one_of_two_loops() {
    loom_model(Some(4), || caller_is_woken::<Loom>(1, 2, None));
}

#[test]
fn by_two_helpers() {
    loom_model(Some(3), || caller_is_woken::<Loom>(2, 1, None));
}

#[test]
fn each_mistake_of_the_caller_is_caught() {
    for mistake in [
        Mistake::NoSecondLook,
        Mistake::ReadsCountLate,
        Mistake::NotAnnounced,
    ] {
        let why = caught(|| loom_model(None, move || caller_is_woken::<Loom>(1, 1, Some(mistake))));
        assert!(why.contains("deadlock"), "{mistake:?}: {why}");
    }
}

#[test]
fn each_fault_of_the_platform_is_caught() {
    let deaf = || loom_model(None, || caller_is_woken::<Faulty<Loom, Deaf>>(1, 1, None));
    assert!(caught(deaf).contains("deadlock"));
    caught(|| {
        loom_model(None, || {
            caller_is_woken::<Faulty<Loom, NoFence>>(1, 1, None)
        })
    });
}
