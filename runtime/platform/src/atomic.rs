//! The atomic types as traits, so that a model checker or a simulator can
//! stand in for `std::sync::atomic`.

use crate::Ordering;
use std::time::Duration;

/// An atomic cell: loads, stores and exchanges with explicit orderings.
///
/// ```
/// use manycore_platform::{Atomic, Native, Ordering, Platform};
///
/// let open = <Native as Platform>::AtomicBool::new(false);
/// assert!(!open.swap(true, Ordering::AcqRel));
/// assert!(open.load(Ordering::Acquire));
/// ```
pub trait Atomic<T: Copy>: Send + Sync {
    /// A cell that holds `value`.
    fn new(value: T) -> Self;

    /// Reads the value.
    fn load(&self, order: Ordering) -> T;

    /// Writes the value.
    fn store(&self, value: T, order: Ordering);

    /// Writes the value and returns the one before.
    fn swap(&self, value: T, order: Ordering) -> T;

    /// Writes `new` if the cell holds `current`; returns what it held.
    ///
    /// # Errors
    ///
    /// What the cell held, when that was not `current`.
    fn compare_exchange(
        &self,
        current: T,
        new: T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<T, T>;
}

/// An atomic integer: arithmetic and bits on top of [`Atomic`].
///
/// ```
/// use manycore_platform::{Atomic, AtomicInteger, Native, Ordering, Platform};
///
/// let word = <Native as Platform>::AtomicU32::new(0b01);
/// assert_eq!(word.fetch_or(0b10, Ordering::Relaxed), 0b01);
/// assert_eq!(word.fetch_and(0b10, Ordering::Relaxed), 0b11);
/// assert_eq!(word.fetch_sub(1, Ordering::Relaxed), 0b10);
/// ```
pub trait AtomicInteger<T: Copy>: Atomic<T> {
    /// Adds and returns the value before; wraps.
    fn fetch_add(&self, value: T, order: Ordering) -> T;
    /// Subtracts and returns the value before; wraps.
    fn fetch_sub(&self, value: T, order: Ordering) -> T;
    /// Bitwise and; returns the value before.
    fn fetch_and(&self, value: T, order: Ordering) -> T;
    /// Bitwise or; returns the value before.
    fn fetch_or(&self, value: T, order: Ordering) -> T;
}

/// A 32-bit word that threads sleep on.
///
/// ```
/// use manycore_platform::{Atomic, Futex, Native, Platform};
///
/// let word = <Native as Platform>::Futex::new(1);
/// word.wait(0, None); // the word is not 0: returns at once
/// assert_eq!(word.wake(1), 0); // nobody sleeps
/// ```
pub trait Futex {
    /// Sleeps while the word holds `expected`, until woken or until `timeout`
    /// has passed. May return for no reason.
    ///
    /// The comparison and the falling asleep are one step with respect to
    /// [`wake`](Self::wake): a `wake` that follows a change of the word is
    /// never lost on a thread that had compared before the change.
    fn wait(&self, expected: u32, timeout: Option<Duration>);

    /// Wakes up to `count` sleepers; returns how many, as far as the platform
    /// knows.
    fn wake(&self, count: u32) -> usize;
}
