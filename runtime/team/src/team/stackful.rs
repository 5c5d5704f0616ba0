//! Ranks that are written as if they had a thread each.

use super::rank::{Rank, Seat};
use super::{Body, Step, Turn};
use crate::fiber::{Fiber, Movable, Progress, Stacks};
use manycore_platform::Platform;
use std::cell::Cell;
use std::fmt;
use std::panic::resume_unwind;
use std::ptr;
use std::sync::Arc;

/// The body of a rank with a stack of its own: a program that may call [`Rank::barrier`] anywhere,
/// also inside its loops.
///
/// An example is at [`Rank`]. Stacks come from the team's pool, of
/// [`stack_size`](super::TeamBuilder::stack_size) each.
///
/// # Panics
///
/// When a rank panics the others are stopped where they are, and never go on. Their stacks are
/// unwound, so that what they have is dropped, on the thread that called
/// [`Team::run`](super::Team::run).
pub struct Stackful<P: Platform, F> {
    state: State<P, F>,
    /// Behind a pointer, because the rank on the stack has one to it.
    seat: Box<Seat<P>>,
}

enum State<P: Platform, F> {
    /// It has had no turn.
    Fresh(F),
    Begun(Begun<P>),
    Ended,
}

struct Begun<P: Platform> {
    /// `None` when its stack is put back.
    fiber: Option<Movable<P>>,
    stacks: Arc<Stacks<P>>,
}

// SAFETY: by the contract of `new` the program and the values on its stack may change threads. The
// rank and the thread that resumes it use the seat, one at a time; each resumption sets its pointer
// anew.
unsafe impl<P: Platform, F: Send> Send for Stackful<P, F> {}

impl<P: Platform, F: FnOnce(&mut Rank<P>) + Send> Stackful<P, F> {
    /// The body of one rank.
    ///
    /// # Safety
    ///
    /// Between any two calls of the program to its [`Rank`] it may change to another thread, except
    /// calls that only ask for its number. So, for the program and all functions that it calls, at
    /// each [`barrier`](Rank::barrier), [`pause`](Rank::pause) and reduction:
    ///
    /// * all that is live on its stack is [`Send`]: no guard of a lock, no [`Rc`](std::rc::Rc);
    /// * no address of a thread-local variable is kept across the call: not by the program,
    ///   and not by the compiler, in a function that itself, or by what is inlined into it,
    ///   looks at a thread-local variable both before and after the call. A
    ///   [`RankLocal`](super::RankLocal) takes the place of thread-local memory;
    /// * it is not called by a destructor that runs because of a panic.
    ///
    /// The program leaves its `Rank` where it is: it does not exchange it with another's, by
    /// [`swap`](std::mem::swap), say.
    ///
    /// The same holds for the destructors of what is on the stack when another rank panics:
    /// they run on the thread that has called `run`.
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
        // SAFETY: what the program borrows lives at least as long as this, which has its type
        // and drops the fiber when it is dropped; the team drops all bodies.
        let fiber = unsafe {
            Fiber::borrowing(stack, move |suspender| {
                // The seat is in its box until after the fiber, and the turn is set below.
                program(&mut Rank::new(seat, suspender));
            })
        };
        // SAFETY: by the contract of `new`; the rank's pointers are to what moves with it.
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
        // For as long as the call below, though the type does not say so.
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
        // Destructors that run when a suspended rank is dropped find none.
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
