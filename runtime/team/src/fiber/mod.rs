//! Fibers: code that has a stack of its own, stops in the middle of a call and is resumed later,
//! perhaps by another thread.
//!
//! Fibers carry the ranks of a team (the parts of a program). A rank is written as if it had a
//! thread, and waits at barriers in the middle of its loops. If there are fewer cores than ranks, a
//! worker suspends the rank that waits and resumes another rank. That takes some tens of
//! nanoseconds. A switch of threads by the operating system takes microseconds.
//!
//! ```
//! use manycore_platform::Native;
//! use manycore_team::fiber::{Fiber, Progress, Stacks, Suspender};
//! use std::cell::Cell;
//! use std::rc::Rc;
//!
//! let stacks = Stacks::<Native>::new(64 << 10);
//! let steps = Rc::new(Cell::new(0));
//! let mine = Rc::clone(&steps);
//! let body = move |suspender: &Suspender<Native>| {
//!     for _ in 0..3 {
//!         mine.set(mine.get() + 1);
//!         suspender.suspend();
//!     }
//! };
//! // SAFETY: the body borrows nothing, and the fiber is dropped here.
//! let mut fiber = unsafe { Fiber::new(stacks.take()?, body) };
//! assert!(matches!(fiber.resume(), Progress::Suspended));
//! assert!(matches!(fiber.resume(), Progress::Suspended));
//! assert_eq!(steps.get(), 2);
//! // In the middle of its loop; what it has on its stack is dropped.
//! stacks.put(fiber.into_stack());
//! assert_eq!(Rc::strong_count(&steps), 1);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! A switch takes some 10 to 15 ns, on a machine that was not idle (`cargo bench -p manycore-team
//! --bench fiber`). On the simulated chip it takes sixty instructions, and a cache line or two for
//! the saved registers. On the chip `atac-64`, 48 fibers take turns on one core. A turn takes 64
//! cycles if their stacks have colours ([`Stacks`]), and 560 cycles if all stacks begin at a page
//! boundary.
//!
//! # Fibers on the simulated chip and under the checkers
//!
//! The crate `corosensei` does the switch: it stores some registers on the stack and exchanges the
//! stack pointer. A word at the base of a coroutine's stack, the *parent link*, leads to the thread
//! that resumed the coroutine. Each resumption writes this word again.
//!
//! On the simulated chip and under the checkers, the thread that resumes a fiber is a coroutine
//! itself, the *outer* one. The outer coroutine is suspended whenever it is the turn of another
//! simulated thread. That may happen while the outer coroutine executes on the fiber's stack, the
//! *inner* stack. This is sound, and needs no additional code:
//!
//! * Suspending the outer coroutine pushes its registers onto the inner stack, where it executes,
//!   and hands that stack pointer to the code that resumed the outer coroutine. The outer parent
//!   link, at the base of the *outer* stack, leads to that code. The inner stack, the outer stack
//!   and the link stay in place. Resuming the outer coroutine continues at that stack pointer, and
//!   writes the outer parent link. The link's place follows from the base of the outer stack, which
//!   the coroutine's owner knows, and not from the stack pointer.
//! * Meanwhile the inner stack is in use, and no other thread can resume or drop the fiber. The
//!   caller of `resume` has borrowed the fiber, in a frame of the outer stack that has not
//!   returned.
//! * The inner parent link leads to that frame. When the fiber suspends itself, the thread
//!   continues only there, and the outer coroutine executes on its own stack again. From then on
//!   another simulated thread may resume the fiber, and this resumption writes the inner link
//!   again. No outer coroutine refers to the inner stack at that time.
//! * So stacks are always linked in the order of nested calls. A panic unwinds to the root of the
//!   fiber, where it is caught, and never crosses from one stack to another.
//!
//! Loom's coroutines, from the crate `generator`, keep the saved stack pointer in a record of the
//! coroutine. The argument holds for them too. On the chip the stacks are memory of the simulated
//! machine.
//!
//! # Moving a fiber
//!
//! A [`Fiber`] stays on its thread. A [`Movable`] may change threads, and making one is unsafe.
//! Compilers rely on two rules. A stack frame breaks these rules when it continues on another
//! thread:
//!
//! * **Data that is not [`Send`] stays on its thread.** For example, an `Rc` may have a clone in a
//!   thread-local variable, and a lock's guard may have to be released by its own thread.
//! * **A function stays on one thread from its entry to its return.** So the address of a
//!   thread-local variable is a constant of the function. The compiler may compute it once, before
//!   a suspension, and use it after the suspension on another thread
//!   (<https://github.com/rust-lang/rust/issues/33368>). This happens with rustc 1.95 on x86-64,
//!   for a loop that reads a `thread_local!` on both sides of an opaque call. In a program the loop
//!   reads `fs` for each access. In a shared library it calls `__tls_get_addr` once, before the
//!   loop. No annotation prevents this. The remedy is to access the variable in a separate function
//!   that does not suspend and is never inlined.
//!
//! This crate's thread-local variable is the platform's slot, a pointer. Each fiber has its own
//! value of the slot. A resumption installs the fiber's slot and saves it afterwards, by functions
//! that are not inlined, so the fiber finds its slot on every thread. Code that may suspend reads
//! the slot by [`slot`], because the native `P::slot` is inlined. The thread-local variables of the
//! chip (the engine, the arena) and of the checkers belong to the *host's* thread. A simulation or
//! model stays on one host thread, so the addresses of these variables stay valid.
//!
//! Two thread-local variables of the standard library matter. One is the count of panics: if a
//! fiber suspends while it unwinds and continues on another thread, its panic is counted on one
//! thread and discounted on the other. The other is [`std::thread::current`], which names the
//! thread that runs the fiber, not the fiber.
//!
//! # Dropping a fiber that has not ended
//!
//! The thread that drops the fiber unwinds it. [`Suspender::suspend`] does not return, and
//! everything on the stack is dropped up to the fiber's first frame, as by a panic that no hook
//! reports. Forgetting the stack would be cheaper, but wrong: other code relies on destructors, for
//! example that a scope's threads have ended. If the body catches the panic and suspends again,
//! `suspend` panics again. If a *destructor* on the stack suspends, the process ends, as when a
//! destructor panics. The process also ends if a fiber must be unwound in a program that is
//! compiled to abort on panics. On the chip a fiber is unwound inside of the simulation, in
//! simulated time. The fibers and threads that an ended simulation leaves behind are not unwound.

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
