//! The slot in which the helpers of a cluster leave their partial results of a loop, each for the next one.

use manycore_platform::{Atomic, Ordering, Platform};
use std::alloc::{Layout, dealloc};
use std::mem::MaybeUninit;

/// Two words: a boxed value or null, and spare memory or null.
///
/// A helper that is done leaves its value here if the slot is empty. Otherwise it takes the value that it
/// finds, joins its own to that, and tries again. So a value is joined by the helper that comes second of
/// two, and the last one leaves the result of all. No helper waits for another, and no code of the user
/// runs while others are kept out.
///
/// # Memory
///
/// If helpers allocated memory and callers freed it, the caller would fetch lines of the helpers' heaps, one
/// after the other. So the caller moves the value out and leaves the memory to a helper of a later loop,
/// which frees it. That loop may have values of another type. The memory therefore says its own layout.
///
/// The slot does not know the type of the values. Within one loop it is always the same.
pub(crate) struct PartialSlot<P: Platform> {
    left: P::AtomicPtr<()>,
    spare: P::AtomicPtr<Blank>,
}

/// What memory without a value begins with.
#[repr(transparent)]
struct Blank {
    layout: Layout,
}

impl<P: Platform> PartialSlot<P> {
    pub(super) fn new() -> Self {
        Self {
            left: P::AtomicPtr::new(std::ptr::null_mut()),
            spare: P::AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// Leaves `mine`, joined by `join` to what others have left.
    ///
    /// Cost: one locked instruction on the line of the cluster's entrance, and two for each value that is
    /// joined.
    ///
    /// # Safety
    ///
    /// All values that were left since the caller of a loop took the last are of type `T`.
    pub(crate) unsafe fn leave<T>(&self, mine: T, join: impl Fn(T, T) -> T) {
        let mut mine = Box::new(mine);
        loop {
            let raw = Box::into_raw(mine);
            let none = std::ptr::null_mut();
            // Release pairs with the acquires in `take` and `take_last`. There is no look before it: that
            // would fetch the line once more.
            let left = (self.left).compare_exchange(
                none,
                raw.cast(),
                Ordering::Release,
                Ordering::Relaxed,
            );
            if left.is_ok() {
                return;
            }
            // SAFETY: from `into_raw` above, and no other thread has seen it.
            mine = unsafe { Box::from_raw(raw) };
            // SAFETY: by contract.
            if let Some(other) = unsafe { self.take::<T>() } {
                // The memory that this thread has allocated goes back to where it came from.
                let (value, place) = moved_out(other);
                mine = Box::write(place, join(value, *mine));
                // Now, since this thread has the line.
                self.free_spare();
            }
        }
    }

    /// Frees the spare memory, if there is any.
    fn free_spare(&self) {
        // Relaxed: a hint. Looking first spares most helpers the exchange.
        if self.spare.load(Ordering::Relaxed).is_null() {
            return;
        }
        // Acquire pairs with the release in `give_back`.
        let blank = self.spare.swap(std::ptr::null_mut(), Ordering::Acquire);
        if !blank.is_null() {
            // SAFETY: the exchange gives it to one thread.
            unsafe { free(blank) };
        }
    }

    /// Takes what was left.
    ///
    /// # Safety
    ///
    /// As for [`leave`](Self::leave).
    unsafe fn take<T>(&self) -> Option<Box<T>> {
        // Acquire pairs with the release in `leave`: the value is seen as it was left.
        let left = self.left.swap(std::ptr::null_mut(), Ordering::Acquire);
        // SAFETY: by contract from `Box::<T>::into_raw`, and the exchange gives it to one thread.
        (!left.is_null()).then(|| unsafe { Box::from_raw(left.cast()) })
    }

    /// The caller of a loop takes what all have left.
    ///
    /// Cost: the line came when its gate was seen empty. Loads and plain stores do not wait for it once
    /// more, as an exchange would.
    ///
    /// # Safety
    ///
    /// As for [`leave`](Self::leave). All calls of that happen before this one, or after it.
    pub(crate) unsafe fn take_last<T>(&self) -> Option<T> {
        // Acquire: as in `take`.
        let left = self.left.load(Ordering::Acquire);
        if left.is_null() {
            return None;
        }
        // Relaxed: a helper that uses the slot next comes after this thread.
        self.left.store(std::ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: by contract from `Box::<T>::into_raw`, and no other thread takes it.
        let (value, place) = moved_out(unsafe { Box::from_raw(left.cast::<T>()) });
        self.give_back(place);
        Some(value)
    }

    /// The caller of a loop leaves memory to a helper of a later one.
    fn give_back<T>(&self, place: Box<MaybeUninit<T>>) {
        const {
            assert!(size_of::<T>() >= size_of::<Blank>() && align_of::<T>() >= align_of::<Blank>());
        }
        if !self.spare.load(Ordering::Relaxed).is_null() {
            // No helper has freed it: this memory is freed here.
            return;
        }
        let blank = Box::into_raw(place).cast::<Blank>();
        let layout = Layout::new::<T>();
        // SAFETY: the memory is large enough, as is asserted above, and nobody else has it.
        unsafe { blank.write(Blank { layout }) };
        // Release pairs with the acquire in `free_spare`.
        self.spare.store(blank, Ordering::Release);
    }
}

impl<P: Platform> Drop for PartialSlot<P> {
    fn drop(&mut self) {
        // Acquire: as in `free_spare`. Callers take all values.
        let blank = self.spare.load(Ordering::Acquire);
        if !blank.is_null() {
            // SAFETY: nobody else has the slot.
            unsafe { free(blank) };
        }
    }
}

/// # Safety
///
/// It is memory of a box, of the layout that it says, and the caller owns it.
unsafe fn free(blank: *mut Blank) {
    // SAFETY: by contract.
    unsafe { dealloc(blank.cast(), (*blank).layout) };
}

/// The value of a box, and its memory.
fn moved_out<T>(value: Box<T>) -> (T, Box<MaybeUninit<T>>) {
    let raw = Box::into_raw(value);
    // SAFETY: from a box, whose memory has no value after this.
    unsafe { (raw.read(), Box::from_raw(raw.cast())) }
}
