//! Words that no program has: threads sleep on them in the kernel.

use super::task::Task;
use crate::memory::PAGE;

/// The readers of streams sleep on this word. No program has the page at zero.
pub(super) const STREAMS: u64 = PAGE + 4;

/// A thread sleeps on this word until a signal or its time ends the sleep.
pub(super) fn nowhere(task: &Task) -> u64 {
    PAGE + 8 * u64::from(task.number)
}

/// A process sleeps on this word until a child ends, or until a child of `vfork` runs another program.
pub(super) fn children(process: u32) -> u64 {
    PAGE + 8 * u64::from(process) + 4
}
