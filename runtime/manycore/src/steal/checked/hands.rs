//! Checks that an owner that sleeps on the latch of its stolen job is woken.

use super::{CheckedTask, thief};
use crate::steal::JobStack;
use manycore_check::{Deaf, Faulty, Loom, NoFence, TornSwap, caught, loom_model, team};
use manycore_platform::{Atomic, Futex, Ordering, Platform};

/// A thief steals the owner's only job, and the owner sleeps until the job is done. Loom reports an owner that no
/// thread wakes, and a result that is not visible when the latch is set.
fn asleep<P: Platform>() {
    let (stack, task) = (JobStack::<P>::new(1).unwrap(), CheckedTask::new());
    let parked = P::Futex::new(0);
    team::<P>(2, |rank| {
        if rank > 0 {
            let Some(claim) = stack.raise(0, thief(rank)) else {
                return;
            };
            // SAFETY: the claim is from this stack, and its job runs only here.
            unsafe {
                let (run, task) = stack.job(&claim);
                run(task, true);
            }
            if stack.done(claim) {
                parked.store(1, Ordering::Release);
                parked.wake(1);
            }
            return;
        }
        let index = task.push(&stack, 3);
        if stack.pop(index) || stack.confirm(index) {
            return task.ran(super::OWNER);
        }
        let latch = stack.latch(index);
        while !latch.is_set() {
            if latch.announce_sleep() {
                while parked.load(Ordering::Acquire) == 0 {
                    parked.wait(0, None);
                }
            }
            latch.withdraw();
        }
        assert_eq!(task.output.read(), 3 + 1);
        stack.retire(index);
        assert!(!stack.latch(index).is_set());
    });
}

#[test]
fn a_thief_wakes_a_sleeping_owner() {
    loom_model(None, asleep::<Loom>);
}

#[test]
fn each_fault_is_caught() {
    // The thief sets the latch after the owner's look and before the owner sleeps.
    let torn = || loom_model(None, asleep::<Faulty<Loom, TornSwap>>);
    assert!(caught(torn).contains("deadlock"));
    let deaf = || loom_model(None, asleep::<Faulty<Loom, Deaf>>);
    assert!(caught(deaf).contains("deadlock"));
    let unfenced = || loom_model(None, asleep::<Faulty<Loom, NoFence>>);
    assert!(caught(unfenced).contains("run twice"));
}
