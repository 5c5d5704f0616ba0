//! The process's limits on resources.

use super::small_file;
use std::ptr;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Relaxed;

#[cfg(target_env = "gnu")]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(target_env = "gnu"))]
type Resource = std::ffi::c_int;

/// A thread is not started if less memory than this would be left for the threads' other needs.
const SPARE: usize = 8 << 20;
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

/// Whether a limit on memory leaves room for such a stack and some more. Otherwise the threads of a team might take all
/// memory, and the next allocation would end the program.
pub(crate) fn has_room(stack: Option<usize>) -> bool {
    if !is_memory_limited() {
        return true;
    }
    let size = stack.unwrap_or(USUAL).saturating_add(SPARE);
    // If all reserved memory counts, the kernel ignores `MAP_NORESERVE`.
    // SAFETY: the memory is new, and nothing else uses it before it is unmapped.
    unsafe {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let memory = libc::mmap(ptr::null_mut(), size, protection, flags, -1, 0);
        memory != libc::MAP_FAILED && libc::munmap(memory, size) == 0
    }
}
