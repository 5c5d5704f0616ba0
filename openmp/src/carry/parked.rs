//! Kernel threads that sleep since their POSIX thread is a rank; the rank goes on there only where it has no worker
//! ([`home`](super::home)).
//!
//! Such a thread has a stack of its own, for signal handlers: all signals are blocked, but the C library
//! does not let two of its own be blocked. One is for `pthread_cancel`. The other is for `setuid` and its kind, which
//! change every kernel thread of the process. The handler's frame is as large as the processor's
//! registers: `AT_MINSIGSTKSZ` says how large.
//!
//! The kernel writes a kernel thread's CPU into an area of its POSIX thread. `sched_getcpu` and some allocators read it there. A rank is elsewhere than the kernel thread that the area is of. So the area is taken
//! back from the kernel, which then writes that the area has no CPU; and its readers ask the kernel.

use super::home::Home;
use super::ownership::WAITING;
use super::{home, switch};
use crate::system::masks::{block_all, errno, set_errno};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicPtr, AtomicU32};

/// Room beside these frames, for the handlers themselves; and for a handler of the program's that runs here just before
/// or just after the rank is executed at its home.
const HANDLERS: usize = super::home::STACK;

/// Leaves the calling thread's kernel thread asleep, as its `home`; `word` becomes `WAITING` when others may go on
/// with the thread's stack.
pub(super) fn part(save: *mut usize, word: &'static AtomicU32, home: &'static Home) {
    has_no_cpu();
    let end = stack();
    block_all();
    // SAFETY: the stack is this kernel thread's alone, for ever, and has room for the handlers of the signals that
    // cannot be blocked.
    unsafe {
        let (home, serve) = (home.word(), home::serve as *const ());
        switch::detach(save, end, word.as_ptr(), WAITING, home, serve);
    };
}

/// A stack with a guard page below it. Returns its end. It is never freed.
fn stack() -> *mut u8 {
    // SAFETY: numbers that the system has.
    let (page, least) = unsafe {
        (
            libc::sysconf(libc::_SC_PAGESIZE) as usize,
            libc::getauxval(libc::AT_MINSIGSTKSZ) as usize,
        )
    };
    // The two signals may interrupt each other. A kernel that does not say how large a frame is has small ones.
    let frames = 2 * least.max(libc::MINSIGSTKSZ);
    let size = (frames + HANDLERS).next_multiple_of(page);
    // SAFETY: new memory; its first page is made a guard.
    unsafe {
        let memory = libc::mmap(
            ptr::null_mut(),
            page + size,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK,
            -1,
            0,
        );
        if memory == libc::MAP_FAILED || libc::mprotect(memory, page, libc::PROT_NONE) != 0 {
            let error = std::io::Error::last_os_error();
            crate::system::report::fatal(format_args!(
                "no stack for a thread that sleeps: {error}"
            ));
        }
        memory.cast::<u8>().add(page + size)
    }
}

/// The C library's word with the offset of the areas; null: it has none. Relaxed: it is written
/// when the library is loaded.
static OFFSET: AtomicPtr<isize> = AtomicPtr::new(ptr::null_mut());

/// Asks the loader for that. A rank must not: the thread that leads it may have the loader's lock, and wait for the rank.
pub(super) fn find() {
    // SAFETY: a name that ends with a zero.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr()) };
    OFFSET.store(found.cast(), Relaxed);
}

/// The calling thread's area says no CPU from now on.
pub(super) fn has_no_cpu() {
    const UNREGISTER: usize = 1;
    // The C library's signature of the area: the same on all supported processors except Arm and
    // RISC-V. There it is an instruction that traps.
    #[cfg(target_arch = "x86_64")]
    const SIGNATURE: usize = 0x5305_3053;
    #[cfg(target_arch = "aarch64")]
    const SIGNATURE: usize = 0xd428_bc00;
    #[cfg(target_arch = "riscv64")]
    const SIGNATURE: usize = 0xf140_1073;
    /// The size of the area's first version, which is registered unless the kernel has a larger one.
    const FIRST: usize = 32;
    const AT_RSEQ_FEATURE_SIZE: u64 = 27;
    const AT_RSEQ_ALIGN: u64 = 28;
    // SAFETY: null, or the C library's constant: how far the areas are from the thread pointer.
    let Some(&offset) = (unsafe { OFFSET.load(Relaxed).as_ref() }) else {
        return;
    };
    // SAFETY: numbers that the system has.
    let (size, align) = unsafe {
        (
            libc::getauxval(AT_RSEQ_FEATURE_SIZE) as usize,
            libc::getauxval(AT_RSEQ_ALIGN) as usize,
        )
    };
    let extended = size.max(FIRST).next_multiple_of(align.max(1));
    let error = errno();
    let area = switch::thread_pointer().wrapping_add_signed(offset);
    for size in [FIRST, extended] {
        // SAFETY: the kernel compares address, size and signature with what was registered, and refuses others.
        let done = unsafe {
            libc::syscall(
                libc::SYS_rseq,
                area as *mut c_void,
                size,
                UNREGISTER,
                SIGNATURE,
            )
        };
        if done == 0 {
            break;
        }
    }
    set_errno(error);
}
