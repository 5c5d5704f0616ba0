//! A value on cache lines of its own.

use std::ops::{Deref, DerefMut};

/// A value that shares no cache line with another value, so that writes to other values do not slow its users down.
///
/// The padding is as large as the memory that one core's access takes from the other cores. x86-64 prefetches lines of
/// 64 bytes in pairs (Intel's optimization manual, "spatial prefetcher"). Some 64-bit Arm and POWER processors have
/// lines of 128 bytes, and IBM's Z has lines of 256 bytes.
///
/// ```
/// use manycore_platform::CachePadded;
///
/// let mut count = CachePadded::new(1_u8);
/// *count += 1;
/// assert!(align_of_val(&count) >= 64);
/// assert_eq!(count.into_inner(), 2);
/// ```
#[derive(Clone, Copy, Debug, Default, Hash, PartialEq, Eq)]
#[cfg_attr(target_arch = "s390x", repr(align(256)))]
#[cfg_attr(
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "arm64ec",
        target_arch = "powerpc64",
    ),
    repr(align(128))
)]
#[cfg_attr(
    not(any(
        target_arch = "s390x",
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "arm64ec",
        target_arch = "powerpc64",
    )),
    repr(align(64))
)]
pub struct CachePadded<T>(T);

impl<T> CachePadded<T> {
    /// Pads `value`.
    #[inline]
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the value without its padding.
    #[inline]
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for CachePadded<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for CachePadded<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> From<T> for CachePadded<T> {
    #[inline]
    fn from(value: T) -> Self {
        Self(value)
    }
}
