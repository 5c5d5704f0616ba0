//! Signals that threads send to each other, that timers send, and that faults raise.
//!
//! A thread takes a signal between two blocks of instructions, or when it leaves the kernel. A signal ends a thread's
//! wait in a spin loop or in the kernel (`waits`). A thread that computes checks for signals only when it is resumed.
//! This suffices, because the machine suspends the thread before other threads send a signal.

mod actions;
mod frame;
mod processor;
mod send;
mod stop;
mod timers;

pub(super) use actions::Signals;
pub(super) use frame::{return_from_signal, set_alternate};
pub(super) use stop::Change;
pub(super) use timers::Timers;
