//! The operating system: decides on which core and when threads run, and keeps waiting threads.
//!
//! The modules are pure state machines. The engine keeps the time, asks the modules for decisions, and carries the
//! decisions out.

mod balance;
mod futex;
mod place;
mod queue;
mod scheduler;

#[cfg(test)]
mod tests;

pub(crate) use futex::FutexTable;
pub(crate) use place::Placement;
pub(crate) use scheduler::Scheduler;

pub(crate) type Cycles = u64;
pub(crate) type ThreadId = u32;
