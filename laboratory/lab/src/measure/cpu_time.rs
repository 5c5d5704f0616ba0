//! The processor time that this process has used.

use std::time::Duration;

/// Returns the CPU time of all threads, including ended ones, to a microsecond. Returns zero if the system does not
/// report it.
#[cfg(unix)]
pub(crate) fn of_process() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    // The time is not negative, since the clock begins with the process.
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
pub(crate) fn of_process() -> Duration {
    Duration::ZERO
}

#[cfg(all(test, unix))]
mod tests {
    #[test]
    fn work_takes_processor_time() {
        let before = super::of_process();
        // The loop ends only if work takes processor time.
        while super::of_process() <= before {}
    }
}
