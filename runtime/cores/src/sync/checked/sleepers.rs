//! The count of sleepers under loom, in both forms: no wake-up is lost, and each fence is needed.

use crate::sync::{AfterRmw, Asymmetric, Fences, Sleepers};
use manycore_check::{Deaf, Faulty, Fenced, Loom, NoFence, NoHeavyFence, caught, loom_model, team};
use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering, Platform};

/// Thread 0 calls `publish`, which changes the word. The other threads sleep until then.
fn all_are_woken<P: Platform, F: Fences>(sleepers: usize, publish: impl Fn(&P::Futex) + Sync) {
    let asleep = Sleepers::<P, F>::new();
    let word = <P::Futex as Atomic<u32>>::new(0);
    team::<P>(1 + sleepers, |rank| {
        if rank == 0 {
            publish(&word);
            if asleep.after_publishing() > 0 {
                word.wake(u32::MAX);
            }
        } else {
            asleep.sleep(|| {
                while Atomic::load(&word, Ordering::Acquire) == 0 {
                    word.wait(0, None);
                }
            });
        }
    });
}

fn by_adding<P: Platform>(sleepers: usize) {
    all_are_woken::<P, AfterRmw>(sleepers, |word| _ = word.fetch_add(1, Ordering::Release));
}

fn by_storing<P: Platform>(sleepers: usize) {
    all_are_woken::<P, Asymmetric>(sleepers, |word| word.store(1, Ordering::Release));
}

#[test]
fn one_and_two_sleepers() {
    for sleepers in [1, 2] {
        loom_model(Some(3), move || by_adding::<Loom>(sleepers));
        loom_model(Some(3), move || by_storing::<Loom>(sleepers));
        // A system that refuses asymmetric fences.
        loom_model(Some(3), move || {
            by_storing::<Faulty<Loom, Fenced>>(sleepers)
        });
    }
}

#[test]
fn each_fault_is_caught() {
    let check = |model: fn(usize)| caught(|| loom_model(None, move || model(1)));
    for why in [
        check(by_adding::<Faulty<Loom, NoFence>>),
        check(by_adding::<Faulty<Loom, Deaf>>),
        check(by_storing::<Faulty<Loom, NoFence>>),
        check(by_storing::<Faulty<Loom, NoHeavyFence>>),
        check(by_storing::<Faulty<Loom, Deaf>>),
    ] {
        assert!(why.contains("deadlock"), "{why}");
    }
}
