//! The stack of jobs under loom, exhaustively, and with many thieves under shuttle: each job runs
//! exactly once, its thread sees the owner's writes, and the owner sees its result.

mod hands;
mod many;
mod pairs;
mod reuse;

use super::{Head, JobStack, Thief};
use manycore_check::Plain;
use manycore_platform::{Ordering, Platform};

/// A job that records whether it ran once, and in order.
#[repr(C)]
struct CheckedTask {
    head: Head,
    /// Written by the owner before the push, read by the thread that runs the job.
    input: Plain<u32>,
    /// Written by the thread that runs the job, read by the owner.
    output: Plain<u32>,
    /// Whether it may be run: set before the push, cleared by the run. The
    /// standard library's: keeping the books is no step of the model, and orders
    /// nothing, because the checkers run one thread at a time.
    due: std::sync::atomic::AtomicBool,
}

const OWNER: u32 = 1_000;

impl CheckedTask {
    fn new() -> Self {
        unsafe fn run(task: *const (), migrated: bool) {
            // SAFETY: the task below, which its owner keeps until it is done.
            let task = unsafe { &*task.cast::<CheckedTask>() };
            task.ran(if migrated { 1 } else { OWNER });
        }
        Self {
            head: Head(run),
            input: Plain::new(0),
            output: Plain::new(0),
            due: false.into(),
        }
    }

    fn ran(&self, by: u32) {
        let was_due = self.due.swap(false, Ordering::Relaxed);
        assert!(was_due, "a job is run twice, or before it was pushed");
        self.output.write(self.input.read() + by);
    }

    /// The owner pushes it, with `input`; its index.
    fn push<P: Platform>(&self, stack: &JobStack<P>, input: u32) -> u32 {
        self.input.write(input);
        self.due.store(true, Ordering::Relaxed);
        let index = stack.push_as_joins_do(std::ptr::from_ref(self).cast());
        index.expect("the stack is large enough")
    }

    /// The owner pops it, and runs it or waits; whether it was stolen.
    fn pop<P: Platform>(&self, stack: &JobStack<P>, index: u32) -> bool {
        let input = self.input.read();
        if stack.pop(index) || stack.confirm(index) {
            self.ran(OWNER);
            assert_eq!(self.output.read(), input + OWNER);
            return false;
        }
        while !stack.latch(index).is_set() {
            P::yield_now();
        }
        assert_eq!(
            self.output.read(),
            input + 1,
            "who stole the job did not run it"
        );
        stack.retire(index);
        true
    }
}

/// The worker `rank`, whose stack is empty.
fn thief(rank: usize) -> Thief {
    Thief {
        worker: rank as u32,
        base: 1,
    }
}

/// A thief's ways to a job.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Steal,
    Raise,
    /// Requests, and takes what it is given by then; or raises.
    AskThenRaise,
}

/// Tries to take a job from `stack` in this way, and runs it; whether it did.
fn take<P: Platform>(stack: &JobStack<P>, way: Way, rank: usize) -> bool {
    let me = thief(rank);
    let claim = match way {
        Way::Steal => stack.steal(0, me),
        Way::Raise => stack.raise(0, me),
        Way::AskThenRaise => {
            stack.request();
            stack.steal(0, me).or_else(|| stack.raise(0, me))
        }
    };
    let Some(claim) = claim else { return false };
    // SAFETY: claimed from this stack just now, and run once.
    unsafe {
        let (run, task) = stack.job(&claim);
        run(task, true);
    }
    // No worker sleeps on it, except in `hands`.
    let _ = stack.done(claim);
    true
}
