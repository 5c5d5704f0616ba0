//! Futex words that only the kernel uses. Their physical addresses are below the programs' memory.

use super::task::Task;
use crate::memory::PAGE;

/// Threads that wait for streams sleep on this word.
pub(super) const STREAMS: u64 = PAGE + 4;

/// A thread sleeps on this word until a signal or its time ends the sleep.
pub(super) fn nowhere(task: &Task) -> u64 {
    PAGE + 8 * u64::from(task.number)
}

/// A parent sleeps on its own word until a child ends. After `vfork`, it sleeps on the child's word until the child
/// gives the memory back. Threads of a stopped process sleep on the process's word, too.
pub(super) fn children(process: u32) -> u64 {
    PAGE + 8 * u64::from(process) + 4
}
