//! The system's reports about this process. Some systems report nothing.

use crate::native;
use std::time::Duration;

/// The system's numbers of the CPUs that the calling thread, and threads that it makes, may run on. `None` if the
/// system does not report them.
///
/// This makes one system call.
///
/// ```
/// if let Some(cpus) = manycore_platform::process::allowed_cpus() {
///     assert!(!cpus.is_empty() && cpus.is_sorted());
/// }
/// ```
#[must_use]
pub fn allowed_cpus() -> Option<Vec<usize>> {
    native::allowed_cpus()
}

/// Registers `last` to be called when the program returns from `main` or calls [`exit`](std::process::exit). Does
/// nothing if the system has no list of such functions, or if the list is full.
///
/// ```
/// extern "C" fn goodbye() {
///     eprintln!("that was all");
/// }
/// manycore_platform::process::at_exit(goodbye);
/// ```
pub fn at_exit(last: extern "C" fn()) {
    #[cfg(unix)]
    // SAFETY: `last` is a function of this program, which is not unloaded before its end.
    unsafe {
        libc::atexit(last);
    }
    #[cfg(not(unix))]
    let _ = last;
}

/// The CPU time that all threads of this process have used so far. `None` on systems other than Linux.
///
/// ```
/// let before = manycore_platform::process::cpu_time();
/// assert!(manycore_platform::process::cpu_time() >= before);
/// ```
#[must_use]
pub fn cpu_time() -> Option<Duration> {
    native::cpu_time()
}
