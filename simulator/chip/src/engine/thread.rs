//! Software threads: what runs on cores, and what a front end must provide.

use super::Engine;
use crate::core_set::CoreSet;
use crate::os::ThreadId;

/// A thread's code, as a front end runs it: a coroutine over real code, or a guest such as a
/// RISC-V hart over an unmodified program.
///
/// The engine resumes it on the core of its port. It asks the engine for everything beyond the
/// core's own instructions, and suspends when it must.
pub(crate) trait Body {
    /// Runs on core `core` until the thread must wait, or has ended. Meanwhile the engine belongs
    /// to the body: it does not move, and no other reference to it exists.
    fn resume(&mut self, engine: *mut Engine, core: u32) -> Progress;

    /// The thread will never run again. Nothing of it may run now, not even
    /// destructors: the machine they would run on is gone.
    fn abandon(self: Box<Self>);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Suspended,
    Ended,
    /// The program ends with this thread, whatever others do.
    Exited,
}

/// Why a thread is not runnable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    Futex { address: u64 },
    Join(ThreadId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Has a core, or waits in a run queue.
    Runnable,
    Blocked(Wait),
    Ended,
}

/// The state of a thread when the machine's time begins, if it ran before.
///
/// ```
/// use manycore_chip::guest::Before;
///
/// let nap = Before::Slept { address: 64, cycles: Some(1_000) };
/// assert_ne!(nap, Before::Ran);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// It had its core.
    Ran,
    /// It had slept, and was woken a moment ago.
    Woken,
    /// It sleeps.
    Slept {
        /// The futex of its sleep.
        address: u64,
        /// The rest of its time, if that is limited.
        cycles: Option<u64>,
    },
}

/// One software thread.
pub(crate) struct Thread {
    pub(crate) name: String,
    pub(crate) body: Option<Box<dyn Body>>,
    pub(crate) state: State,
    /// The runtime's pointer (`Platform::slot`).
    pub(crate) slot: *const (),
    /// Cores it is to be moved to as soon as it can be interrupted.
    pub(crate) moving_to: Option<CoreSet>,
    /// How often it had to make way for another.
    pub(crate) preemptions: u64,
    /// The answer to what it asked last.
    pub(crate) reply: Reply,
    /// The rest of an interrupted computation.
    pub(crate) owed: u64,
    /// It ran before time began: its core need not be given to it.
    pub(crate) ran_before: bool,
    /// Its code has returned; it ends when its last cycles have gone by.
    pub(crate) returned: bool,
    /// Counts its waits, so that a timeout knows whether it is still that one.
    pub(crate) wait: u32,
    pub(crate) joiners: Vec<ThreadId>,
}

/// The answer to a sleep that its time limit or [`Engine::disturb`] ended.
pub(crate) const LATE: u64 = 1;
pub(crate) const DISTURBED: u64 = 2;

/// An answer to an access.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reply {
    /// The word before the operation.
    pub(crate) value: u64,
    /// Whether a conditional store was done.
    pub(crate) stored: bool,
}

impl Thread {
    pub(crate) fn new(name: String, body: Box<dyn Body>) -> Self {
        Self {
            name,
            body: Some(body),
            state: State::Runnable,
            slot: std::ptr::null(),
            moving_to: None,
            preemptions: 0,
            reply: Reply::default(),
            owed: 0,
            ran_before: false,
            returned: false,
            wait: 0,
            joiners: Vec::new(),
        }
    }
}
