//! Words that no program has: threads sleep on them in the kernel.

use super::task::Task;
use crate::memory::PAGE;

/// The readers of streams sleep on this word. No program has the page at zero.
pub(super) const STREAMS: u64 = PAGE + 4;

/// A thread sleeps on this word until a signal or its time ends the sleep.
pub(super) fn nowhere(task: &Task) -> u64 {
    PAGE + 8 * u64::from(task.number)
}

/// The meaning of such a word, for a message.
pub(super) fn describe(word: u64) -> &'static str {
    match word {
        STREAMS => "of readers of pipes, sockets and events",
        _ => "of a wait for a signal",
    }
}
