//! The kernel's reports about this process.

use super::cpus::CpuSet;
use std::time::Duration;

pub(crate) fn allowed_cpus() -> Option<Vec<usize>> {
    Some(CpuSet::allowed().ok()?.iter().collect())
}

pub(crate) fn cpu_time() -> Option<Duration> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes the time to a variable of this function.
    let got = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    (got == 0).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}
