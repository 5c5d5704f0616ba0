//! Without a way to fence other threads both halves are real fences.

use std::sync::atomic::{Ordering, fence};

#[inline(always)]
pub(super) fn light() {
    fence(Ordering::SeqCst);
}

pub(super) fn are_light() -> bool {
    false
}

pub(super) fn heavy() {
    fence(Ordering::SeqCst);
}
