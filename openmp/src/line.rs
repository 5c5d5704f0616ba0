//! Words that have cache lines of their own.

use std::ops::Deref;

/// A value in lines that nothing else is in: two of them, since processors fetch them in pairs.
#[repr(align(128))]
pub(crate) struct Line<T>(pub(crate) T);

impl<T> Deref for Line<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}
