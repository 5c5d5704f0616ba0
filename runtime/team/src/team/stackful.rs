use super::rank::{Rank, Seat};
use super::{Body, Step, Turn};
use crate::fiber::{Fiber, Movable, Progress, Stacks};
use manycore_platform::Platform;
use std::cell::Cell;
use std::fmt;
use std::panic::resume_unwind;
use std::ptr;
use std::sync::Arc;

/// The body of a rank (one of a program's parts). The code of the body is written as for a thread: it may call
/// [`Rank::barrier`] anywhere, even inside loops.
///
/// [`Rank`] has an example. The stacks come from the team's pool, and each has the size
/// [`stack_size`](super::TeamBuilder::stack_size).
///
/// # Panics
///
/// When a rank panics, the other ranks stop where they are and do not continue. The thread that called
/// [`Team::run`](super::Team::run) unwinds their stacks, so that all values on them are dropped.
pub struct Stackful<P: Platform, F> {
    state: State<P, F>,
    /// The seat (the data that the rank and its worker share) is in a box, because the rank on the
    /// stack has a pointer to it.
    seat: Box<Seat<P>>,
}

enum State<P: Platform, F> {
    /// The rank has had no turn yet.
    Fresh(F),
    Begun(Begun<P>),
    Ended,
}

struct Begun<P: Platform> {
    /// `None` only while the stack is being given back.
    fiber: Option<Movable<P>>,
    stacks: Arc<Stacks<P>>,
}

// SAFETY: by the contract of `new`, the program and the values on its stack may change threads. The rank and the thread
// that resumes the rank use the seat one at a time, and each resumption sets the pointer in the seat.
unsafe impl<P: Platform, F: Send> Send for Stackful<P, F> {}

impl<P: Platform, F: FnOnce(&mut Rank<P>) + Send> Stackful<P, F> {
    /// Makes the body of one rank.
    ///
    /// # Safety
    ///
    /// The program may change to another thread in each call of a method of its [`Rank`], except in calls that only
    /// return its number. So, for the program and all functions that it calls, at each [`barrier`](Rank::barrier),
    /// [`pause`](Rank::pause) and reduction:
    ///
    /// * All live values on its stack are [`Send`]: no guard of a lock, no [`Rc`](std::rc::Rc).
    /// * No address of a thread-local variable is kept across the call, by the program or by the compiler. The compiler
    ///   may keep such an address in a function that uses a thread-local variable both before and after the call. This
    ///   includes uses in code that is inlined into the function. Use a [`RankLocal`](super::RankLocal) in place of
    ///   thread-local memory.
    /// * The call is not made by a destructor that runs because of a panic.
    ///
    /// The program does not exchange its `Rank` for another, for example by
    /// [`swap`](std::mem::swap).
    ///
    /// All these rules also hold for the destructors of values that are on the stack when another rank panics. Those
    /// destructors run on the thread that called `run`.
    pub unsafe fn new(program: F) -> Self {
        Self {
            state: State::Fresh(program),
            seat: Box::new(Seat {
                turn: Cell::new(ptr::null()),
                worker: Cell::new(0),
                step: Cell::new(Step::Preempted),
            }),
        }
    }

    #[cold]
    fn begin(&mut self, turn: &Turn<'_, P>) {
        let State::Fresh(program) = std::mem::replace(&mut self.state, State::Ended) else {
            unreachable!("called for a fresh one")
        };
        let stacks = Arc::clone(turn.stacks);
        let stack = stacks.take();
        let stack = stack.unwrap_or_else(|why| panic!("no stack for rank {}: {why}", turn.rank()));
        let seat = &raw const *self.seat;
        // SAFETY: all values that the program borrows live at least as long as this body, since the
        // body's type contains the program. The body drops the fiber when it is dropped, and the
        // team drops all bodies.
        let fiber = unsafe {
            Fiber::new(stack, move |suspender| {
                // The seat is in its box until the fiber is gone, and the turn is set before
                // `resume`.
                program(&mut Rank::new(seat, suspender));
            })
        };
        // SAFETY: the contract of `new` allows the move. The rank points only to data that moves with the fiber.
        let fiber = unsafe { Movable::new(fiber) };
        self.state = State::Begun(Begun {
            fiber: Some(fiber),
            stacks,
        });
    }
}

impl<P: Platform, F: FnOnce(&mut Rank<P>) + Send> Body<P> for Stackful<P, F> {
    fn go_on(&mut self, turn: &Turn<'_, P>) -> Step {
        self.seat.worker.set(turn.worker());
        // The lifetime of the turn is erased here, but the turn is used only until `resume` returns.
        self.seat.turn.set(ptr::from_ref(turn).cast());
        if matches!(self.state, State::Fresh(_)) {
            self.begin(turn);
        }
        let State::Begun(Begun {
            fiber: Some(fiber), ..
        }) = &mut self.state
        else {
            panic!("a rank that is done has no turn")
        };
        let progress = fiber.resume();
        // Destructors that run when a suspended rank is dropped have no turn.
        self.seat.turn.set(ptr::null());
        match progress {
            Progress::Suspended => self.seat.step.get(),
            Progress::Ended(result) => {
                self.state = State::Ended;
                result.map_or_else(|payload| resume_unwind(payload), |()| Step::Done)
            }
        }
    }
}

impl<P: Platform> Drop for Begun<P> {
    fn drop(&mut self) {
        if let Some(fiber) = self.fiber.take() {
            self.stacks.put(fiber.into_inner().into_stack());
        }
    }
}

impl<P: Platform, F> fmt::Debug for Stackful<P, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Fresh(_) => "fresh",
            State::Begun(_) => "begun",
            State::Ended => "ended",
        };
        f.debug_struct("Stackful")
            .field("state", &state)
            .finish_non_exhaustive()
    }
}
