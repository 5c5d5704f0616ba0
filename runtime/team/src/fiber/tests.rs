use super::*;
use manycore_platform::{Native, Platform, Stack};
use std::cell::Cell;
use std::panic::catch_unwind;
use std::ptr;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc;

fn stacks() -> Stacks<Native> {
    Stacks::new(64 << 10)
}

fn fiber(body: impl FnOnce(&Suspender<Native>) + 'static) -> Fiber<Native> {
    made(stacks().take().unwrap(), body)
}

fn made(
    stack: FiberStack<Native>,
    body: impl FnOnce(&Suspender<Native>) + 'static,
) -> Fiber<Native> {
    // SAFETY: the body borrows nothing, and no test keeps a fiber in a thread-local variable.
    unsafe { Fiber::new(stack, body) }
}

/// Adds one to a count when dropped.
struct Counts(Rc<Cell<u32>>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn fibers_take_turns() {
    let log = Rc::new(Cell::new(vec![]));
    let mut fibers: Vec<_> = (0..3)
        .map(|id| {
            let log = Rc::clone(&log);
            fiber(move |suspender| {
                for step in 0..2 {
                    let mut seen = log.take();
                    seen.push((step, id));
                    log.set(seen);
                    suspender.suspend();
                }
            })
        })
        .collect();
    for round in 0..3 {
        for fiber in &mut fibers {
            assert_eq!(
                matches!(fiber.resume(), Progress::Ended(Ok(()))),
                round == 2
            );
        }
    }
    let expected = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)];
    assert_eq!(log.take(), expected);
}

#[test]
fn a_panic_is_handed_out_and_the_stack_is_good_again() {
    let stacks = stacks();
    for _ in 0..100 {
        let mut fiber = made(stacks.take().unwrap(), |suspender| {
            suspender.suspend();
            std::panic::resume_unwind(Box::new(7));
        });
        assert!(matches!(fiber.resume(), Progress::Suspended));
        let Progress::Ended(Err(payload)) = fiber.resume() else {
            panic!("no panic");
        };
        assert_eq!(*payload.downcast::<i32>().unwrap(), 7);
        assert!(fiber.has_ended());
        stacks.put(fiber.into_stack());
    }
    assert!(!std::thread::panicking());
}

#[test]
fn resuming_an_ended_fiber_panics() {
    let mut fiber = fiber(|_| ());
    fiber.resume();
    let result = catch_unwind(std::panic::AssertUnwindSafe(|| fiber.resume()));
    let payload = result.unwrap_err();
    let text = payload.downcast_ref::<String>().unwrap();
    assert_eq!(text, "a fiber that has ended is not resumed");
}

#[test]
fn a_fiber_that_never_began_drops_its_body() {
    let drops = Rc::new(Cell::new(0));
    let counts = Counts(Rc::clone(&drops));
    drop(fiber(move |_| drop(counts)));
    assert_eq!(drops.get(), 1);
}

/// Counts its drops, and panics in each.
struct Explodes(Rc<Cell<u32>>);

impl Drop for Explodes {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
        std::panic::resume_unwind(Box::new("a destructor"));
    }
}

/// If the first drop unwound, the coroutine would drop the body again, in freed memory.
#[test]
fn a_fiber_that_never_began_drops_its_body_once_even_if_that_panics() {
    let (drops, booms) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    for into_stack in [false, true] {
        let parts = (Counts(Rc::clone(&drops)), Explodes(Rc::clone(&booms)));
        let fiber = fiber(move |_| drop(parts));
        if into_stack {
            fiber.into_stack();
        } else {
            drop(fiber);
        }
    }
    assert_eq!((drops.get(), booms.get()), (2, 2));
    assert!(slot::<Native>().is_null());
}

/// The body catches the unwinding and panics with a payload that panics when dropped. No thread
/// takes the payload, so the fiber drops it.
#[test]
fn dropping_one_contains_what_its_end_throws() {
    let booms = Rc::new(Cell::new(0));
    let mine = Rc::clone(&booms);
    let stacks = stacks();
    let mut fiber = made(stacks.take().unwrap(), move |suspender| {
        let unwound = catch_unwind(std::panic::AssertUnwindSafe(|| suspender.suspend()));
        assert!(unwound.is_err());
        #[allow(dead_code, reason = "dropped")]
        struct Payload(Explodes);
        // SAFETY: the fiber is dropped by the thread that made it.
        unsafe impl Send for Payload {}
        std::panic::resume_unwind(Box::new(Payload(Explodes(mine))));
    });
    fiber.resume();
    stacks.put(fiber.into_stack());
    assert_eq!(booms.get(), 1);
    assert!(!std::thread::panicking());
}

