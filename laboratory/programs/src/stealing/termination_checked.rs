//! The count of the termination, under loom. No worker learns of the end before all tasks are done, and all workers
//! learn of it.
//!
//! In the argument, the taking of a task is a release, and the look that finds a task gone is an acquire. This orders
//! two additions to one word. Loom orders additions by its execution, so it cannot show that relaxed orderings are
//! wrong.

use super::termination::Termination;
use manycore_check::{Faulty, Loom, Plain, Relaxed, TornAdd, caught, loom_model, team};
use manycore_platform::{Atomic, Ordering, Platform};

/// A step of the argument that is left out.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mistake {
    /// The thief takes the task, and counts itself as awake only then.
    TakesFirst,
    /// The thief does not count itself as awake.
    SleepWalks,
    /// The owner rests with a task in its deque.
    DoesNotLook,
}

/// The owner's deque holds a task. Either the owner or the thief takes the task. The thief has rested before. At the
/// end both see the task's work.
fn one_task<P: Platform>(mistake: Option<Mistake>) {
    let termination = Termination::<P>::new(2);
    let deque = P::AtomicU32::new(1);
    let done = Plain::new(0);
    let is = |this| mistake == Some(this);
    team::<P>(2, |rank| {
        let mut standing = termination.enter();
        let take = || (deque.compare_exchange(1, 0, Ordering::AcqRel, Ordering::Acquire)).is_ok();
        let mut took = false;
        if rank == 0 {
            took = !is(Mistake::DoesNotLook) && take();
        } else {
            termination.rest(&mut standing);
            if deque.load(Ordering::Relaxed) == 1 {
                if !is(Mistake::TakesFirst) && !is(Mistake::SleepWalks) {
                    termination.rouse(&mut standing);
                }
                took = take();
                if is(Mistake::TakesFirst) {
                    termination.rouse(&mut standing);
                }
            }
        }
        if took {
            done.write(1);
        }
        termination.rest(&mut standing);
        while !termination.is_over() {
            P::yield_now();
        }
        assert_eq!(done.read(), 1, "the end comes before the task is done");
    });
}

#[test]
fn the_end_comes_when_all_is_done() {
    loom_model(None, || one_task::<Loom>(None));
}

#[test]
fn each_step_left_out_is_caught() {
    for mistake in [
        Mistake::TakesFirst,
        Mistake::SleepWalks,
        Mistake::DoesNotLook,
    ] {
        println!("{mistake:?}");
        caught(|| loom_model(None, move || one_task::<Loom>(Some(mistake))));
    }
}

#[test]
fn each_fault_of_the_platform_is_caught() {
    caught(|| loom_model(None, || one_task::<Faulty<Loom, TornAdd>>(None)));
    caught(|| loom_model(None, || one_task::<Faulty<Loom, Relaxed>>(None)));
}
