//! The value of a lock that one function takes and another frees.

use manycore_cores::sync::Lock;
use manycore_platform::Platform;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// The value, while the lock is held. It is a pointer and not a `&mut`: a `&mut` that a function receives must stay
/// the only reference until the function returns. But `State::end`, which receives this value, frees the lock
/// before it returns.
pub(super) struct Held<'a, T>(NonNull<T>, PhantomData<&'a mut T>);

impl<'a, T> Held<'a, T> {
    /// Takes the lock.
    ///
    /// # Safety
    ///
    /// The value is not used after [`Lock::free`].
    pub(super) unsafe fn of<P: Platform>(lock: &'a Lock<P, T>) -> Self {
        // SAFETY: the caller's promise.
        Self(NonNull::from(unsafe { lock.take() }), PhantomData)
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this thread has the lock, and frees it after the last use of this.
        unsafe { self.0.as_ref() }
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { self.0.as_mut() }
    }
}
