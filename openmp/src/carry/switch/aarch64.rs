//! 64-bit Arm: the thread pointer is `tpidr_el0`, which every program may write.

/// Saves on the stack the state that a call preserves: the frame pointer and the return address, ten more registers,
/// the lower halves of eight vector registers, the rounding mode, and the flags of floating-point exceptions.
macro_rules! save {
    () => {
        "stp x29, x30, [sp, #-176]!
         stp x19, x20, [sp, #16]
         stp x21, x22, [sp, #32]
         stp x23, x24, [sp, #48]
         stp x25, x26, [sp, #64]
         stp x27, x28, [sp, #80]
         stp d8, d9, [sp, #96]
         stp d10, d11, [sp, #112]
         stp d12, d13, [sp, #128]
         stp d14, d15, [sp, #144]
         mrs x9, fpcr
         str x9, [sp, #160]
         mrs x9, fpsr
         str x9, [sp, #168]
         mov x9, sp
         str x9, [x0]"
    };
}
pub(super) use save;

/// The body of [`enter`](super::enter) and [`leave`](super::leave).
macro_rules! switch {
    () => {
        std::arch::naked_asm!(
            crate::carry::switch::processor::save!(),
            "mov sp, x1",
            "msr tpidr_el0, x2",
            "ldr x9, [sp, #160]",
            "msr fpcr, x9",
            "ldr x9, [sp, #168]",
            "msr fpsr, x9",
            "ldp d14, d15, [sp, #144]",
            "ldp d12, d13, [sp, #128]",
            "ldp d10, d11, [sp, #112]",
            "ldp d8, d9, [sp, #96]",
            "ldp x27, x28, [sp, #80]",
            "ldp x25, x26, [sp, #64]",
            "ldp x23, x24, [sp, #48]",
            "ldp x21, x22, [sp, #32]",
            "ldp x19, x20, [sp, #16]",
            "ldp x29, x30, [sp], #176",
            "ret",
        )
    };
}
pub(super) use switch as enter;
pub(super) use switch as leave;

/// The body of [`detach`](super::detach).
macro_rules! detach {
    () => {
        std::arch::naked_asm!(
            crate::carry::switch::processor::save!(),
            "mov sp, x1",
            "mov x19, x4",
            "mov x20, x5",
            // This is a release: a thread that reads the value sees the saved state.
            "stlr w3, [x2]",
            // futex(2), private: waits while the word is 0.
            "2:",
            "mov x0, x19",
            "mov x1, #128",
            "mov x2, xzr",
            "mov x3, xzr",
            "mov x8, #98",
            "svc #0",
            // This is an acquire: this thread sees the state in which the writer of the word has left the rank.
            "ldar w9, [x19]",
            "cbz w9, 2b",
            "mov x0, x19",
            "blr x20",
            "b 2b",
        )
    };
}
pub(super) use detach;

/// See [`thread_pointer`](super::thread_pointer).
pub(in super::super) fn thread_pointer() -> usize {
    let pointer;
    // SAFETY: this reads a register.
    unsafe {
        std::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    pointer
}

/// See [`set_thread_pointer`](super::set_thread_pointer).
pub(in super::super) unsafe fn set_thread_pointer(pointer: usize) {
    // SAFETY: by the caller's promise.
    unsafe {
        std::arch::asm!("msr tpidr_el0, {}", in(reg) pointer, options(nostack, preserves_flags))
    };
}

pub(in super::super) use super::always::use_vectors;
pub(in super::super) use super::others::{flags, has_keys, keys, set_keys};

/// See [`is_possible`](super::is_possible): always.
pub(in super::super) fn is_possible() -> bool {
    true
}
