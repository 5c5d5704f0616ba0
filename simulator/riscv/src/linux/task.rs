//! A thread of the program: its hart, and the state that the kernel keeps for it.

use super::errno::{ETIMEDOUT, Errno};
use crate::hart::Hart;

pub(crate) struct Task {
    pub(crate) hart: Hart,
    pub(super) number: u32,
    /// The place of the thread's process in the table of processes.
    pub(super) slot: usize,
    /// The address of a word, or 0. When the thread ends, the word is zeroed and a sleeper is woken.
    pub(super) clear: u64,
    /// The mask of blocked signals.
    pub(super) mask: u64,
    /// The stack of the handlers that have `SA_ONSTACK`.
    pub(super) alternate: Alternate,
    /// The value of `Signals::sent` when the task last looked for signals.
    pub(super) seen: u64,
    pub(super) phase: Phase,
    /// Bytes that the current call moved before it began to wait for more.
    pub(super) moved: u64,
    /// The end of the wait that a repeated call continues, in nanoseconds.
    pub(super) until: Option<u64>,
    /// The end of the current wait, in nanoseconds.
    pub(super) deadline: Option<u64>,
    /// How a signal ends the current wait.
    pub(super) interrupted: Interrupted,
    /// Whether a timer ends the current wait before `deadline`.
    pub(super) has_timer: bool,
    /// The mask to restore after a wait with another mask, as in `rt_sigsuspend`.
    pub(super) suspended: Option<u64>,
}

/// The state of a task between two resumptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Runs,
    /// In a system call that has entered the kernel.
    Called,
    /// Asleep on a futex.
    Sleeps,
    /// Asleep for a time.
    Naps,
    /// Asleep until the system call can be made again.
    Awaits,
    /// On its way to a core that it may run on.
    Moves,
    /// After `vfork`: waits until the child of this number gives the memory back.
    Lends(u32),
    /// The main thread has ended with this status, and waits for the other threads.
    Lingers(i32),
    /// In `execve`: waits until the other threads have ended, and then makes the call again.
    Outlives,
}

/// The result of a resumption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskState {
    Suspended,
    Ended,
    Exited,
}

/// The effect of a system call on its task.
pub(super) enum Outcome {
    Return(u64),
    Fail(Errno),
    /// The call has set all registers itself.
    Restored,
    /// Suspend, and return 0.
    Yield,
    /// Return 0 once the thread is on a core that it may run on.
    Move,
    /// Asleep on a futex: suspend.
    Sleep,
    /// Asleep for a time: suspend.
    Nap,
    /// Asleep: suspend, and make the call again.
    Await,
    /// Return this child's number once the child has given the memory back.
    Lend(u32),
    /// A signal came before the sleep.
    Interrupted,
    /// End the other threads of the process, and make the call again.
    Outlive,
    End,
    Exit(i32),
}

impl From<Result<Self, Errno>> for Outcome {
    fn from(outcome: Result<Self, Errno>) -> Self {
        outcome.unwrap_or_else(Self::Fail)
    }
}

impl From<Result<u64, Errno>> for Outcome {
    fn from(value: Result<u64, Errno>) -> Self {
        match value {
            Ok(value) => Self::Return(value),
            Err(errno) => Self::Fail(errno),
        }
    }
}

/// Why a sleep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// Another task woke the sleeper.
    Called,
    /// The sleep's time was over.
    Late,
    /// Another task made the sleeper look for signals ([`World::disturb`](super::world::World::disturb)).
    Disturbed,
}

/// How a signal with a handler ends a wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Interrupted {
    /// The call returns `EINTR`.
    #[default]
    Ends,
    /// The call returns `EINTR`, even if the signal has no handler but stops the process.
    EndsByStop,
    /// The call returns `EINTR`, and writes the rest of its time to this address, unless the address is 0.
    EndsWithRest(u64),
    /// If the handler has `SA_RESTART` and the wait has no time limit, the call is made again.
    MayRestart,
    /// The call is made again.
    Restarts,
}

impl Interrupted {
    /// For a read or write of a socket, with the socket's time limit.
    pub(super) fn within(limit: Option<u64>) -> Self {
        match limit {
            Some(_) => Self::EndsByStop,
            None => Self::MayRestart,
        }
    }
}

/// The alternate stack of handlers, as in `sigaltstack`: address, flags, size.
pub(super) type Alternate = [u64; 3];

/// No alternate stack.
pub(super) const NO_ALTERNATE: Alternate = [0, STACK_OFF, 0];
pub(super) const STACK_OFF: u64 = 2;

impl Task {
    pub(super) fn new(hart: Hart, number: u32) -> Self {
        Self {
            hart,
            number,
            slot: 0,
            clear: 0,
            mask: 0,
            alternate: NO_ALTERNATE,
            seen: 0,
            phase: Phase::Runs,
            moved: 0,
            until: None,
            deadline: None,
            interrupted: Interrupted::default(),
            has_timer: false,
            suspended: None,
        }
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    pub(crate) fn slot(&self) -> usize {
        self.slot
    }

    pub(super) fn arguments(&self) -> [u64; 6] {
        std::array::from_fn(|at| self.hart.x[10 + at])
    }

    /// Whether the stack pointer is within the alternate stack. At the stack's lowest address it is not, as on Linux.
    pub(super) fn is_on_alternate(&self) -> bool {
        let [start, off, size] = self.alternate;
        off == 0 && (1..=size).contains(&self.hart.x[2].wrapping_sub(start))
    }

    /// Prepares the task to continue on another machine, on a core that it may run on.
    pub(crate) fn hand_over(&mut self) {
        // The task sets the alarm again, by the other machine's clock.
        self.hart.alarm = 0;
        // The other machine starts the main thread on the first core, even if the thread may not run there.
        if self.phase == Phase::Runs {
            self.phase = Phase::Moves;
        }
    }

    /// If a repeated call continues a limited wait, takes the time that is left at `now`.
    pub(super) fn rest_of_wait(&mut self, now: u64) -> Option<u64> {
        self.until.take().map(|until| until.saturating_sub(now))
    }

    /// Makes the system call again, with the rest of its time.
    pub(super) fn begin_again(&mut self) {
        self.until = self.deadline;
        self.phase = Phase::Called;
    }

    pub(super) fn give_late(&mut self) {
        self.give(ETIMEDOUT.negated());
    }

    pub(super) fn give(&mut self, value: u64) {
        self.hart.x[10] = value;
        self.phase = Phase::Runs;
        self.until = None;
    }
}
