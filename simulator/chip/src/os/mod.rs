//! The operating system: the placement of threads on cores and in time, and waiting threads.
//!
//! Pure state machines. The engine owns time, asks them questions and does what
//! they answer.

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
/// A software thread.
pub(crate) type ThreadId = u32;
