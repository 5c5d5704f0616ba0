//! Fibers in the threads of a model: what a fiber does to atomics is a step of the model,
//! at which it may be another thread's turn.

use super::{Fiber, Movable, Progress, Stacks, Suspender, slot};
use manycore_check::{
    Faulty, Loom, Plain, Relaxed, Shuttle, TornAdd, caught, caught_at_random, loom_model,
    shuttle_pct, shuttle_random, team,
};
use manycore_cores::sync::Lock;
use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};
use std::panic::resume_unwind;
use std::sync::Arc;

/// Loom's and the compiler's unoptimised frames are large.
const STACK: usize = 256 << 10;

fn fiber<P: Platform>(
    stacks: &Stacks<P>,
    body: impl FnOnce(&Suspender<P>) + Send + 'static,
) -> Movable<P> {
    let fiber = Fiber::new(stacks.take().unwrap(), body);
    // SAFETY: the bodies here keep what they captured, and numbers. The models' thread-locals
    // belong to the host's thread, and all of a model runs on one.
    unsafe { Movable::new(fiber) }
}

/// Whether it has ended; a panic in it is the model's.
fn resume<P: Platform>(fiber: &mut Movable<P>) -> bool {
    match fiber.resume() {
        Progress::Suspended => false,
        Progress::Ended(Ok(())) => true,
        Progress::Ended(Err(payload)) => resume_unwind(payload),
    }
}

/// Two threads with a fiber each. Their additions cross.
fn additions_cross<P: Platform>() {
    let sum = Arc::new(P::AtomicU32::new(0));
    let stacks = Stacks::<P>::new(STACK);
    team::<P>(2, |_| {
        let sum = Arc::clone(&sum);
        let mut fiber = fiber(&stacks, move |suspender| {
            sum.fetch_add(1, Ordering::Relaxed);
            suspender.suspend();
            sum.fetch_add(1, Ordering::Relaxed);
        });
        assert!(!resume(&mut fiber));
        assert!(resume(&mut fiber));
        stacks.put(fiber.into_inner().into_stack());
    });
    assert_eq!(sum.load(Ordering::Relaxed), 4, "an addition is lost");
}

#[test]
fn a_fiber_is_interrupted_like_its_thread() {
    let interleavings = loom_model(Some(2), additions_cross::<Loom>);
    assert!(interleavings > 10);
    shuttle_random(500, additions_cross::<Shuttle>);
    shuttle_pct(500, 3, additions_cross::<Shuttle>);
}

#[test]
fn and_a_lost_addition_in_one_is_found() {
    let why = caught(|| loom_model(Some(2), additions_cross::<Faulty<Loom, TornAdd>>));
    assert!(why.contains("an addition is lost"), "{why}");
    caught_at_random(additions_cross::<Faulty<Shuttle, TornAdd>>);
}

/// A fiber that either thread goes on with, whoever finds it: its slot goes with it, and
/// its steps are done once each, in order.
fn either_goes_on<P: Platform>() {
    const TURNS: u32 = 2;
    let steps = Arc::new(P::AtomicU32::new(0));
    let stacks = Stacks::<P>::new(STACK);
    let counted = Arc::clone(&steps);
    // More steps than the threads have turns: it never ends while they share it.
    let body = move |suspender: &Suspender<P>| {
        let mine = 64 as *const ();
        // SAFETY: only `slot` looks at it.
        unsafe { P::set_slot(mine) };
        for step in 0..2 * TURNS {
            assert_eq!(counted.fetch_add(1, Ordering::Relaxed), step);
            suspender.suspend();
            assert_eq!(slot::<P>(), mine);
        }
    };
    let place = Lock::<P, _>::new(Some(fiber(&stacks, body)));
    team::<P>(2, |rank| {
        let mine = (rank + 1) as *const ();
        // SAFETY: only `slot` looks at it, until it is null again.
        unsafe { P::set_slot(mine) };
        for _ in 0..TURNS {
            // Taken out: the fiber's own steps are not in the lock's section.
            if let Some(mut fiber) = place.with(Option::take) {
                assert!(!resume(&mut fiber));
                place.with(|place| *place = Some(fiber));
            }
            assert_eq!(slot::<P>(), mine);
        }
        // SAFETY: null.
        unsafe { P::set_slot(std::ptr::null()) };
    });
    let mut fiber = place.with(Option::take).unwrap();
    while !resume(&mut fiber) {}
    assert_eq!(steps.load(Ordering::Relaxed), 2 * TURNS);
}

#[test]
fn either_thread_goes_on_with_it() {
    loom_model(Some(2), either_goes_on::<Loom>);
    shuttle_random(500, either_goes_on::<Shuttle>);
}

/// One fiber writes before it sets a flag, and another reads after it, on plain memory that loom
/// watches. The model knows no order of fibers: only the clocks of the threads that run them count.
fn a_message_passes<P: Platform>() {
    let message = Arc::new((Plain::new(0), P::AtomicBool::new(false)));
    let stacks = Stacks::<P>::new(STACK);
    team::<P>(2, |rank| {
        let message = Arc::clone(&message);
        let mut fiber = fiber(&stacks, move |suspender| {
            let (memory, flag) = &*message;
            if rank == 0 {
                memory.write(7);
                suspender.suspend();
                // Release publishes the write to a thread that reads the flag.
                flag.store(true, Ordering::Release);
            } else {
                suspender.suspend();
                // Acquire pairs with the store.
                if flag.load(Ordering::Acquire) {
                    assert_eq!(memory.read(), 7);
                }
            }
        });
        while !resume(&mut fiber) {}
    });
}

#[test]
fn orderings_hold_across_a_suspension() {
    loom_model(None, a_message_passes::<Loom>);
    let why = caught(|| loom_model(None, a_message_passes::<Faulty<Loom, Relaxed>>));
    assert!(why.contains("Causality violation"), "{why}");
}

/// A suspended fiber is dropped, and a destructor on its stack takes steps of the model while it
/// unwinds.
fn one_is_dropped<P: Platform>() {
    struct CountsDrops<P: Platform>(Arc<P::AtomicU32>);
    impl<P: Platform> Drop for CountsDrops<P> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let drops = Arc::new(P::AtomicU32::new(0));
    let stacks = Stacks::<P>::new(STACK);
    team::<P>(2, |_| {
        let counts = CountsDrops::<P>(Arc::clone(&drops));
        let mut fiber = fiber(&stacks, move |suspender| {
            let _counts = counts;
            suspender.suspend();
        });
        assert!(!resume(&mut fiber));
        stacks.put(fiber.into_inner().into_stack());
    });
    assert_eq!(drops.load(Ordering::Relaxed), 2);
}

#[test]
fn unwinding_is_interrupted_like_anything() {
    loom_model(Some(2), one_is_dropped::<Loom>);
    shuttle_random(500, one_is_dropped::<Shuttle>);
}
