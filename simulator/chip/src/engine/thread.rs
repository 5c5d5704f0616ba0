//! Software threads, and the trait that a front end implements for them.

use super::Engine;
use crate::os::ThreadId;

/// The code of a simulated thread, as a front end runs it: a coroutine of native code, or a guest such as a RISC-V
/// hart.
///
/// The engine resumes the body on a core. The body calls the engine for everything except the
/// core's own instructions, and suspends when the engine says so.
pub(crate) trait Body {
    /// Runs on core `core` until the thread must wait or ends. Until this function returns, the
    /// engine does not move, and no other reference to it exists.
    fn resume(&mut self, engine: *mut Engine, core: u32) -> Progress;

    /// Drops a thread that will not run again. None of the thread's code may run, not even destructors, because the
    /// machine has ended.
    fn abandon(self: Box<Self>);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Suspended,
    Ended,
    /// This thread has ended the program.
    Exited,
}

/// The reason why a thread is blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    Futex { address: u64 },
    Join(ThreadId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The thread has a core, or waits in a run queue.
    Runnable,
    Blocked(Wait),
    Ended,
}

/// The state of a thread when simulated time begins.
///
/// ```
/// use manycore_chip::{Simulation, config::Config, guest::*};
///
/// let machine = Config::preset("dahu")?;
/// let mut child = None;
/// let main = move |core: &mut Core<'_>| {
///     let asleep = (5, Before::Slept { address: 64, cycles: None });
///     if child.is_none() {
///         let body = |_: &mut Core<'_>| State::Ended;
///         child = Some(core.go_on_with("child".into(), Box::new(body), asleep, &[]));
///         // The sleeper is found by its address.
///         assert_eq!(core.futex_wake(64, 1), 1);
///     }
///     match child {
///         Some(Ok(child)) if core.join(child) => State::Suspended,
///         _ => State::Exited,
///     }
/// };
/// Simulation::new(&machine).run_guest(Box::new(main))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// It ran on its core, or was about to. It goes on after this number of cycles.
    Ran(u64),
    /// It sleeps.
    Slept {
        /// The futex of its sleep.
        address: u64,
        /// The rest of its timeout, if it has one.
        cycles: Option<u64>,
    },
}

pub(crate) struct Thread {
    pub(crate) name: String,
    pub(crate) body: Option<Box<dyn Body>>,
    pub(crate) state: State,
    /// The runtime's pointer (`Platform::slot`).
    pub(crate) slot: *const (),
    pub(crate) preemptions: u64,
    /// The answer to the thread's last request.
    pub(crate) reply: Reply,
    /// The remaining cycles of an interrupted computation.
    pub(crate) owed: u64,
    /// The thread ran before simulated time began, so its core needs no switch to it.
    pub(crate) ran_before: bool,
    /// The thread's code has returned. The thread ends when the present reaches its core's clock.
    pub(crate) returned: bool,
    /// Counts the thread's waits. So a timeout can see whether the wait that it belongs to still lasts.
    pub(crate) wait: u32,
    pub(crate) joiners: Vec<ThreadId>,
}

/// The reply after a sleep that ended by its time limit (`LATE`) or by [`Engine::disturb`] (`DISTURBED`).
pub(crate) const LATE: u64 = 1;
pub(crate) const DISTURBED: u64 = 2;

/// An answer to an access.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reply {
    /// The word's value before the operation.
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
