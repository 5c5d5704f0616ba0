//! 64-bit RISC-V: the thread pointer is the register `tp`.

use crate::system::masks::{errno, set_errno};

/// Saves on the stack the state that a call preserves: the return address, twelve registers, twelve floating-point
/// registers, and the rounding mode with the flags of floating-point exceptions.
macro_rules! save {
    () => {
        "addi sp, sp, -208
         sd ra, 0(sp)
         sd s0, 8(sp)
         sd s1, 16(sp)
         sd s2, 24(sp)
         sd s3, 32(sp)
         sd s4, 40(sp)
         sd s5, 48(sp)
         sd s6, 56(sp)
         sd s7, 64(sp)
         sd s8, 72(sp)
         sd s9, 80(sp)
         sd s10, 88(sp)
         sd s11, 96(sp)
         fsd fs0, 104(sp)
         fsd fs1, 112(sp)
         fsd fs2, 120(sp)
         fsd fs3, 128(sp)
         fsd fs4, 136(sp)
         fsd fs5, 144(sp)
         fsd fs6, 152(sp)
         fsd fs7, 160(sp)
         fsd fs8, 168(sp)
         fsd fs9, 176(sp)
         fsd fs10, 184(sp)
         fsd fs11, 192(sp)
         frcsr t0
         sd t0, 200(sp)
         sd sp, 0(a0)"
    };
}
pub(super) use save;

/// The body of [`enter`](super::enter) and [`leave`](super::leave).
macro_rules! switch {
    () => {
        std::arch::naked_asm!(
            crate::carry::switch::processor::save!(),
            "mv sp, a1",
            "mv tp, a2",
            "ld t0, 200(sp)",
            "fscsr t0",
            "ld ra, 0(sp)",
            "ld s0, 8(sp)",
            "ld s1, 16(sp)",
            "ld s2, 24(sp)",
            "ld s3, 32(sp)",
            "ld s4, 40(sp)",
            "ld s5, 48(sp)",
            "ld s6, 56(sp)",
            "ld s7, 64(sp)",
            "ld s8, 72(sp)",
            "ld s9, 80(sp)",
            "ld s10, 88(sp)",
            "ld s11, 96(sp)",
            "fld fs0, 104(sp)",
            "fld fs1, 112(sp)",
            "fld fs2, 120(sp)",
            "fld fs3, 128(sp)",
            "fld fs4, 136(sp)",
            "fld fs5, 144(sp)",
            "fld fs6, 152(sp)",
            "fld fs7, 160(sp)",
            "fld fs8, 168(sp)",
            "fld fs9, 176(sp)",
            "fld fs10, 184(sp)",
            "fld fs11, 192(sp)",
            "addi sp, sp, 208",
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
            "mv sp, a1",
            "mv s1, a4",
            "mv s2, a5",
            // This is a release: a thread that reads the value sees the saved state.
            "fence rw, w",
            "sw a3, 0(a2)",
            // futex(2), private: waits while the word is 0.
            "2:",
            "mv a0, s1",
            "li a1, 128",
            "li a2, 0",
            "li a3, 0",
            "li a7, 98",
            "ecall",
            "lw t0, 0(s1)",
            "beqz t0, 2b",
            // This is an acquire: this thread sees the state in which the writer of the word has left the rank.
            "fence r, rw",
            "mv a0, s1",
            "jalr s2",
            "j 2b",
        )
    };
}
pub(super) use detach;

/// See [`thread_pointer`](super::thread_pointer).
pub(in super::super) fn thread_pointer() -> usize {
    let pointer;
    // SAFETY: this reads a register.
    unsafe {
        std::arch::asm!("mv {}, tp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    pointer
}

/// See [`set_thread_pointer`](super::set_thread_pointer).
pub(in super::super) unsafe fn set_thread_pointer(pointer: usize) {
    // SAFETY: by the caller's promise.
    unsafe { std::arch::asm!("mv tp, {}", in(reg) pointer, options(nostack, preserves_flags)) };
}

pub(in super::super) use super::others::{flags, has_keys, keys, set_keys};

/// See [`use_vectors`](super::use_vectors). The kernel gives a thread vector registers when the thread first uses them.
/// If a thread without vector registers returns to a frame with them, the kernel ends the process.
pub(in super::super) fn use_vectors() {
    const PR_RISCV_V_GET_CONTROL: libc::c_int = 70;
    const STATE: libc::c_int = 3;
    const ON: libc::c_int = 2;
    let error = errno();
    // SAFETY: the call only returns a number: an error if the kernel or the processor has no vector registers.
    let control = unsafe { libc::prctl(PR_RISCV_V_GET_CONTROL, 0, 0, 0, 0) };
    set_errno(error);
    if control >= 0 && control & STATE == ON {
        // SAFETY: the kernel lets this thread use the vector unit. This is `vsetvli t0, zero, e8, m1, ta, ma`, for
        // assemblers that do not know it. It changes `t0`, and the length and the type of vectors. No call preserves
        // these two, and the compiler takes them for changed.
        unsafe {
            std::arch::asm!(".insn i 0x57, 7, t0, zero, 0xc0", out("t0") _, options(nomem, nostack));
        }
    }
}

/// See [`is_possible`](super::is_possible): always.
pub(in super::super) fn is_possible() -> bool {
    true
}
