//! The platform's slot, as a fiber has it.

use manycore_platform::Platform;

/// What is in the platform's slot: [`Platform::slot`], for code that may suspend between
/// one look and the next.
///
/// It is not inlined, so that the address of the slot is computed at each call, on the
/// thread that makes it. A call more than `P::slot`, about a nanosecond.
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

/// Puts `new` into the slot, and returns what was there.
///
/// Not inlined, for the same reason: a fiber may itself resume a fiber, and be on another
/// thread when it has that back.
#[inline(never)]
pub(super) fn exchange<P: Platform>(new: *const ()) -> *const () {
    let old = P::slot();
    // SAFETY: null at first, and later what code of the runtime left there when the fiber, or
    // its resumer, was put aside: it is put back before that code goes on.
    unsafe { P::set_slot(new) };
    old
}
