//! Each partial result is joined once, and is seen as it was left.

use crate::pool::PartialSlot;
use manycore_check::{
    Faulty, Loom, Plain, Relaxed, Shuttle, TornSwap, caught, loom_model, shuttle_random, team,
};
use manycore_platform::Platform;
use std::cell::Cell;

/// A partial result, which counts the participants whose results are in it.
trait Partial: Send {
    fn of(participants: usize) -> Self;
    fn count(&self) -> usize;
}

/// The type for loom, which reports a race on the count.
impl Partial for Plain<usize> {
    fn of(participants: usize) -> Self {
        Self::new(participants)
    }

    fn count(&self) -> usize {
        self.read()
    }
}

impl Partial for Cell<usize> {
    fn of(participants: usize) -> Self {
        Self::new(participants)
    }

    fn count(&self) -> usize {
        self.get()
    }
}

/// Each of `helpers` threads leaves a partial result. Then the caller takes the joined result.
fn each_is_joined_once<P: Platform, T: Partial>(helpers: usize) {
    let slot = PartialSlot::<P>::new();
    // The box is leaked: with a fault two threads may have the same box.
    let count = |partial: Box<T>| Box::leak(partial).count();
    team::<P>(helpers, |_| {
        let join = |one, other| Some(Box::new(T::of(count(one) + count(other))));
        // SAFETY: all values in this slot have type `T`.
        unsafe { slot.leave(Box::new(T::of(1)), join) };
    });
    // SAFETY: as above.
    let all = unsafe { slot.take_last::<T>() };
    assert_eq!(all.map(count), Some(helpers), "not each is joined once");
    // SAFETY: as above.
    assert!(unsafe { slot.take_last::<T>() }.is_none());
}

#[test]
fn three_helpers() {
    loom_model(Some(3), || each_is_joined_once::<Loom, Plain<usize>>(3));
}

#[test]
fn many_helpers_at_random() {
    shuttle_random(1_000, || each_is_joined_once::<Shuttle, Cell<usize>>(8));
}

#[test]
fn each_fault_is_caught() {
    let torn = || each_is_joined_once::<Faulty<Loom, TornSwap>, Plain<usize>>(3);
    let why = caught(move || loom_model(Some(3), torn));
    assert!(why.contains("joined once"), "{why}");
    let relaxed = || each_is_joined_once::<Faulty<Loom, Relaxed>, Plain<usize>>(2);
    let why = caught(move || loom_model(Some(3), relaxed));
    assert!(why.contains("Causality violation"), "{why}");
}