#[test]
fn a_body_is_on_the_heap_until_it_is_called() {
    fn run<const BYTES: usize>(stacks: &Stacks<Native>) {
        let big = [0xAB_u8; BYTES];
        let mut fiber = made(stacks.take().unwrap(), move |suspender| {
            suspender.suspend();
            assert!(std::hint::black_box(&big).iter().all(|byte| *byte == 0xAB));
        });
        assert!(matches!(fiber.resume(), Progress::Suspended));
        assert!(matches!(fiber.resume(), Progress::Ended(Ok(()))));
        stacks.put(fiber.into_stack());
    }
    let stacks = stacks();
    run::<1_000>(&stacks);
    run::<1_100>(&stacks);
    run::<30_000>(&stacks);
}

#[test]
fn a_body_that_is_too_big_for_its_stack_is_refused() {
    let drops = Rc::new(Cell::new(0));
    let counts = Counts(Rc::clone(&drops));
    let big = [0xAB_u8; 300 << 10];
    let stack = stacks().take().unwrap();
    let room = stack.base().get() - stack.limit().get();
    let too_big = std::panic::AssertUnwindSafe(move || {
        made(stack, move |_| {
            std::hint::black_box((&big, &counts));
        })
    });
    let payload = catch_unwind(too_big).unwrap_err();
    let text = payload.downcast_ref::<String>().unwrap();
    let expected = format!("bytes on a stack of {room}; expected a stack of twice the size");
    assert!(text.ends_with(&expected), "{text}");
    assert_eq!(drops.get(), 1);
}

/// Other code can have a reference to a suspender, for example by a scoped thread-local variable.
/// It runs on another stack.
#[test]
fn only_a_fibers_own_code_suspends_it() {
    fn is_refused(suspender: &Suspender<Native>) -> bool {
        let payload = catch_unwind(std::panic::AssertUnwindSafe(|| suspender.suspend()));
        let text = payload.unwrap_err().downcast::<&str>().unwrap();
        text.contains("on its own stack")
    }
    let shared = Rc::new(Cell::new(ptr::null::<Suspender<Native>>()));
    let theirs = Rc::clone(&shared);
    let mut outer = fiber(move |suspender| {
        theirs.set(suspender);
        suspender.suspend();
        let outer: *const Suspender<Native> = suspender;
        // SAFETY: the outer fiber's frame is alive, and so is its suspender.
        let mut inner = fiber(move |_| assert!(is_refused(unsafe { &*outer })));
        assert!(matches!(inner.resume(), Progress::Ended(Ok(()))));
    });
    assert!(matches!(outer.resume(), Progress::Suspended));
    // SAFETY: the fiber is suspended, so the frame that has the suspender is alive.
    assert!(is_refused(unsafe { &*shared.get() }));
    assert!(matches!(outer.resume(), Progress::Ended(Ok(()))));
}

#[test]
fn dropping_a_suspended_fiber_unwinds_it() {
    let drops = Rc::new(Cell::new(0));
    let counts = [(); 3].map(|()| Counts(Rc::clone(&drops)));
    fn deep(suspender: &Suspender<Native>, depth: u32, counts: Counts) {
        if depth > 0 {
            return deep(suspender, depth - 1, counts);
        }
        suspender.suspend();
        unreachable!("it is never resumed, {}", counts.0.get());
    }
    let mut fiber = fiber(move |suspender| {
        let [first, second, third] = counts;
        let _first = first;
        // Catching the panic does not stop the unwinding.
        let caught = catch_unwind(std::panic::AssertUnwindSafe(|| {
            deep(suspender, 10, second);
        }));
        assert!(caught.is_err());
        deep(suspender, 3, third);
    });
    assert!(matches!(fiber.resume(), Progress::Suspended));
    assert_eq!(drops.get(), 0);
    let stack = fiber.into_stack();
    assert_eq!(drops.get(), 3);
    assert!(!std::thread::panicking());
    // The stack can be used again.
    let mut next = made(stack, |_| ());
    assert!(matches!(next.resume(), Progress::Ended(Ok(()))));
}

#[test]
fn a_fiber_has_a_slot_of_its_own_even_when_it_is_dropped() {
    struct Looks(*const (), Rc<Cell<bool>>);
    impl Drop for Looks {
        fn drop(&mut self) {
            self.1.set(slot::<Native>() == self.0);
        }
    }
    let (mine, theirs) = (8 as *const (), 16 as *const ());
    let saw = Rc::new(Cell::new(false));
    let looks = Looks(theirs, Rc::clone(&saw));
    let mut fiber = fiber(move |suspender| {
        assert!(slot::<Native>().is_null());
        // SAFETY: only `slot` reads it.
        unsafe { Native::set_slot(looks.0) };
        let _looks = looks;
        suspender.suspend();
    });
    // SAFETY: only `slot` reads it, until it is null again.
    unsafe { Native::set_slot(mine) };
    fiber.resume();
    assert_eq!(slot::<Native>(), mine);
    drop(fiber);
    assert!(saw.get());
    assert_eq!(slot::<Native>(), mine);
    // SAFETY: the pointer is null.
    unsafe { Native::set_slot(ptr::null()) };
}

