//! The slot in which each helper of a cluster (a group of near threads) leaves its partial result of a loop for the
//! next helper.

use manycore_platform::{Atomic, Ordering, Platform};

/// One word: a boxed value, or null.
///
/// A helper that is done leaves its value in the slot if the slot is empty. Otherwise it takes the value that it
/// finds, joins its own value to it, and tries again. So of two helpers, the later helper joins their values, and the
/// last helper leaves the result of all helpers. No helper waits for another, and no user code runs under a lock.
///
/// The slot does not know the type of the values. Within one loop all values have the same type.
pub(crate) struct PartialSlot<P: Platform>(P::AtomicPtr<()>);

impl<P: Platform> PartialSlot<P> {
    pub(crate) fn new() -> Self {
        Self(P::AtomicPtr::new(std::ptr::null_mut()))
    }

    /// Leaves `mine`, joined by `join` to the values that other helpers have left.
    ///
    /// Cost: one locked instruction on the cache line of the cluster's entrance, and two more for each value
    /// that is joined.
    ///
    /// # Safety
    ///
    /// All values that were left in the slot since it was last empty have type `T`.
    pub(crate) unsafe fn leave<T>(
        &self,
        mut mine: Box<T>,
        join: impl Fn(Box<T>, Box<T>) -> Option<Box<T>>,
    ) {
        loop {
            let raw = Box::into_raw(mine);
            let none = std::ptr::null_mut();
            // Release pairs with the acquire in `take`. There is no load before the exchange, since it would fetch the
            // cache line once more.
            let left =
                (self.0).compare_exchange(none, raw.cast(), Ordering::Release, Ordering::Relaxed);
            if left.is_ok() {
                return;
            }
            // SAFETY: the pointer is from `into_raw` above, and no other thread has seen it.
            mine = unsafe { Box::from_raw(raw) };
            // SAFETY: by contract.
            if let Some(other) = unsafe { self.take() } {
                match join(other, mine) {
                    Some(both) => mine = both,
                    None => return,
                }
            }
        }
    }

    /// Takes the value in the slot, if there is one.
    ///
    /// # Safety
    ///
    /// As for [`leave`](Self::leave).
    unsafe fn take<T>(&self) -> Option<Box<T>> {
        // Acquire pairs with the release in `leave`: this thread sees the whole value.
        let left = self.0.swap(std::ptr::null_mut(), Ordering::Acquire);
        // SAFETY: by contract the pointer is from `Box::<T>::into_raw`. The exchange gives it to one thread.
        (!left.is_null()).then(|| unsafe { Box::from_raw(left.cast()) })
    }

    /// Takes the joined value of all helpers. Called by the caller of the loop.
    ///
    /// Cost: the caller fetched the cache line when it saw that the loop's gate, on the same line, was empty. So a load
    /// and a plain store do not wait for the line again. An exchange would wait.
    ///
    /// # Safety
    ///
    /// As for [`leave`](Self::leave). Each call of `leave` happens before this call or after it.
    pub(crate) unsafe fn take_last<T>(&self) -> Option<Box<T>> {
        // Acquire: as in `take`.
        let left = self.0.load(Ordering::Acquire);
        if left.is_null() {
            return None;
        }
        // Relaxed: this store happens before any later use of the slot, by contract.
        self.0.store(std::ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: by contract the pointer is from `Box::<T>::into_raw`, and no other thread takes it.
        Some(unsafe { Box::from_raw(left.cast()) })
    }
}
