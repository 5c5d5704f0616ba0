//! Without a way to fence other threads both halves are real fences.

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
