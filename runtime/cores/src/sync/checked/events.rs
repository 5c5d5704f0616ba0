//! The event count under loom: no wake-up is lost, and each step of its argument is needed.

use crate::sync::EventCount;
use manycore_check::{Deaf, Faulty, Loom, NoFence, caught, loom_model, team};
use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering, Platform};
use std::time::Duration;

/// The operations that the check needs of an event count, sound or broken.
trait Events: Sync {
    fn seen(&self) -> u32;
    fn post(&self) -> u32;
    fn wake(&self, count: u32);
    fn sleep(&self, seen: u32, timeout: Option<Duration>);
}

impl<P: Platform> Events for EventCount<P> {
    fn seen(&self) -> u32 {
        self.seen()
    }

    fn post(&self) -> u32 {
        self.post()
    }

    fn wake(&self, count: u32) {
        self.wake(count);
    }

    fn sleep(&self, seen: u32, timeout: Option<Duration>) {
        self.sleep(seen, timeout);
    }
}

/// Thread 0 publishes `items` pieces of work one by one. Each time it wakes one sleeper, if there is one. The other
/// threads take one item each, or sleep. Thread 0 then ends the rest.
///
/// Loom reports a thread that sleeps while there is work for it.
fn all_work_is_found<E: Events>(
    make: impl Fn() -> E,
    sleepers: usize,
    items: u32,
    timeout: Option<Duration>,
) {
    let events = make();
    let work = <Loom as Platform>::AtomicU32::new(0);
    let ended = <Loom as Platform>::AtomicBool::new(false);
    team::<Loom>(1 + sleepers, |rank| {
        if rank == 0 {
            for _ in 0..items {
                // Relaxed: `post` publishes the item.
                work.fetch_add(1, Ordering::Relaxed);
                if events.post() > 0 {
                    events.wake(1);
                }
            }
            if sleepers > items as usize {
                ended.store(true, Ordering::Relaxed);
                events.post();
                events.wake(u32::MAX);
            }
            return;
        }
        let mut timeout = timeout;
        loop {
            let seen = events.seen();
            let left = work.load(Ordering::Relaxed);
            let took = left > 0
                && work
                    .compare_exchange(left, left - 1, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok();
            if took || ended.load(Ordering::Relaxed) {
                return;
            }
            if left > 0 {
                continue; // Another thread took an item. Look again.
            }
            // Only the first sleep has a time limit.
            events.sleep(seen, timeout.take());
        }
    });
}

#[test]
fn one_sleeper() {
    loom_model(None, || {
        all_work_is_found(EventCount::<Loom>::new, 1, 1, None);
    });
}

#[test]
fn one_sleeper_whose_first_sleep_is_timed() {
    let timeout = Some(Duration::from_micros(1));
    loom_model(None, move || {
        all_work_is_found(EventCount::<Loom>::new, 1, 1, timeout);
    });
}

#[test]
fn two_sleepers_and_two_items() {
    loom_model(Some(2), || {
        all_work_is_found(EventCount::<Loom>::new, 2, 2, None);
    });
}

#[test]
fn one_sleeper_takes_the_item_and_the_other_is_ended() {
    loom_model(Some(2), || {
        all_work_is_found(EventCount::<Loom>::new, 2, 1, None);
    });
}

#[test]
fn termination_reaches_a_timed_sleeper_too() {
    let timeout = Some(Duration::from_micros(1));
    loom_model(None, move || {
        all_work_is_found(EventCount::<Loom>::new, 1, 0, timeout);
    });
}

#[test]
fn each_fault_of_the_platform_is_caught() {
    let no_fence = || {
        loom_model(None, || {
            all_work_is_found(EventCount::<Faulty<Loom, NoFence>>::new, 1, 1, None);
        })
    };
    assert!(caught(no_fence).contains("deadlock"));
    let deaf = || {
        loom_model(None, || {
            all_work_is_found(EventCount::<Faulty<Loom, Deaf>>::new, 1, 1, None);
        })
    };
    assert!(caught(deaf).contains("deadlock"));
}

/// The omitted step of the argument.
#[derive(Clone, Copy, Debug, PartialEq)]
enum EventMistake {
    /// The poster reads `sleepers` with no fence after its post.
    NoFenceInPost,
    /// The sleeper compares with no fence after it is counted.
    NoFenceInSleep,
    /// The sleeper is counted after it has compared.
    CountsAfterComparing,
    /// The sleeper sleeps even if there was a post since it looked.
    DoesNotCompare,
}

/// A copy of the event count with one mistake.
struct EventSketch {
    posted: <Loom as Platform>::Futex,
    sleepers: <Loom as Platform>::AtomicU32,
    mistake: Option<EventMistake>,
}

impl EventSketch {
    fn with(mistake: Option<EventMistake>) -> Self {
        Self {
            posted: Atomic::new(0),
            sleepers: Atomic::new(0),
            mistake,
        }
    }

    fn fence(&self, left_out: EventMistake) {
        if self.mistake != Some(left_out) {
            Loom::fence_after_rmw();
        }
    }
}

impl Events for EventSketch {
    fn seen(&self) -> u32 {
        self.posted.load(Ordering::Acquire)
    }

    fn post(&self) -> u32 {
        self.posted.fetch_add(1, Ordering::Release);
        self.fence(EventMistake::NoFenceInPost);
        self.sleepers.load(Ordering::Relaxed)
    }

    fn wake(&self, count: u32) {
        self.posted.wake(count);
    }

    fn sleep(&self, seen: u32, timeout: Option<Duration>) {
        let now = || self.posted.load(Ordering::Acquire);
        if self.mistake == Some(EventMistake::CountsAfterComparing) && now() != seen {
            return;
        }
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        self.fence(EventMistake::NoFenceInSleep);
        let expected = match self.mistake {
            Some(EventMistake::CountsAfterComparing | EventMistake::DoesNotCompare) => now(),
            _ => seen,
        };
        self.posted.wait(expected, timeout);
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn each_step_left_out_is_caught() {
    let check = |mistake| {
        loom_model(None, move || {
            all_work_is_found(|| EventSketch::with(mistake), 1, 1, None);
        })
    };
    check(None);
    for mistake in [
        EventMistake::NoFenceInPost,
        EventMistake::NoFenceInSleep,
        EventMistake::CountsAfterComparing,
        EventMistake::DoesNotCompare,
    ] {
        let why = caught(|| check(Some(mistake)));
        assert!(why.contains("deadlock"), "{mistake:?}: {why}");
    }
}
