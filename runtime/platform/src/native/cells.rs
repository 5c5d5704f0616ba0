//! `std::sync::atomic` as an implementation of the seam's traits. Every method is the inlined method of the standard
//! library.

use super::system;
use crate::atomic::{Futex, impl_atomic, impl_atomic_integer};
use std::sync::atomic;
use std::time::Duration;

impl_atomic_integer!(atomic::AtomicU32, u32, atomic::AtomicU32::new);
impl_atomic_integer!(atomic::AtomicU64, u64, atomic::AtomicU64::new);
impl_atomic_integer!(atomic::AtomicUsize, usize, atomic::AtomicUsize::new);
impl_atomic!(atomic::AtomicBool, bool, atomic::AtomicBool::new);
impl_atomic!(atomic::AtomicPtr<T>, *mut T, atomic::AtomicPtr::new; T);

impl Futex for atomic::AtomicU32 {
    fn wait(&self, expected: u32, timeout: Option<Duration>) {
        system::wait(self, expected, timeout);
    }

    fn wake(&self, count: u32) -> usize {
        system::wake(self, count)
    }
}
