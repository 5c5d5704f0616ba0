//! Model checks of the stack of jobs: exhaustive ones under loom, and random ones with many thieves under shuttle.
//! Each job runs exactly once, the thread that runs it sees the owner's writes, and the owner sees the result.

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
    /// Whether the job may run. It is set before the push and cleared by the run. The type is the standard
    /// library's, so these accesses are no steps of the model. They order nothing, because the checkers run one
    /// thread at a time.
    due: std::sync::atomic::AtomicBool,
}

const OWNER: u32 = 1_000;

impl CheckedTask {
    fn new() -> Self {
        unsafe fn run(task: *const (), migrated: bool) {
            // SAFETY: `task` is the task below, which its owner keeps until it is done.
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

    /// The owner pushes this task with `input`. Returns the task's index.
    fn push<P: Platform>(&self, stack: &JobStack<P>, input: u32) -> u32 {
        self.input.write(input);
        self.due.store(true, Ordering::Relaxed);
        let index = stack.push_as_joins_do(std::ptr::from_ref(self).cast());
        index.expect("the stack is large enough")
    }

    /// The owner pops this task. If a thief has stolen it, waits for the thief, and else runs it. Returns whether
    /// it was stolen.
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
            "the thief did not run the job"
        );
        stack.retire(index);
        true
    }
}

/// Returns the worker `rank` as a thief whose stack is empty.
fn thief(rank: usize) -> Thief {
    Thief {
        worker: rank as u32,
        base: 1,
    }
}

/// The ways in which a thief gets a job.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Steal,
    Raise,
    /// The thief requests jobs, and steals one if the owner has already answered. Otherwise it raises the limit.
    AskThenRaise,
}

/// Tries to take a job from `stack` in this way, and runs it. Returns whether it ran a job.
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
    // SAFETY: the claim is from this stack, and its job runs only here.
    unsafe {
        let (run, task) = stack.job(&claim);
        run(task, true);
    }
    // No worker sleeps on the latch, except in `hands`.
    let _ = stack.done(claim);
    true
}
