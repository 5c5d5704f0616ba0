//! Going from one thread's stack and thread-locals to another's.
//!
//! Both belong to a POSIX thread, on any kernel thread. The stack pointer is exchanged, and with it
//! the *thread pointer*, the register by which the C library finds a thread's own data. Each
//! processor has a file with these functions.

#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
#[cfg_attr(target_arch = "riscv64", path = "riscv64.rs")]
mod processor;

/// `thread_pointer` is the calling thread's; `is_possible` says whether a program may write it without
/// the kernel.
///
/// After `set_thread_pointer` the code that goes on has that thread's thread-locals: the caller promises that the pointer is a
/// thread's, that nothing remembers the address of a thread-local across the call, and that no two kernel threads
/// use the thread at once.
///
/// `flags` are the x87 unit's, which floating-point exceptions leave behind. [`enter`] writes them only where they differ.
///
/// `has_keys` says whether `keys` and `set_keys`, which read and write the register of memory protection keys, may be
/// called. The caller of `set_keys` promises that the keys allow what this thread touches next.
pub(super) use processor::{
    flags, has_keys, is_possible, keys, set_keys, set_thread_pointer, thread_pointer,
};

/// For processors without these registers.
#[cfg(not(target_arch = "x86_64"))]
mod others {
    pub(in super::super) fn flags() -> u32 {
        0
    }

    pub(in super::super) fn has_keys() -> bool {
        false
    }

    pub(in super::super) unsafe fn keys() -> u32 {
        0
    }

    pub(in super::super) unsafe fn set_keys(_keys: u32) {}
}

/// Goes from a worker to a rank: saves what a call preserves on the worker's stack, and restores it from the rank's.
/// Returns the [`flags`] that the rank leaves behind.
///
/// # Safety
///
/// `to` was saved by [`leave`] or [`detach`], and this is that thread's pointer. `to` is not gone to twice; `save`
/// is written before another worker may go back. `flags` are there now.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn enter(
    save: *mut usize,
    to: usize,
    thread_pointer: usize,
    flags: u32,
) -> u32 {
    processor::enter!()
}

/// Goes from a rank to its worker.
///
/// # Safety
///
/// `to` was saved by [`enter`] or [`detach`], with the worker's thread pointer, and is not gone to twice; `save` is written before another worker may go back.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn leave(save: *mut usize, to: usize, thread_pointer: usize) {
    processor::leave!()
}

/// Leaves the calling thread's stack and thread-locals to others: saves where it is, as
/// [`leave`] does, writes `value` to `word`, and sleeps on a stack of its own, without the C library. Whenever
/// the word at `home` is not 0, it calls `serve` with that address. Returns
/// when another kernel thread goes there.
///
/// # Safety
///
/// `stack` is the end of some bytes that no other thread uses, all signals are blocked, and the
/// target stays while any thread may go there. `home` is the calling thread's, and `serve` an
/// `extern "C"` function for it.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn detach(
    save: *mut usize,
    stack: *mut u8,
    word: *const u32,
    value: u32,
    home: *const u32,
    serve: *const (),
) {
    processor::detach!()
}
