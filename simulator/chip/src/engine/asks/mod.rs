//! The requests of a core to the machine. Each request is from the thread that runs on `core`, at the core's clock. If
//! there is no answer at once, the thread must suspend. The engine resumes it, perhaps on another core, when the answer
//! is there.

mod access;
mod kernel;
mod order;
mod threads;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The access is done. The value is the word's previous value.
    Done(u64),
    /// The thread must suspend. When it is resumed, it has the reply.
    Suspend,
    /// The thread must suspend and repeat the access, since other cores are earlier.
    Again,
}
