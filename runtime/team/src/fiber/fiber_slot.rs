use manycore_platform::Platform;

/// Reads the platform's slot, like [`Platform::slot`]. Code that may suspend between two reads must
/// use this.
///
/// This function is not inlined, so each call computes the slot's address on the thread of the
/// call. A call takes about a nanosecond longer than `P::slot`.
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
/// This function is not inlined for the same reason: a fiber may itself resume a fiber, and may be
/// on another thread when `resume` returns.
#[inline(never)]
pub(super) fn exchange<P: Platform>(new: *const ()) -> *const () {
    let old = P::slot();
    // SAFETY: `new` is null at first. Later it is the pointer that code of the runtime had stored there when the fiber
    // or its resumer was suspended, and the pointer is stored again before that code continues.
    unsafe { P::set_slot(new) };
    old
}
