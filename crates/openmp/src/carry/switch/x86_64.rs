//! x86-64: the thread pointer is FS's base, the address of the thread block, whose first word is that
//! address. `wrfsbase` writes it where the kernel allows that, from Linux 5.9 on.

/// What a call preserves, on the stack: six registers, and the modes of both floating-point units.
macro_rules! save {
    () => {
        "push rbp
         push rbx
         push r12
         push r13
         push r14
         push r15
         sub rsp, 8
         stmxcsr [rsp]
         fnstcw [rsp + 4]
         mov [rdi], rsp"
    };
}
pub(super) use save;

/// The body of [`switch`](super::switch).
macro_rules! switch {
    () => {
        std::arch::naked_asm!(
            crate::carry::switch::processor::save!(),
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
    };
}
pub(super) use switch;

/// The body of [`detach`](super::detach).
macro_rules! detach {
    () => {
        std::arch::naked_asm!(
            crate::carry::switch::processor::save!(),
            "mov rsp, rsi",
            "mov r12, r8",
            "mov [rdx], ecx",
            // futex(2), a private one: while the word is 0.
            "2:",
            "mov eax, 202",
            "mov rdi, r12",
            "mov esi, 128",
            "xor edx, edx",
            "xor r10d, r10d",
            "syscall",
            "cmp dword ptr [r12], 0",
            "je 2b",
            "mov rdi, r12",
            "call {serve}",
            "jmp 2b",
            serve = sym crate::carry::home::serve,
        )
    };
}
pub(super) use detach;

/// See [`thread_pointer`](super::thread_pointer).
pub(in super::super) fn thread_pointer() -> usize {
    let base;
    // SAFETY: the System V ABI has the thread block's own address at its beginning.
    unsafe {
        std::arch::asm!("mov {}, fs:[0]", out(reg) base, options(nostack, preserves_flags, readonly));
    }
    base
}

/// Whether FS can be written without the kernel: the second bit of the second word of what the
/// kernel says of the processor.
pub(in super::super) fn is_possible() -> bool {
    // SAFETY: reads what the loader has kept.
    (unsafe { libc::getauxval(libc::AT_HWCAP2) }) & 2 != 0
}
