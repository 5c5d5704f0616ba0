//! WebAssembly without threads: there is no other thread to wait for or to wake.

pub(super) use super::portable::{
    are_light, begin_on, bind, core, heavy, is_blocked, leave_core, light, preemptions,
    sharpen_timer, thread_number, wake_elsewhere,
};

pub(crate) use super::portable::{allowed_cpus, cpu_time};

use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Returns spuriously, which the contract allows. There is no thread that could wake this one, and the standard
/// library's condition variables panic instead of sleeping.
pub(super) fn wait(_word: &AtomicU32, _expected: u32, _timeout: Option<Duration>) {}

pub(super) fn wake(_word: &AtomicU32, _count: u32) -> usize {
    0
}
