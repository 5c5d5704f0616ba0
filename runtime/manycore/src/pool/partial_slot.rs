//! The slot in which the helpers of a cluster leave their partial results of a loop, each for the next one.

use manycore_platform::{Atomic, Ordering, Platform};

/// One word: a boxed value, or null.
///
/// A helper that is done leaves its value here if the slot is empty. Otherwise it takes the value that it
/// finds, joins its own to that, and tries again. So a value is joined by the helper that comes second of
/// two, and the last one leaves the result of all. No helper waits for another, and no code of the user
/// runs while others are kept out.
///
/// The slot does not know the type of the values. Within one loop it is always the same.
pub(crate) struct PartialSlot<P: Platform>(P::AtomicPtr<()>);

impl<P: Platform> PartialSlot<P> {
    pub(crate) fn new() -> Self {
        Self(P::AtomicPtr::new(std::ptr::null_mut()))
    }

    /// Leaves `mine`, joined by `join` to what others have left.
    ///
    /// Cost: one locked instruction on the line of the cluster's entrance, and two for each value that is
    /// joined.
    ///
    /// # Safety
    ///
    /// All values that were left since the slot was last empty are of type `T`.
    pub(crate) unsafe fn leave<T>(
        &self,
        mut mine: Box<T>,
        join: impl Fn(Box<T>, Box<T>) -> Option<Box<T>>,
    ) {
        loop {
            let raw = Box::into_raw(mine);
            let none = std::ptr::null_mut();
            // Release pairs with the acquire in `take`. There is no look before it: that would fetch the
            // line once more.
            let left =
                (self.0).compare_exchange(none, raw.cast(), Ordering::Release, Ordering::Relaxed);
            if left.is_ok() {
                return;
            }
            // SAFETY: from `into_raw` above, and no other thread has seen it.
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

    /// Takes what was left.
    ///
    /// # Safety
    ///
    /// As for [`leave`](Self::leave).
    unsafe fn take<T>(&self) -> Option<Box<T>> {
        // Acquire pairs with the release in `leave`: the value is seen as it was left.
        let left = self.0.swap(std::ptr::null_mut(), Ordering::Acquire);
        // SAFETY: by contract from `Box::<T>::into_raw`, and the exchange gives it to one thread.
        (!left.is_null()).then(|| unsafe { Box::from_raw(left.cast()) })
    }

    /// The caller of a loop takes what all have left.
    ///
    /// Cost: the line came when its gate was seen empty. A load and a plain store do not wait for it once
    /// more, as an exchange would.
    ///
    /// # Safety
    ///
    /// As for [`leave`](Self::leave). Each call of that happens before this one, or after it.
    pub(crate) unsafe fn take_last<T>(&self) -> Option<Box<T>> {
        // Acquire: as in `take`.
        let left = self.0.load(Ordering::Acquire);
        if left.is_null() {
            return None;
        }
        // Relaxed: a helper that uses the slot next comes after this thread.
        self.0.store(std::ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: by contract from `Box::<T>::into_raw`, and no other thread takes it.
        Some(unsafe { Box::from_raw(left.cast()) })
    }
}
