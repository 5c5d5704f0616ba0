//! `std::sync::atomic` behind the seam's traits. Every method is the standard
//! one, inlined.

use super::system;
use crate::{Atomic, AtomicInteger, Futex, Ordering};
use std::sync::atomic;
use std::time::Duration;

macro_rules! impl_atomic {
    ($atomic:ty, $value:ty $(, $generic:ident)?) => {
        impl$(<$generic>)? Atomic<$value> for $atomic {
            #[inline(always)]
            fn new(value: $value) -> Self {
                <$atomic>::new(value)
            }

            #[inline(always)]
            fn load(&self, order: Ordering) -> $value {
                <$atomic>::load(self, order)
            }

            #[inline(always)]
            fn store(&self, value: $value, order: Ordering) {
                <$atomic>::store(self, value, order);
            }

            #[inline(always)]
            fn swap(&self, value: $value, order: Ordering) -> $value {
                <$atomic>::swap(self, value, order)
            }

            #[inline(always)]
            fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                <$atomic>::compare_exchange(self, current, new, success, failure)
            }
        }
    };
}

macro_rules! impl_integer {
    ($atomic:ty, $value:ty) => {
        impl_atomic!($atomic, $value);

        impl AtomicInteger<$value> for $atomic {
            #[inline(always)]
            fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                <$atomic>::fetch_add(self, value, order)
            }

            #[inline(always)]
            fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                <$atomic>::fetch_sub(self, value, order)
            }

            #[inline(always)]
            fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                <$atomic>::fetch_and(self, value, order)
            }

            #[inline(always)]
            fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                <$atomic>::fetch_or(self, value, order)
            }
        }
    };
}

impl_integer!(atomic::AtomicU32, u32);
impl_integer!(atomic::AtomicU64, u64);
impl_integer!(atomic::AtomicUsize, usize);
impl_atomic!(atomic::AtomicBool, bool);
impl_atomic!(atomic::AtomicPtr<T>, *mut T, T);

impl Futex for atomic::AtomicU32 {
    fn wait(&self, expected: u32, timeout: Option<Duration>) {
        system::wait(self, expected, timeout);
    }

    fn wake(&self, count: u32) -> usize {
        system::wake(self, count)
    }
}
