//! Threads that stay where the system puts them.

use std::io;

pub(in crate::native) fn bind(_cpus: &[usize]) -> io::Result<()> {
    let what = "threads cannot be bound to CPUs on this system";
    Err(io::Error::new(io::ErrorKind::Unsupported, what))
}

pub(in crate::native) fn core() -> usize {
    0
}

pub(in crate::native) fn begin_on(_cpus: &[usize]) {}

pub(in crate::native) fn leave_core(_core: usize) {}

pub(in crate::native) fn wake_elsewhere(
    _thread: u64,
    _is_taken: &dyn Fn(usize) -> bool,
    wake: &mut dyn FnMut(),
) {
    wake();
}

pub(in crate::native) fn preemptions() -> u64 {
    0
}

pub(in crate::native) fn thread_number() -> u64 {
    0
}

pub(in crate::native) fn is_blocked(_thread: u64) -> bool {
    false
}

pub(in crate::native) fn sharpen_timer() {}
