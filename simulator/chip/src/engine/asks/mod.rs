//! The requests of a core to the machine. All calls are for the thread that runs on `core` now, at
//! the core's clock. If an answer is not there at once, the thread must suspend; it is resumed,
//! perhaps on another core, when the answer is there.

mod access;
mod kernel;
mod order;
mod threads;

/// The outcome of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Done, and accounted for: the word before.
    Done(u64),
    /// Suspend; the reply is the thread's when it is resumed.
    Suspend,
    /// Suspend, and ask again: others come first.
    Again,
}
