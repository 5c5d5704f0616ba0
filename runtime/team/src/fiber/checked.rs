//! Fibers in the threads of a model. Each atomic operation of a fiber is a step, where another
//! thread may run.

use super::{Fiber, Movable, Progress, Stacks, Suspender, slot};
use manycore_check::{
    Faulty, Loom, Plain, Relaxed, Shuttle, TornAdd, caught, caught_at_random, loom_model,
    shuttle_pct, shuttle_random, team,
};
use manycore_cores::sync::Lock;
use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};
use std::panic::resume_unwind;
use std::sync::Arc;

/// The frames of loom and of unoptimised code are large.
const STACK: usize = 256 << 10;

fn fiber<P: Platform>(
    stacks: &Stacks<P>,
    body: impl FnOnce(&Suspender<P>) + Send + 'static,
) -> Movable<P> {
    // SAFETY: the bodies here borrow nothing, and keep only numbers and what they captured. The
    // models' thread-local variables belong to the host's thread, and a model runs on one. The
    // models drop their fibers.
    unsafe { Movable::new(Fiber::new(stacks.take().unwrap(), body)) }
}

/// Resumes the fiber. Returns whether it has ended. Passes on its panic.
fn resume<P: Platform>(fiber: &mut Movable<P>) -> bool {
    match fiber.resume() {
        Progress::Suspended => false,
        Progress::Ended(Ok(())) => true,
        Progress::Ended(Err(payload)) => resume_unwind(payload),
    }
}

/// Two threads with a fiber each. The fibers' additions interleave.
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
fn a_lost_addition_in_a_fiber_is_found() {
    let why = caught(|| loom_model(Some(2), additions_cross::<Faulty<Loom, TornAdd>>));
    assert!(why.contains("an addition is lost"), "{why}");
    caught_at_random(additions_cross::<Faulty<Shuttle, TornAdd>>);
}

/// Two threads resume one fiber in turn. It keeps its slot, and takes each step once and in order.
fn either_goes_on<P: Platform>() {
    const TURNS: u32 = 2;
    let steps = Arc::new(P::AtomicU32::new(0));
    let stacks = Stacks::<P>::new(STACK);
    let counted = Arc::clone(&steps);
    // The body has more steps than the threads have turns, so the fiber does not end while they share it.
    let body = move |suspender: &Suspender<P>| {
        let mine = 64 as *const ();
        // SAFETY: only `slot` reads the pointer.
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
        // SAFETY: only `slot` reads the pointer, until the slot is null again.
        unsafe { P::set_slot(mine) };
        for _ in 0..TURNS {
            // The fiber is taken out of `place`, so that its steps are not under the lock.
            if let Some(mut fiber) = place.with(Option::take) {
                assert!(!resume(&mut fiber));
                place.with(|place| *place = Some(fiber));
            }
            assert_eq!(slot::<P>(), mine);
        }
        // SAFETY: the pointer is null.
        unsafe { P::set_slot(std::ptr::null()) };
    });
    let mut fiber = place.with(Option::take).unwrap();
    while !resume(&mut fiber) {}
    assert_eq!(steps.load(Ordering::Relaxed), 2 * TURNS);
}

#[test]
fn either_thread_resumes_a_fiber() {
    loom_model(Some(2), either_goes_on::<Loom>);
    shuttle_random(500, either_goes_on::<Shuttle>);
}

/// One fiber writes plain memory, which loom watches, and sets a flag. Another reads the flag and
/// then the memory. The model orders no fibers, only the threads that run them.
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
                // Release publishes the write to the thread that reads the flag.
                flag.store(true, Ordering::Release);
            } else {
                suspender.suspend();
                // Acquire pairs with the store above.
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

/// Suspended fibers are dropped. A destructor on their stacks takes a step of the model.
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
fn unwinding_fibers_interleave() {
    loom_model(Some(2), one_is_dropped::<Loom>);
    shuttle_random(500, one_is_dropped::<Shuttle>);
}
