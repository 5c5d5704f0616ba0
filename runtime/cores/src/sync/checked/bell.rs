//! The bell under loom: no wake-up is lost, and each step of its argument is needed.

use crate::sync::Bell;
use manycore_check::{Deaf, Faulty, Loom, NoFence, Relaxed, caught, loom_model, team};
use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering, Platform};

/// A bell under test, sound or broken.
trait Rings: Sync {
    fn ring_after_rmw(&self);
    fn sleep_unless(&self, condition: &dyn Fn() -> bool);
}

impl<P: Platform> Rings for Bell<P> {
    fn ring_after_rmw(&self) {
        self.ring_after_rmw();
    }

    fn sleep_unless(&self, condition: &dyn Fn() -> bool) {
        self.sleep(|| condition().then_some(()), || None);
    }
}

/// Each ringer makes a condition true, and the last thread waits until all hold. Loom reports a thread that sleeps for
/// ever.
fn all_are_heard<P: Platform, R: Rings>(ringers: usize, make: impl Fn() -> R) {
    let (bell, rung) = (make(), P::AtomicU32::new(0));
    team::<P>(ringers + 1, |rank| {
        if rank < ringers {
            rung.fetch_add(1, Ordering::Relaxed);
            bell.ring_after_rmw();
        } else {
            let holds = || rung.load(Ordering::Relaxed) as usize == ringers;
            while !holds() {
                bell.sleep_unless(&holds);
            }
        }
    });
}

#[test]
fn one_ringer_and_two() {
    loom_model(None, || all_are_heard::<Loom, _>(1, Bell::<Loom>::new));
    loom_model(Some(3), || all_are_heard::<Loom, _>(2, Bell::<Loom>::new));
}

#[test]
fn a_ring_after_a_store() {
    loom_model(None, || {
        let (bell, rung) = (Bell::<Loom>::new(), <Loom as Platform>::AtomicU32::new(0));
        team::<Loom>(2, |rank| {
            if rank == 0 {
                rung.store(1, Ordering::Relaxed);
                bell.ring();
            } else {
                let holds = || rung.load(Ordering::Relaxed) == 1;
                while !holds() {
                    bell.sleep_unless(&holds);
                }
            }
        });
    });
}

#[test]
fn each_fault_of_the_platform_is_caught() {
    let no_fence = || {
        loom_model(None, || {
            all_are_heard::<Faulty<Loom, NoFence>, _>(1, Bell::<Faulty<Loom, NoFence>>::new);
        });
    };
    let deaf = || {
        loom_model(None, || {
            all_are_heard::<Faulty<Loom, Deaf>, _>(1, Bell::<Faulty<Loom, Deaf>>::new);
        });
    };
    let relaxed = || {
        loom_model(None, || {
            all_are_heard::<Faulty<Loom, Relaxed>, _>(1, Bell::<Faulty<Loom, Relaxed>>::new);
        });
    };
    for why in [caught(no_fence), caught(deaf), caught(relaxed)] {
        assert!(why.contains("deadlock"), "{why}");
    }
}

/// The omitted step of the argument.
#[derive(Clone, Copy, Debug, PartialEq)]
enum BellMistake {
    /// The ringer reads the count with no fence after its publishing.
    NoFenceInRing,
    /// The sleeper looks with no fence after it is counted.
    NoFenceInSleep,
    /// The sleeper reads the word after its look.
    LooksFirst,
    /// The ringer wakes, and does not change the word.
    DoesNotChange,
}

/// A copy of the bell with one mistake.
struct BellSketch {
    word: <Loom as Platform>::Futex,
    sleepers: <Loom as Platform>::AtomicU32,
    mistake: Option<BellMistake>,
}

impl BellSketch {
    fn with(mistake: Option<BellMistake>) -> Self {
        Self {
            word: Atomic::new(0),
            sleepers: Atomic::new(0),
            mistake,
        }
    }

    fn fence(&self, left_out: BellMistake) {
        if self.mistake != Some(left_out) {
            Loom::fence_after_rmw();
        }
    }
}

impl Rings for BellSketch {
    fn ring_after_rmw(&self) {
        self.fence(BellMistake::NoFenceInRing);
        if self.sleepers.load(Ordering::Relaxed) != 0 {
            if self.mistake != Some(BellMistake::DoesNotChange) {
                self.word.fetch_add(1, Ordering::Release);
            }
            self.word.wake(u32::MAX);
        }
    }

    fn sleep_unless(&self, condition: &dyn Fn() -> bool) {
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        self.fence(BellMistake::NoFenceInSleep);
        let read = || self.word.load(Ordering::Acquire);
        let first = read();
        let holds = condition();
        if !holds {
            let word = match self.mistake {
                Some(BellMistake::LooksFirst) => read(),
                _ => first,
            };
            self.word.wait(word, None);
        }
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn each_step_left_out_is_caught() {
    let check = |mistake| {
        loom_model(None, move || {
            all_are_heard::<Loom, _>(1, || BellSketch::with(mistake));
        });
    };
    check(None);
    for mistake in [
        BellMistake::NoFenceInRing,
        BellMistake::NoFenceInSleep,
        BellMistake::LooksFirst,
        BellMistake::DoesNotChange,
    ] {
        let why = caught(|| check(Some(mistake)));
        assert!(why.contains("deadlock"), "{mistake:?}: {why}");
    }
}
