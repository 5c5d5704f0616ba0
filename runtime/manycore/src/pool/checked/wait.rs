//! A caller that sleeps until the last helper has left its loop is woken.

use crate::pool::gate::{Departure, Gate};
use crate::sleep::Latch;
use manycore_check::{Deaf, Faulty, Loom, NoFence, Plain, caught, loom_model, team};
use manycore_cores::sync::Parker;
use manycore_platform::Platform;

/// A caller's fault.
#[derive(Clone, Copy, Debug, PartialEq)]
enum WaitMistake {
    /// The caller sleeps without having looked again after the announcement.
    NoSecondLook,
    /// The caller resets its latch after the announcement instead of before it.
    ResetsLate,
    /// The caller does not announce that it sleeps.
    NotAnnounced,
}

/// The place at which the caller, worker 7, sleeps.
struct Caller<P: Platform> {
    latch: Latch<P>,
    parker: Parker<P>,
}

impl<P: Platform> Caller<P> {
    fn new() -> Self {
        Self {
            latch: Latch::new(),
            parker: Parker::awake(),
        }
    }

    /// Sleeps as a sleep policy does: `Nearest::sleep` without its bookkeeping.
    fn sleep(&self) {
        if self.latch.is_set() {
            return;
        }
        self.parker.lie_down();
        if self.latch.announce_sleep() {
            self.parker.sleep_out();
            self.latch.withdraw();
        }
        self.parker.rise();
    }
}

/// `Shared::wait` without its patience (64 looks and 100 us) and without helping: the caller sleeps
/// as soon as it may, by the steps of `Worker::await_helpers`. The checker would need all of that
/// time to come to the step that matters. `whole` runs the original.
fn wait<P: Platform>(gate: &Gate<P>, caller: &Caller<P>, mistake: Option<WaitMistake>) {
    gate.close();
    while !gate.is_empty() {
        if mistake != Some(WaitMistake::ResetsLate) {
            caller.latch.reset();
        }
        if mistake != Some(WaitMistake::NotAnnounced) {
            gate.await_last(7);
        }
        if mistake == Some(WaitMistake::ResetsLate) {
            caller.latch.reset();
        }
        if mistake == Some(WaitMistake::NoSecondLook) || !gate.is_empty() {
            caller.sleep();
        }
        gate.awaited_no_more();
    }
}

/// Does what `Shared::departed` does.
fn departed<P: Platform>(left: Departure, caller: &Caller<P>) {
    if let Departure::Awaited(worker) = left {
        assert_eq!(worker, 7);
        if caller.latch.set() && caller.parker.rouse(Parker::<P>::AWAKE) {
            caller.parker.wake();
        }
    }
}

/// One caller runs `loops` loops and waits for each. Each helper comes once.
fn caller_is_woken<P: Platform>(helpers: usize, loops: u32, mistake: Option<WaitMistake>) {
    let (gate, caller) = (Gate::<P>::new(), Caller::<P>::new());
    let frame = Plain::new(0);
    team::<P>(1 + helpers, |rank| {
        if rank > 0 {
            match gate.join() {
                Ok(_) => {
                    assert_ne!(frame.read(), 0, "joined a loop that is over");
                    departed(gate.leave_closed(), &caller);
                }
                Err(left) => departed(left, &caller),
            }
            return;
        }
        for number in 1..=loops {
            frame.write(number);
            gate.open();
            wait(&gate, &caller, mistake);
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
        WaitMistake::NoSecondLook,
        WaitMistake::ResetsLate,
        WaitMistake::NotAnnounced,
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
