//! Signals, as far as threads send them to each other, timers send them and faults raise them.
//!
//! A thread takes a signal between two blocks of instructions, or when it leaves the kernel. A
//! signal ends its wait in a spin loop, and in the kernel (`waits`). A thread that computes needs
//! no more than to look when it is resumed: the machine suspends it before others send anything.

mod actions;
mod frame;
mod send;
mod timers;

pub(super) use actions::Signals;
pub(super) use frame::{return_from_signal, set_alternate};
pub(super) use timers::Timers;
