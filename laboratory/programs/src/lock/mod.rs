//! Spin locks that show how a machine hands lines over: [`TicketLock`] and [`McsLock`].

mod mcs;
mod ticket;

#[cfg(test)]
mod checked;

pub use mcs::McsLock;
pub use ticket::TicketLock;

use manycore_platform::Platform;

/// A lock for a fixed number of threads, each with a rank (a number).
///
/// ```
/// use manycore_platform::Native;
/// use manycore_programs::lock::{Lock, TicketLock};
///
/// let lock = TicketLock::<Native>::new(1);
/// assert_eq!(lock.with(0, || 42), 42);
/// ```
pub trait Lock<P: Platform>: Send + Sync + 'static {
    /// Makes a free lock for the ranks from 0 to below `threads`.
    fn new(threads: usize) -> Self;

    /// Runs `section` while no other thread runs a section. Each rank belongs to one thread. Sections must not be
    /// nested, and must not unwind, since the lock would stay taken.
    ///
    /// # Panics
    ///
    /// Panics if `rank` is not less than the number of threads.
    fn with<R>(&self, rank: usize, section: impl FnOnce() -> R) -> R;
}
