//! Each partial result is joined once, and is seen as it was left.

use crate::pool::PartialSlot;
use manycore_check::{
    Faulty, Loom, Plain, Relaxed, Shuttle, TornSwap, caught, loom_model, shuttle_random, team,
};
use manycore_platform::Platform;
use std::cell::Cell;

/// Which participants a partial result is of, a bit for each.
trait Members: Send {
    fn new(members: usize) -> Self;
    fn get(&self) -> usize;
}

/// On loom, which sees a race for it.
impl Members for Plain<usize> {
    fn new(members: usize) -> Self {
        Self::new(members)
    }

    fn get(&self) -> usize {
        self.read()
    }
}

impl Members for Cell<usize> {
    fn new(members: usize) -> Self {
        Self::new(members)
    }

    fn get(&self) -> usize {
        Self::get(self)
    }
}

/// A partial result, with as many words more as make its layout another one.
struct Partial<T, const N: usize> {
    members: T,
    _more: [usize; N],
}

impl<T: Members, const N: usize> Partial<T, N> {
    fn of(members: usize) -> Self {
        Self {
            members: T::new(members),
            _more: [0; N],
        }
    }

    fn join(self, other: Self) -> Self {
        let (one, other) = (self.members.get(), other.members.get());
        assert_eq!(one & other, 0, "one is joined twice");
        Self::of(one | other)
    }
}

/// Some helpers leave a partial result each; then their caller takes what is there. The next loop finds
/// the memory of that, of the same or of another layout.
fn each_is_joined_once<P: Platform, T: Members>(helpers: usize) {
    let slot = PartialSlot::<P>::new();
    team::<P>(helpers, |helper| {
        // SAFETY: all values here are of this type.
        unsafe { slot.leave(Partial::<T, 2>::of(1 << helper), Partial::join) };
    });
    // SAFETY: as above.
    let all = unsafe { slot.take_last::<Partial<T, 2>>() };
    let members = all.map(|all| all.members.get());
    assert_eq!(members, Some((1 << helpers) - 1), "one is lost");
    // SAFETY: as above.
    assert!(unsafe { slot.take_last::<Partial<T, 2>>() }.is_none());
    one_more::<P, T, 2>(&slot);
    one_more::<P, T, 3>(&slot);
}

fn one_more<P: Platform, T: Members, const N: usize>(slot: &PartialSlot<P>) {
    // SAFETY: all values that were left before are taken.
    unsafe { slot.leave(Partial::<T, N>::of(1), Partial::join) };
    // SAFETY: as above.
    let one = unsafe { slot.take_last::<Partial<T, N>>() };
    assert_eq!(one.map(|one| one.members.get()), Some(1));
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
    // Or loom sees two threads in the same memory first.
    let is_told = why.contains("one is") || why.contains("Causality violation");
    assert!(is_told, "{why}");
    let relaxed = || each_is_joined_once::<Faulty<Loom, Relaxed>, Plain<usize>>(2);
    let why = caught(move || loom_model(Some(3), relaxed));
    assert!(why.contains("Causality violation"), "{why}");
}
