//! Without a way to fence other threads, both the light and the heavy fence are full fences.

use std::sync::atomic::{Ordering, fence};

#[inline(always)]
pub(in crate::native) fn light() {
    fence(Ordering::SeqCst);
}

pub(in crate::native) fn are_light() -> bool {
    false
}

pub(in crate::native) fn heavy() {
    fence(Ordering::SeqCst);
}
