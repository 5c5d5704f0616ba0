//! A thread of the program: a hart, and what the kernel keeps of it.

use super::errno::{ETIMEDOUT, Errno};
use crate::hart::Hart;

/// A thread.
pub(crate) struct Task {
    pub(crate) hart: Hart,
    pub(super) number: u32,
    /// The place of its process in the table of processes.
    pub(super) slot: usize,
    /// A word that is zeroed, and woken, when the thread ends.
    pub(super) clear: u64,
    /// Signals that it does not take now.
    pub(super) mask: u64,
    /// The stack of the handlers that ask for a stack of their own.
    pub(super) alternate: Alternate,
    /// The value of `Signals::sent` when the task last looked for signals.
    pub(super) seen: u64,
    pub(super) phase: Phase,
    /// Bytes that its call has written before it began to wait for room.
    pub(super) moved: u64,
    /// When the wait ends that it begins again, in nanoseconds.
    pub(super) until: Option<u64>,
    /// When the wait ends that it is in.
    pub(super) deadline: Option<u64>,
    /// How a signal ends that wait.
    pub(super) interrupted: Interrupted,
    /// A timer ends that wait sooner.
    pub(super) has_timer: bool,
    /// The mask that it has again after `rt_sigsuspend`.
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
    /// It waits for the child of this number, which has its memory (`vfork`).
    Lends(u32),
    /// The main thread has ended with this status, and waits for the others.
    Lingers(i32),
    /// It waits until the other threads of its process have ended, and makes its call (`execve`) again.
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
    /// The registers are as they should be.
    Restored,
    /// Suspend, and return 0.
    Yield,
    /// Return 0 on a core that the thread may run on.
    Move,
    /// Asleep on a futex: suspend.
    Sleep,
    /// Asleep for a time: suspend.
    Nap,
    /// Asleep: suspend, and make the call again.
    Await,
    /// Return this child's number when it does not run on the process's memory any more.
    Lend(u32),
    /// A signal came before the sleep.
    Interrupted,
    /// The other threads of the process end, and the call is made again.
    Outlive,
    /// The thread ends.
    End,
    /// The process ends.
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

/// By what a sleep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// Another task woke it.
    Called,
    /// Its time was over.
    Late,
    /// Another task has something for it to look at
    /// ([`World::disturb`](super::world::World::disturb)).
    Disturbed,
}

/// How a signal with a handler ends a wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Interrupted {
    /// The call returns `EINTR`.
    #[default]
    Ends,
    /// The call returns `EINTR`, and what is left of its time is written to an address, if there
    /// is one.
    EndsWithRest(u64),
    /// The call is made again, if the handler's flags say so and its time has no limit.
    MayRestart,
    /// The call is made again.
    Restarts,
}

/// The stack that handlers may have of their own, as `sigaltstack` has it: address, flags, size.
pub(super) type Alternate = [u64; 3];

/// No such stack.
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

    /// The place of its process in the table of processes.
    pub(crate) fn slot(&self) -> usize {
        self.slot
    }

    /// The registers that a system call's arguments are in.
    pub(super) fn arguments(&self) -> [u64; 6] {
        std::array::from_fn(|at| self.hart.x[10 + at])
    }

    /// Whether its stack pointer is within its alternate stack.
    pub(super) fn is_on_alternate(&self) -> bool {
        let [start, off, size] = self.alternate;
        off == 0 && self.hart.x[2].wrapping_sub(start) <= size
    }

    /// Makes the task ready to go on on another machine, on a core that it may run on.
    pub(crate) fn hand_over(&mut self) {
        // The other machine's clock has another pace.
        self.hart.alarm = 0;
        // The main thread begins on the first core, wherever it may run.
        if self.phase == Phase::Runs {
            self.phase = Phase::Moves;
        }
    }

    /// The rest of a wait that the task begins again at `now`, if its time was limited.
    pub(super) fn rest_of_wait(&mut self, now: u64) -> Option<u64> {
        self.until.take().map(|until| until.saturating_sub(now))
    }

    /// Makes the system call again, for what is left of its time.
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
    }
}
