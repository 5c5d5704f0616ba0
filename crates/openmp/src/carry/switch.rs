//! Going from one thread's stack and thread-locals to another's.
//!
//! Both belong to a POSIX thread, whichever kernel thread executes: the stack pointer is exchanged, and
//! with it the register FS, where the C library finds what is a thread's own.

use std::arch::naked_asm;

/// A frame of [`switch`] is on the stack that is left, and one on the stack that is gone to.
///
/// # Safety
///
/// `to` was saved by this function or [`detach`], with the thread whose FS base is `fs`, and is not
/// gone to twice; `save` is written before anybody may go back.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn switch(save: *mut usize, to: usize, fs: usize) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 8",
        "stmxcsr [rsp]",
        "fnstcw [rsp + 4]",
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "wrfsbase rdx",
        "ldmxcsr [rsp]",
        "fldcw [rsp + 4]",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// Leaves the calling thread's stack and thread-locals to others: saves where it is, as
/// [`switch`] does, writes `value` to `word`, and sleeps for ever on a stack of its own. Returns
/// when another kernel thread goes there.
///
/// # Safety
///
/// `stack` is the end of some bytes that nobody else uses, all signals are blocked, and what is gone
/// to stays while anybody may go there.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn detach(
    save: *mut usize,
    stack: *mut u8,
    word: *const u32,
    value: u32,
) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 8",
        "stmxcsr [rsp]",
        "fnstcw [rsp + 4]",
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "mov [rdx], ecx",
        // pause(2): nothing interrupts it.
        "2:",
        "mov eax, 34",
        "syscall",
        "jmp 2b",
    )
}

/// This thread's FS base: the address of its thread block, which is the first word there.
pub(super) fn fs_base() -> usize {
    let base;
    // SAFETY: the System V ABI has the thread block's own address at its beginning.
    unsafe {
        std::arch::asm!("mov {}, fs:[0]", out(reg) base, options(nostack, preserves_flags, readonly));
    }
    base
}

/// Whether FS can be written without the kernel: the second bit of the second word of what the
/// kernel says of the processor.
pub(super) fn is_possible() -> bool {
    // SAFETY: reads what the loader has kept.
    (unsafe { libc::getauxval(libc::AT_HWCAP2) }) & 2 != 0
}
