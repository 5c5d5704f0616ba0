//! x86-64: the thread pointer is FS's base. This is the address of the thread block, whose first word contains the same
//! address. `wrfsbase` writes the base of FS, if the kernel allows that (from Linux 5.9 on). The base of GS is left to
//! the program.

/// Saves on the stack the state that a call preserves: six registers, the modes of both floating-point units, and the
/// base of GS. Also saves the flags of floating-point exceptions, which each thread has: `mxcsr` has the vector unit's
/// flags and modes, the status word has the x87 unit's flags.
macro_rules! save {
    () => {
        "push rbp
         push rbx
         push r12
         push r13
         push r14
         push r15
         sub rsp, 16
         stmxcsr [rsp]
         fnstcw [rsp + 4]
         fnstsw [rsp + 6]
         rdgsbase rax
         mov [rsp + 8], rax
         mov [rdi], rsp"
    };
}
pub(super) use save;

/// The body of [`leave`](super::leave).
///
/// The worker (a kernel thread) uses neither GS nor the x87 unit. So the x87 flags stay in the unit, and are the
/// result. If the rank (the thread that the worker executed) has left an x87 exception pending, `fldcw` would raise
/// this exception on the worker. So `fnstenv` first masks it.
macro_rules! leave {
    () => {
        std::arch::naked_asm!(
            crate::carry::switch::processor::save!(),
            "movzx eax, word ptr [rsp + 6]",
            "mov rsp, rsi",
            "wrfsbase rdx",
            "ldmxcsr [rsp]",
            "test al, al",
            "js 3f",
            "2:",
            "fldcw [rsp + 4]",
            "add rsp, 16",
            "pop r15",
            "pop r14",
            "pop r13",
            "pop r12",
            "pop rbx",
            "pop rbp",
            "ret",
            "3:",
            "sub rsp, 32",
            "fnstenv [rsp]",
            "add rsp, 32",
            "jmp 2b",
        )
    };
}
pub(super) use leave;

/// The body of [`enter`](super::enter).
///
/// Most ranks have the same base of GS and the same x87 flags as the last rank: then neither is written. Only `fldenv`
/// can write the flags, and it is slow.
macro_rules! enter {
    () => {
        std::arch::naked_asm!(
            "push rbp
             push rbx
             push r12
             push r13
             push r14
             push r15
             sub rsp, 16
             stmxcsr [rsp]
             fnstcw [rsp + 4]
             mov [rdi], rsp",
            "mov rsp, rsi",
            "wrfsbase rdx",
            "rdgsbase rax",
            "cmp rax, [rsp + 8]",
            "je 2f",
            "mov rax, [rsp + 8]",
            "wrgsbase rax",
            "2:",
            "ldmxcsr [rsp]",
            // Does this rank have other flags than the last rank?
            "movzx eax, word ptr [rsp + 6]",
            "xor ecx, eax",
            "test cl, 0x7f",
            "jnz 4f",
            "fldcw [rsp + 4]",
            "3:",
            "add rsp, 16",
            "pop r15",
            "pop r14",
            "pop r13",
            "pop r12",
            "pop rbx",
            "pop rbp",
            "ret",
            // Loads the present environment, with the rank's modes and flags.
            "4:",
            "movzx ecx, word ptr [rsp + 4]",
            "sub rsp, 32",
            "fnstenv [rsp]",
            "mov [rsp], cx",
            "and eax, 0x7f",
            "and word ptr [rsp + 4], 0x7f00",
            "or [rsp + 4], ax",
            "fldenv [rsp]",
            "add rsp, 32",
            "jmp 3b",
        )
    };
}
pub(super) use enter;

/// The body of [`detach`](super::detach).
macro_rules! detach {
    () => {
        std::arch::naked_asm!(
            crate::carry::switch::processor::save!(),
            "mov rsp, rsi",
            "mov r12, r8",
            "mov r13, r9",
            "mov [rdx], ecx",
            // futex(2), private: waits while the word is 0.
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
            "call r13",
            "jmp 2b",
        )
    };
}
pub(super) use detach;

/// See [`thread_pointer`](super::thread_pointer).
pub(in super::super) fn thread_pointer() -> usize {
    let base;
    // SAFETY: by the System V ABI, the thread block begins with its own address.
    unsafe {
        std::arch::asm!("mov {}, fs:[0]", out(reg) base, options(nostack, preserves_flags, readonly));
    }
    base
}

/// See [`flags`](super::flags).
pub(in super::super) fn flags() -> u32 {
    let flags: u32;
    // SAFETY: this reads the status word.
    unsafe {
        std::arch::asm!("fnstsw ax", "movzx eax, ax", out("eax") flags, options(nomem, nostack, preserves_flags));
    }
    flags
}

/// See [`set_thread_pointer`](super::set_thread_pointer).
pub(in super::super) unsafe fn set_thread_pointer(pointer: usize) {
    // SAFETY: by the caller's promise.
    unsafe { std::arch::asm!("wrfsbase {}", in(reg) pointer, options(nostack, preserves_flags)) };
}

/// See [`has_keys`](super::has_keys): whether the kernel has switched protection keys on.
pub(in super::super) fn has_keys() -> bool {
    let has_leaf = std::arch::x86_64::__cpuid(0).eax >= 7;
    has_leaf && std::arch::x86_64::__cpuid_count(7, 0).ecx & 1 << 4 != 0
}

/// See [`keys`](super::keys).
pub(in super::super) unsafe fn keys() -> u32 {
    let keys;
    // SAFETY: the caller promises that the processor has keys. The instruction reads a register.
    unsafe {
        std::arch::asm!("rdpkru", in("ecx") 0, out("eax") keys, out("edx") _, options(nostack, preserves_flags));
    }
    keys
}

/// See [`set_keys`](super::set_keys).
pub(in super::super) unsafe fn set_keys(keys: u32) {
    // SAFETY: by the caller's promise.
    unsafe {
        std::arch::asm!("wrpkru", in("ecx") 0, in("edx") 0, in("eax") keys, options(nostack, preserves_flags));
    }
}

pub(in super::super) use super::always::use_vectors;

/// Whether a program can write the base of FS without the kernel. This is the second bit of the kernel's second word of
/// hardware capabilities.
pub(in super::super) fn is_possible() -> bool {
    // SAFETY: this reads a number that the loader has kept.
    (unsafe { libc::getauxval(libc::AT_HWCAP2) }) & 2 != 0
}
