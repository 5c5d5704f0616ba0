//! Linux: the kernel's futex, private to the process.

use crate::Futex;
use rustix::thread::futex::{self, Flags, Timespec};
use std::sync::atomic::AtomicU32;
use std::time::Duration;

impl Futex for AtomicU32 {
    fn wait(&self, expected: u32, timeout: Option<Duration>) {
        let timeout = timeout.map(|t| Timespec {
            tv_sec: t.as_secs().min(i64::MAX as u64) as i64,
            tv_nsec: t.subsec_nanos().into(),
        });
        // Every error (the word has changed, a signal, the time is up) means
        // what a spurious wake-up means: the caller looks again.
        let _ = futex::wait(self, Flags::PRIVATE, expected, timeout.as_ref());
    }

    fn wake(&self, count: u32) -> usize {
        futex::wake(self, Flags::PRIVATE, count.min(i32::MAX as u32)).unwrap_or(0)
    }
}
