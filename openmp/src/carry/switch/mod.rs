//! Changes from the stack and thread-locals of one thread to those of another.
//!
//! Stack and thread-locals belong to a POSIX thread, whichever kernel thread executes it. A switch exchanges the stack
//! pointer and the *thread pointer*, the register by which the C library finds a thread's own data. Each processor
//! architecture has a file with the functions for a switch.

#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
#[cfg_attr(target_arch = "riscv64", path = "riscv64.rs")]
mod processor;

/// `thread_pointer` returns the calling thread's pointer. `is_possible` returns whether a program may write the thread
/// pointer without the kernel.
///
/// The code after a call of `set_thread_pointer` has the thread-locals of the thread with the new pointer. The caller
/// promises that the pointer belongs to a thread, that no code keeps the address of a thread-local across the call, and
/// that no two kernel threads use that thread at once.
///
/// `flags` returns the flags of the x87 unit, which floating-point exceptions set. [`enter`] writes these flags only if
/// they differ from the flags of the thread to which it switches.
///
/// `keys` and `set_keys` read and write the register of memory protection keys, if `has_keys` returns `true`. The
/// caller of `set_keys` promises that the keys allow the next accesses of this thread.
///
/// A kernel thread calls `use_vectors` before it executes ranks, since it may restore frames that another kernel thread
/// has made.
pub(super) use processor::{
    flags, has_keys, is_possible, keys, set_keys, set_thread_pointer, thread_pointer, use_vectors,
};

/// On these processors a kernel thread restores the vector registers of every frame.
#[cfg(not(target_arch = "riscv64"))]
mod always {
    pub(in super::super) fn use_vectors() {}
}

/// These functions are for processors without x87 flags and without protection keys.
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

/// Switches from a worker (a kernel thread) to a rank (a thread that workers execute). Saves on the worker's stack the
/// registers that a call preserves, and restores the rank's registers from the rank's stack. Returns the rank's
/// [`flags`] when the rank has left.
///
/// # Safety
///
/// [`leave`] or [`detach`] has saved the rank's stack pointer `to`, and `thread_pointer` belongs to the rank. `to` is
/// used once. `save`, the worker's stack pointer, is written before another worker may switch to it. `flags` are the
/// present flags.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn enter(
    save: *mut usize,
    to: usize,
    thread_pointer: usize,
    flags: u32,
) -> u32 {
    processor::enter!()
}

/// Switches from a rank to its worker.
///
/// # Safety
///
/// [`enter`] or [`detach`] has saved the worker's stack pointer `to`, and `thread_pointer` belongs to the worker. `to`
/// is used once. `save`, the rank's stack pointer, is written before another worker may switch to it.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn leave(save: *mut usize, to: usize, thread_pointer: usize) {
    processor::leave!()
}

/// Leaves the stack and thread-locals of the calling thread to other kernel threads. Saves registers as [`leave`] does,
/// writes `value` to `word`, and sleeps on `stack`, without the C library. Whenever the word at `home` is not 0, the
/// sleeping kernel thread calls `serve` with that address. Returns when another kernel thread switches to the saved
/// state.
///
/// # Safety
///
/// `stack` is the end of memory that no other thread uses, and all signals are blocked. `save` and `word` stay valid
/// while any thread may switch to the saved state. `home` belongs to the calling thread, and `serve` is an `extern "C"`
/// function that takes it.
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
