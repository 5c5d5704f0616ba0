//! The process's limits on resources.

use std::ptr;

#[cfg(target_env = "gnu")]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(target_env = "gnu"))]
type Resource = std::ffi::c_int;

/// A thread is not started if less memory than this would be left for the threads' other needs.
const SPARE: usize = 8 << 20;
/// The size of a stack, if no limit determines it.
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
    [libc::RLIMIT_AS, libc::RLIMIT_DATA]
        .into_iter()
        .any(|it| limit(it).is_some())
}

/// Whether a limit on memory leaves room for such a stack and some more. Without that, the threads of a team might take
/// all memory, and the next allocation would end the program.
pub(crate) fn has_room(stack: Option<usize>) -> bool {
    let size = stack.unwrap_or(USUAL).saturating_add(SPARE);
    if !is_memory_limited() {
        return true;
    }
    // SAFETY: the memory is new, and nothing else uses it before it is unmapped.
    unsafe {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let memory = libc::mmap(ptr::null_mut(), size, protection, flags, -1, 0);
        memory != libc::MAP_FAILED && libc::munmap(memory, size) == 0
    }
}
