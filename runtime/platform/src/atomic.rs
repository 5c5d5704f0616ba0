//! The atomic types as traits, so that a model checker or a simulator can replace `std::sync::atomic`.

use std::sync::atomic::Ordering;
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
    /// Makes a cell that holds `value`.
    fn new(value: T) -> Self;

    /// Reads the value.
    fn load(&self, order: Ordering) -> T;

    /// Writes the value.
    fn store(&self, value: T, order: Ordering);

    /// Writes the value. Returns the previous value.
    fn swap(&self, value: T, order: Ordering) -> T;

    /// Writes `new` if the cell holds `current`. Returns the previous value.
    ///
    /// # Errors
    ///
    /// Returns the cell's value if that is not `current`.
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
    /// Adds with wrap-around. Returns the previous value.
    fn fetch_add(&self, value: T, order: Ordering) -> T;
    /// Subtracts with wrap-around. Returns the previous value.
    fn fetch_sub(&self, value: T, order: Ordering) -> T;
    /// Applies bitwise and. Returns the previous value.
    fn fetch_and(&self, value: T, order: Ordering) -> T;
    /// Applies bitwise or. Returns the previous value.
    fn fetch_or(&self, value: T, order: Ordering) -> T;
}

/// A 32-bit word that threads sleep on.
///
/// ```
/// use manycore_platform::{Atomic, Futex, Native, Platform};
///
/// let word = <Native as Platform>::Futex::new(1);
/// word.wait(0, None); // The word is not 0, so this returns at once.
/// assert_eq!(word.wake(1), 0); // No thread sleeps.
/// ```
pub trait Futex {
    /// If the word holds `expected`, sleeps until the thread is woken or `timeout` has passed. May return spuriously.
    ///
    /// Comparing and falling asleep are one step with respect to [`wake`](Self::wake). So a `wake` after a change of
    /// the word wakes a thread that has compared before the change.
    fn wait(&self, expected: u32, timeout: Option<Duration>);

    /// Wakes up to `count` sleepers. Returns their number, as far as the platform knows.
    fn wake(&self, count: u32) -> usize;
}

/// Implements [`Atomic`] for a type by the type's own methods of the same names, or by the methods of a field. The
/// arguments are the type, the type of its value, the constructor, the field, and, after a semicolon, a type parameter
/// if the type has one.
///
/// ```
/// use manycore_platform::{Atomic, Ordering, impl_atomic};
/// use std::sync::atomic::AtomicBool;
///
/// struct Flag(AtomicBool);
/// impl_atomic!(Flag, bool, |value| Flag(AtomicBool::new(value)), 0);
///
/// let flag = Flag::new(false);
/// assert!(!flag.swap(true, Ordering::Relaxed));
/// ```
#[macro_export]
macro_rules! impl_atomic {
    ($type:ty, $value:ty, $new:expr $(, $field:tt)? $(; $generic:ident)?) => {
        impl$(<$generic>)? $crate::Atomic<$value> for $type {
            #[inline(always)]
            fn new(value: $value) -> Self {
                $new(value)
            }

            #[inline(always)]
            fn load(&self, order: $crate::Ordering) -> $value {
                self$(.$field)?.load(order)
            }

            #[inline(always)]
            fn store(&self, value: $value, order: $crate::Ordering) {
                self$(.$field)?.store(value, order);
            }

            #[inline(always)]
            fn swap(&self, value: $value, order: $crate::Ordering) -> $value {
                self$(.$field)?.swap(value, order)
            }

            #[inline(always)]
            fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: $crate::Ordering,
                failure: $crate::Ordering,
            ) -> ::std::result::Result<$value, $value> {
                self$(.$field)?.compare_exchange(current, new, success, failure)
            }
        }
    };
}

/// As [`impl_atomic`](crate::impl_atomic), and implements [`AtomicInteger`] too.
///
/// ```
/// use manycore_platform::{Atomic, AtomicInteger, Ordering, impl_atomic_integer};
/// use std::sync::atomic::AtomicU32;
///
/// struct Count(AtomicU32);
/// impl_atomic_integer!(Count, u32, |value| Count(AtomicU32::new(value)), 0);
///
/// assert_eq!(Count::new(2).fetch_add(1, Ordering::Relaxed), 2);
/// ```
#[macro_export]
macro_rules! impl_atomic_integer {
    ($type:ty, $value:ty, $new:expr $(, $field:tt)?) => {
        $crate::impl_atomic!($type, $value, $new $(, $field)?);

        impl $crate::AtomicInteger<$value> for $type {
            #[inline(always)]
            fn fetch_add(&self, value: $value, order: $crate::Ordering) -> $value {
                self$(.$field)?.fetch_add(value, order)
            }

            #[inline(always)]
            fn fetch_sub(&self, value: $value, order: $crate::Ordering) -> $value {
                self$(.$field)?.fetch_sub(value, order)
            }

            #[inline(always)]
            fn fetch_and(&self, value: $value, order: $crate::Ordering) -> $value {
                self$(.$field)?.fetch_and(value, order)
            }

            #[inline(always)]
            fn fetch_or(&self, value: $value, order: $crate::Ordering) -> $value {
                self$(.$field)?.fetch_or(value, order)
            }
        }
    };
}

pub(crate) use {impl_atomic, impl_atomic_integer};
