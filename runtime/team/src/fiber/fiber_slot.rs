//! A fiber's own value of the platform's slot.

use manycore_platform::Platform;

/// Reads the platform's slot, like [`Platform::slot`]. Code that may suspend between two reads must
/// use this function.
///
/// It is not inlined, so each call computes the address of the slot on the thread that makes the
/// call. It costs one call more than `P::slot`, about a nanosecond.
///
/// ```
/// use manycore_platform::Native;
/// use manycore_team::fiber::slot;
///
/// // Outside of pools and fibers nothing is in it.
/// assert!(slot::<Native>().is_null());
/// ```
#[inline(never)]
pub fn slot<P: Platform>() -> *const () {
    P::slot()
}

/// Stores `new` in the slot and returns the old value.
///
/// It is not inlined for the same reason: a fiber may itself resume a fiber, and be on another
/// thread when `resume` returns.
#[inline(never)]
pub(super) fn exchange<P: Platform>(new: *const ()) -> *const () {
    let old = P::slot();
    // SAFETY: `new` is null at first. Later it is the value that the runtime's code had stored
    // there when the fiber or its resumer was suspended, and this restores it before that code
    // continues.
    unsafe { P::set_slot(new) };
    old
}