#[test]
fn fibers_run_fibers() {
    let stacks = Rc::new(stacks());
    fn level(stacks: &Rc<Stacks<Native>>, depth: u32, sum: Rc<Cell<u32>>) -> Fiber<Native> {
        let shared = Rc::clone(stacks);
        made(stacks.take().unwrap(), move |suspender| {
            sum.set(sum.get() + 1);
            suspender.suspend();
            if depth > 0 {
                let mut inner = level(&shared, depth - 1, Rc::clone(&sum));
                while let Progress::Suspended = inner.resume() {
                    suspender.suspend();
                }
            }
            sum.set(sum.get() + 1);
        })
    }
    let sum = Rc::new(Cell::new(0));
    let mut outer = level(&stacks, 5, Rc::clone(&sum));
    let mut suspensions = 0;
    while let Progress::Suspended = outer.resume() {
        suspensions += 1;
    }
    assert_eq!((suspensions, sum.get()), (6, 12));
}

/// Eight fibers go around four threads. Each finds its slot, its local variables, and values made
/// of them.
#[test]
fn fibers_go_around_threads() {
    const ROUNDS: usize = 500;
    let stacks = stacks();
    let sum = std::sync::Arc::new(AtomicUsize::new(0));
    let (senders, receivers): (Vec<_>, Vec<_>) =
        (0..4).map(|_| mpsc::channel::<Movable<Native>>()).unzip();
    for id in 1..=8 {
        let sum = std::sync::Arc::clone(&sum);
        let fiber = made(stacks.take().unwrap(), move |suspender| {
            let mine = (id * 16) as *const ();
            // SAFETY: only `slot` reads it.
            unsafe { Native::set_slot(mine) };
            let locals: Vec<usize> = (0..id).collect();
            for round in 0..ROUNDS {
                suspender.suspend();
                assert_eq!(slot::<Native>(), mine, "round {round}");
                sum.fetch_add(locals.iter().sum::<usize>(), SeqCst);
            }
            if id == 8 {
                panic!("caught on any thread");
            }
        });
        // SAFETY: a vector, numbers and an `Arc` are on the stack. The slot is read by a function
        // that is not inlined, and written only before the first suspension.
        senders[id % 4]
            .send(unsafe { Movable::new(fiber) })
            .unwrap();
    }
    let ended = std::sync::Arc::new(AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for (thread, receiver) in receivers.into_iter().enumerate() {
            let next = senders[(thread + 1) % 4].clone();
            let ended = std::sync::Arc::clone(&ended);
            scope.spawn(move || {
                while ended.load(SeqCst) < 8 {
                    let timeout = std::time::Duration::from_millis(1);
                    let Ok(mut fiber) = receiver.recv_timeout(timeout) else {
                        continue;
                    };
                    match fiber.resume() {
                        // The next thread is still there, because not all fibers have ended.
                        Progress::Suspended => next.send(fiber).unwrap(),
                        Progress::Ended(_) => drop(ended.fetch_add(1, SeqCst)),
                    }
                    assert!(slot::<Native>().is_null());
                    assert!(!std::thread::panicking());
                }
            });
        }
        drop(senders);
    });
    let expected: usize = (1..=8).map(|id| id * (id - 1) / 2).sum();
    assert_eq!(sum.load(SeqCst), ROUNDS * expected);
}

#[test]
fn another_thread_may_drop_a_suspended_fiber() {
    struct Tells(mpsc::Sender<std::thread::ThreadId>);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.send(std::thread::current().id()).unwrap();
        }
    }
    let (sender, receiver) = mpsc::channel();
    let mut fiber = fiber(move |suspender| {
        let _tells = Tells(sender);
        suspender.suspend();
    });
    fiber.resume();
    // SAFETY: a sender is `Send`, and the function that suspends uses none of its thread-local
    // variables.
    let fiber = unsafe { Movable::new(fiber) };
    let thread = std::thread::spawn(move || drop(fiber));
    let id = thread.thread().id();
    thread.join().unwrap();
    assert_eq!(receiver.recv().unwrap(), id);
}

#[test]
fn stacks_are_reused_last_first_and_differ_in_depth() {
    let stacks = stacks();
    let taken: Vec<_> = (0..64).map(|_| stacks.take().unwrap()).collect();
    let mut depths: Vec<_> = taken
        .iter()
        .map(|stack| stack.base().get() % 4096)
        .collect();
    depths.sort_unstable();
    depths.dedup();
    assert_eq!(depths.len(), 64, "all lines of a page");
    let usable = |stack: &FiberStack<Native>| stack.base().get() - stack.limit().get();
    assert!(taken.iter().all(|stack| usable(stack) > 64 << 10));
    let bases: Vec<_> = taken.iter().map(|stack| stack.base()).collect();
    taken.into_iter().for_each(|stack| stacks.put(stack));
    for base in bases.into_iter().rev() {
        assert_eq!(stacks.take().unwrap().base(), base);
        // The stack is not put back, so the next fiber gets another stack.
    }
}

#[test]
fn no_room_is_an_error() {
    assert!(Stacks::<Native>::new(usize::MAX).take().is_err());
}
