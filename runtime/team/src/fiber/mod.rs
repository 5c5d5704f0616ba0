//! Fibers: code with a stack of its own, which stops in the middle of a call and is resumed
//! later, perhaps by another thread.
//!
//! They carry the ranks of a team. A rank is written as if it had a thread to itself, and
//! waits at barriers in the middle of its loops; when there are fewer cores than ranks, a
//! worker puts the rank that waits aside and goes on with another, in some tens of
//! nanoseconds instead of the microseconds that the operating system takes.
//!
//! ```
//! use manycore_platform::Native;
//! use manycore_team::fiber::{Fiber, Progress, Stacks};
//! use std::cell::Cell;
//! use std::rc::Rc;
//!
//! let stacks = Stacks::<Native>::new(64 << 10);
//! let steps = Rc::new(Cell::new(0));
//! let mine = Rc::clone(&steps);
//! let mut fiber = Fiber::new(stacks.take()?, move |suspender| {
//!     for _ in 0..3 {
//!         mine.set(mine.get() + 1);
//!         suspender.suspend();
//!     }
//! });
//! assert!(matches!(fiber.resume(), Progress::Suspended));
//! assert!(matches!(fiber.resume(), Progress::Suspended));
//! assert_eq!(steps.get(), 2);
//! // In the middle of its loop; what it has on its stack is dropped.
//! stacks.put(fiber.into_stack());
//! assert_eq!(Rc::strong_count(&steps), 1);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! A switch takes some 10 to 15 ns, on a machine that others used meanwhile
//! (`cargo bench -p manycore-team --bench fiber`). On the simulated chip it takes sixty
//! instructions and, for the saved registers, the line or two at that place of the stack: on
//! `atac-64`, 48 fibers that take turns on one core need 64 cycles each if their stacks have
//! colours ([`Stacks`]), and 560 if all begin on a page.
//!
//! # The three worlds
//!
//! The crate `corosensei` has the switch: it stores some registers on the stack and exchanges the
//! stack pointer. Its coroutine keeps the thread that resumed it in a word at the base of its
//! stack, the parent link. Each resumption writes this word anew.
//!
//! On the simulated chip and under the checkers, the thread that resumes a fiber is a
//! coroutine itself, the *outer* one, which is suspended whenever another simulated thread
//! comes first; and that may happen while it executes on the fiber's stack, the *inner*
//! one. This is sound, and needs nothing done:
//!
//! * To suspend the outer coroutine is to push its registers where it executes, on the
//!   inner stack, to hand that stack pointer to whoever resumes the outer coroutine, and
//!   to follow the outer one's parent link, at the base of the *outer* stack. All of this
//!   is where it was. To resume the outer coroutine goes to the stack pointer handed
//!   over, and writes the outer parent link: by the base of the outer stack, which the
//!   coroutine's owner knows, and not by the stack pointer.
//! * Meanwhile the inner stack is in use, and no other thread can resume or drop the fiber: the
//!   caller of `resume` has borrowed it, in a frame of the outer stack that has not returned.
//! * The inner parent link leads to that frame. When the fiber suspends itself, it goes
//!   there, and nowhere else: the outer coroutine then executes on its own stack again.
//!   From there on another simulated thread may resume the fiber, which writes the
//!   inner link anew. No outer coroutine refers to the inner stack at that time.
//! * Stacks are therefore linked as calls are nested, always, and a panic unwinds to the
//!   root of the fiber, where it is caught: it never has to cross from one to the other.
//!
//! Loom's coroutines, from the crate `generator`, keep the saved stack pointer in a record
//! of the coroutine rather than at its base, which changes nothing in the argument. On
//! the chip the stacks are memory of the simulated machine.
//!
//! # Moving a fiber
//!
//! A [`Fiber`] stays on its thread; [`Movable`] is the door, and unsafe. Two things that a
//! compiler takes for granted end when a frame goes on on another thread:
//!
//! * **Data that is not [`Send`] stays on its thread.** An `Rc` with a clone in a thread-local, a
//!   guard of a lock that its own thread must release.
//! * **A function stays on one thread from its entry to its return.** The address of a thread-local
//!   variable is then a constant of the function. The compiler may compute it once, before a
//!   suspension, and use it after it, on the thread that was left
//!   (<https://github.com/rust-lang/rust/issues/33368>). This happens in practice: for a loop that
//!   reads a `thread_local!` on both sides of an opaque call, rustc 1.95 on x86-64 reads `fs` for
//!   each access in a program, but in a shared library it calls `__tls_get_addr` once before the
//!   loop. No annotation prevents it. The remedy is a function of its own for the access, which
//!   suspends nowhere and is never inlined.
//!
//! This crate's thread-local variable is the platform's slot. Each fiber has its own slot: a
//! resumption installs it and saves it afterwards, each by a function that is not inlined, so the
//! fiber finds its slot on every thread. Code that may suspend reads it by [`slot`]; `P::slot`
//! natively inlines. The chip's thread-local variables (the engine, the arena) and those of the
//! checkers belong to the *host's* thread. A simulation or model stays on one host thread, so they
//! cannot be stale.
//!
//! The standard library has thread-locals too, and two matter here. The count of panics is
//! one: a fiber must not be suspended while it unwinds and go on elsewhere, or the panic
//! would be counted on one thread and discounted on another.
//! [`std::thread::current`] is another: it names the thread that runs the fiber, not the fiber.
//!
//! # Dropping one that has not ended
//!
//! The thread that drops it unwinds it: [`Suspender::suspend`] does not return, and everything on
//! the stack is dropped up to the root, as by a panic that no hook reports. Forgetting the stack
//! would be cheaper and wrong: other code relies on destructors, for instance that a scope's
//! threads have ended. A body that catches the panic and suspends again is thrown at again. A
//! *destructor* on its stack that suspends ends the process, as a panic in a destructor does. So
//! does dropping a fiber that must be unwound in a program that is compiled to abort on panics. On
//! the chip a fiber is unwound inside of the simulation, and its destructors take simulated time.
//! Fibers and threads that an ended simulation leaves behind are not unwound.

#[cfg(all(test, not(miri)))]
mod checked;
mod fiber_slot;
mod movable;
mod running;
mod stacks;
#[cfg(all(test, not(miri)))]
mod tests;

pub use fiber_slot::slot;
pub use movable::Movable;
pub use running::{Fiber, Progress, Suspender};
pub use stacks::{FiberStack, Stacks};
