//! Processes that a signal has stopped. A stopped process's threads suspend before their next instruction or system
//! call, and take no signals. SIGCONT lets them go on. SIGKILL ends the process, whichever of its threads looks first.

use super::actions::Signals;
use crate::linux::signal::{CONTINUE, KILL, Signal};
use crate::linux::threads::Threads;
use crate::linux::words;
use crate::linux::world::World;

/// A change of a child for which a parent may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::linux) enum Change {
    Stopped(Signal),
    Continued,
}

/// Whether a process is stopped, and what its parent knows of it.
#[derive(Default)]
pub(in crate::linux) struct Stop {
    is_on: bool,
    /// Whether SIGKILL was sent. Nothing stops the process any more.
    is_killed: bool,
    /// The last change, until the parent has waited for it.
    pub(in crate::linux) change: Option<Change>,
    /// Whether the parent has not got a signal for that change yet.
    pub(in crate::linux) is_news: bool,
    /// Whether the threads that sleep in the kernel have not noticed the stop yet.
    pub(in crate::linux) is_new: bool,
}

impl Stop {
    pub(in crate::linux) fn is_on(&self) -> bool {
        self.is_on
    }

    pub(in crate::linux) fn is_killed(&self) -> bool {
        self.is_killed
    }

    pub(in crate::linux) fn begin(&mut self, signal: Signal) {
        if !self.is_killed {
            self.change(true, Change::Stopped(signal));
            self.is_new = true;
        }
    }

    /// Drops what the parent does not know yet. The parent then learns only of the process's end.
    pub(in crate::linux) fn forget_news(&mut self) {
        (self.change, self.is_news) = (None, false);
    }

    fn change(&mut self, is_on: bool, change: Change) {
        (self.is_on, self.change, self.is_news) = (is_on, Some(change), true);
    }
}

impl Signals {
    /// Does what a signal does as soon as it is sent, whether or not it is blocked: it lets the process go on, and drops
    /// the pending signals that would do the opposite.
    pub(super) fn before_sending<W: World>(
        &mut self,
        threads: &mut Threads,
        world: &mut W,
        signal: Signal,
    ) {
        let was_on = self.stop.is_on;
        match signal {
            KILL => {
                (self.stop.is_on, self.stop.is_killed) = (false, true);
                self.stop.forget_news();
                let all: Vec<u32> = threads.numbers().collect();
                for thread in all {
                    self.make_look(threads, world, thread);
                }
            }
            CONTINUE => {
                for signal in Signal::stopping() {
                    self.forget(threads, signal);
                }
                if was_on {
                    self.stop.change(false, Change::Continued);
                }
            }
            _ if signal.stops() => self.forget(threads, CONTINUE),
            _ => {}
        }
        if was_on && !self.stop.is_on {
            // The threads look at the process again, as the parents of children do on this word.
            world.futex_wake(words::children(threads.main()), u32::MAX);
        }
    }

    /// Drops a pending signal of the process and its threads.
    fn forget(&mut self, threads: &mut Threads, signal: Signal) {
        self.pending.forget(signal);
        threads.forget(signal);
    }
}
