//! The process's limits on resources.

use super::small_file;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Relaxed;

#[cfg(target_env = "gnu")]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(target_env = "gnu"))]
type Resource = std::ffi::c_int;

/// A thread is not started if less memory than this would be left for the threads' other needs.
const SPARE: usize = 8 << 20;
/// If the kernel counts all reserved memory, it does not give all of it away. By default it keeps back 8 MiB, and up to
/// 128 MiB more from a large process.
const KEPT: u64 = 136 << 20;
/// If no limit determines the size of a thread's stack, the C library makes a stack of at most this size.
pub(crate) const USUAL: usize = 8 << 20;

/// The limit on this resource, if there is one.
pub(crate) fn limit(resource: Resource) -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the call writes `limit`.
    let known = unsafe { libc::getrlimit(resource, &raw mut limit) } == 0;
    (known && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Whether there is a limit on the memory that the process may reserve.
pub(crate) fn is_memory_limited() -> bool {
    let mut resources = [libc::RLIMIT_AS, libc::RLIMIT_DATA].into_iter();
    resources.any(|it| limit(it).is_some()) || is_strict()
}

/// Whether the kernel counts all memory that processes have reserved (`vm.overcommit_memory` is 2). Only the first call
/// reads the file: this rarely changes.
fn is_strict() -> bool {
    const KNOWN: u8 = 1;
    const STRICT: u8 = 2;
    static STATE: AtomicU8 = AtomicU8::new(0);
    // Relaxed: the state publishes nothing else. Threads that call this at once store the same.
    let mut state = STATE.load(Relaxed);
    if state == 0 {
        let mut text = [0; 1];
        let is_strict = small_file::read(c"/proc/sys/vm/overcommit_memory", &mut text) == b"2";
        state = if is_strict { KNOWN | STRICT } else { KNOWN };
        STATE.store(state, Relaxed);
    }
    state & STRICT != 0
}

/// Whether the limits on memory leave room for such a stack and some more. Otherwise the threads of a team might take
/// all memory, and the next allocation would end the program. A trial would take the memory from the other threads for
/// a moment, so this only reads numbers.
pub(crate) fn has_room(stack: Option<usize>) -> bool {
    let size = stack.unwrap_or(USUAL).saturating_add(SPARE) as u64;
    free_of_process(libc::RLIMIT_AS, 0).is_none_or(|free| free >= size)
        && free_of_process(libc::RLIMIT_DATA, 5).is_none_or(|free| free >= size)
        && (!is_strict() || free_of_system().is_none_or(|free| free >= size))
}

/// The bytes that this limit leaves to the process, if there is a limit. `column` of `/proc/self/statm` has the pages
/// that count. With `RLIMIT_DATA` that number has the stack of the first thread too, which the kernel does not count.
fn free_of_process(resource: Resource, column: usize) -> Option<u64> {
    let most = limit(resource)?;
    let mut text = [0; 256];
    let text = str::from_utf8(small_file::read(c"/proc/self/statm", &mut text)).ok()?;
    let pages: u64 = text.split_ascii_whitespace().nth(column)?.parse().ok()?;
    // SAFETY: the call reads a number of the system.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
    Some(most.saturating_sub(pages.saturating_mul(page)))
}

/// The bytes that all processes may still reserve, if the kernel counts them.
fn free_of_system() -> Option<u64> {
    let mut text = [0; 4096];
    let text = str::from_utf8(small_file::read(c"/proc/meminfo", &mut text)).ok()?;
    Some(not_committed(text)?.saturating_sub(KEPT))
}

/// The bytes that are not reserved, from the text of `/proc/meminfo`.
fn not_committed(text: &str) -> Option<u64> {
    let bytes = |name| {
        let (_, rest) = text.split_once(name)?;
        let kib: u64 = rest.split_ascii_whitespace().next()?.parse().ok()?;
        kib.checked_mul(1024)
    };
    Some(bytes("CommitLimit:")?.saturating_sub(bytes("Committed_AS:")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_committed() {
        let text = "Mapped: 5 kB\nCommitLimit:     2000 kB\nCommitted_AS:    1500 kB\nVmallocTotal: 7 kB\n";
        assert_eq!(not_committed(text), Some(500 << 10));
        assert_eq!(not_committed("CommitLimit: 5 kB\n"), None);
    }
}
