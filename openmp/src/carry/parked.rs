//! Kernel threads that sleep because their POSIX thread is a rank (a thread of a team that workers execute). The rank
//! runs on its own kernel thread only if no worker can execute it ([`home`](super::home)).
//!
//! Such a kernel thread has a stack of its own, for signal handlers. It has all signals blocked, except two signals of
//! the C library that cannot be blocked. One is for `pthread_cancel`. The other is for `setuid` and similar functions,
//! which change every kernel thread of the process. The frame of a handler holds all registers of the processor:
//! `AT_MINSIGSTKSZ` is its size.
//!
//! The kernel writes the CPU of a kernel thread into an area of its POSIX thread (`rseq`). `sched_getcpu` and some
//! allocators read the CPU there. But a rank runs on other kernel threads, to which the area does not belong. So this
//! module unregisters the area. The kernel then marks the area as one without a CPU, and readers of the area ask the
//! kernel instead.

use super::home::Home;
use super::ownership::WAITING;
use super::{home, switch};
use crate::system::masks::{block_all, errno, set_errno};
use std::ffi::c_void;
use std::io;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicPtr, AtomicU32};

/// The stack for the handlers themselves, in addition to their frames. A signal handler of the program may also run
/// here, just before or just after the kernel thread executes the rank.
const HANDLERS: usize = super::home::STACK;

/// Puts the kernel thread of the calling thread to sleep, as its `home`. `word` becomes `WAITING` when other kernel
/// threads may continue on the calling thread's stack.
pub(super) fn part(
    stack: SecondStack,
    save: *mut usize,
    word: &'static AtomicU32,
    home: &'static Home,
) {
    has_no_cpu();
    let end = stack.end();
    // The kernel thread uses the stack until the process ends.
    std::mem::forget(stack);
    block_all();
    // SAFETY: this kernel thread alone uses the stack, for ever. The stack has room for the handlers of the signals
    // that cannot be blocked.
    unsafe {
        let (home, serve) = (home.word(), home::serve as *const ());
        switch::detach(save, end, word.as_ptr(), WAITING, home, serve);
    };
}

/// The stack of a kernel thread that sleeps, with a guard page below it.
pub(crate) struct SecondStack {
    memory: *mut c_void,
    size: usize,
}

// SAFETY: the memory belongs to no thread.
unsafe impl Send for SecondStack {}

impl SecondStack {
    /// Maps a stack. The thread that starts a rank does so before it starts the rank, so that the memory is in use when
    /// it looks whether there is room for the next rank.
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: the calls only read numbers of the system.
        let (page, least) = unsafe {
            (
                libc::sysconf(libc::_SC_PAGESIZE) as usize,
                libc::getauxval(libc::AT_MINSIGSTKSZ) as usize,
            )
        };
        // There are two frames, since the two signals may interrupt each other. A kernel that does not report the size
        // of a frame has small frames.
        let frames = 2 * least.max(libc::MINSIGSTKSZ);
        let size = page + (frames + HANDLERS).next_multiple_of(page);
        // SAFETY: the memory is new.
        let memory = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK,
                -1,
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let stack = Self { memory, size };
        // SAFETY: the first page of the memory becomes the guard.
        match unsafe { libc::mprotect(memory, page, libc::PROT_NONE) } {
            0 => Ok(stack),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// As [`new`](Self::new), but ends the process if there is no memory.
    pub(super) fn expect() -> Self {
        Self::new().unwrap_or_else(|error| {
            crate::system::report::fatal(format_args!("no stack for a thread that sleeps: {error}"))
        })
    }

    fn end(&self) -> *mut u8 {
        self.memory.cast::<u8>().wrapping_add(self.size)
    }
}

impl Drop for SecondStack {
    fn drop(&mut self) {
        // SAFETY: no kernel thread has used the memory.
        unsafe { libc::munmap(self.memory, self.size) };
    }
}

/// The address of the C library's word with the offset of the `rseq` areas, or null if there are no areas. Relaxed: the
/// address is written when this library is loaded.
static OFFSET: AtomicPtr<isize> = AtomicPtr::new(ptr::null_mut());

/// Asks the loader for [`OFFSET`]. A rank must not ask: the leader may hold the loader's lock, and wait for the rank.
pub(super) fn find() {
    // SAFETY: the name ends with a zero.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr()) };
    OFFSET.store(found.cast(), Relaxed);
}

/// The sizes that an `rseq` area may be registered with, if the kernel's version of the area has this size and
/// alignment. The first version had 32 bytes, and the kernel refuses less. glibc registers the size of the kernel's
/// version, which need not be a multiple of the alignment. Other registrars round it up.
fn sizes(kernels: usize, align: usize) -> [usize; 3] {
    const FIRST: usize = 32;
    let size = kernels.max(FIRST);
    [FIRST, size, size.next_multiple_of(align.max(1))]
}

/// From this call on, the `rseq` area of the calling thread has no CPU.
pub(super) fn has_no_cpu() {
    const UNREGISTER: usize = 1;
    // The signature with which the C library registers the area. On Arm and RISC-V the signature is an instruction that
    // traps, and on all other supported processors the same number.
    #[cfg(target_arch = "x86_64")]
    const SIGNATURE: usize = 0x5305_3053;
    #[cfg(target_arch = "aarch64")]
    const SIGNATURE: usize = 0xd428_bc00;
    #[cfg(target_arch = "riscv64")]
    const SIGNATURE: usize = 0xf140_1073;
    const AT_RSEQ_FEATURE_SIZE: u64 = 27;
    const AT_RSEQ_ALIGN: u64 = 28;
    // SAFETY: null, or the address of the C library's constant: the distance of the areas from the thread pointer.
    let Some(&offset) = (unsafe { OFFSET.load(Relaxed).as_ref() }) else {
        return;
    };
    // SAFETY: the calls only read numbers of the system.
    let (size, align) = unsafe {
        (
            libc::getauxval(AT_RSEQ_FEATURE_SIZE) as usize,
            libc::getauxval(AT_RSEQ_ALIGN) as usize,
        )
    };
    let error = errno();
    let area = switch::thread_pointer().wrapping_add_signed(offset);
    for size in sizes(size, align) {
        // SAFETY: the kernel compares address, size and signature with the registered ones, and refuses all others.
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

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn areas_of_all_kernels() {
        // Before Linux 6.3 the kernel does not report the size.
        assert_eq!(sizes(0, 0), [32; 3]);
        assert_eq!(sizes(28, 32), [32; 3]);
        assert_eq!(sizes(33, 64), [32, 33, 64]);
        assert_eq!(sizes(40, 64), [32, 40, 64]);
    }

    #[test]
    fn an_area_without_a_cpu() {
        find();
        // SAFETY: null, or the address of the C library's constant.
        let Some(&offset) = (unsafe { OFFSET.load(Relaxed).as_ref() }) else {
            return; // The C library has no areas.
        };
        let cpu = move || {
            let area = switch::thread_pointer().wrapping_add_signed(offset);
            // SAFETY: the area begins with two words. Both hold the CPU, or the second one holds a negative number. The
            // kernel may write them at any time.
            unsafe { (area as *const i32).add(1).read_volatile() }
        };
        let thread = std::thread::spawn(move || {
            let before = cpu();
            has_no_cpu();
            (before, cpu())
        });
        let (before, after) = thread.join().expect("it does not panic");
        // A simulated kernel may register no areas.
        assert!(before < 0 || after < 0, "{before} {after}");
    }
}
