//! One word a thread: where its context is.
//!
//! In the model of executables (one load), not of libraries that are loaded late (a call): that
//! is two nanoseconds at each entry. It takes 8 bytes of what the loader sets aside for such.
//! Inline assembly also keeps the compiler from remembering its address across a switch of
//! stacks, after which it would be another thread's.

use super::context::Context;

pub(super) use word::{get, set};

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod word {
    use super::Context;
    use std::arch::{asm, global_asm};

    global_asm!(
        ".pushsection .tbss,\"awT\",@nobits",
        ".p2align 3",
        ".globl manycore_openmp_slot",
        ".hidden manycore_openmp_slot",
        ".type manycore_openmp_slot, @object",
        ".size manycore_openmp_slot, 8",
        "manycore_openmp_slot:",
        ".zero 8",
        ".popsection",
    );

    #[inline(always)]
    pub(in super::super) fn get() -> *const Context {
        let pointer;
        // SAFETY: reads this thread's word.
        unsafe {
            asm!(
                "mov {0}, qword ptr [rip + manycore_openmp_slot@GOTTPOFF]",
                "mov {0}, qword ptr fs:[{0}]",
                out(reg) pointer,
                options(nostack, preserves_flags, readonly),
            );
        }
        pointer
    }

    #[inline(always)]
    pub(in super::super) fn set(pointer: *const Context) {
        // SAFETY: writes this thread's word.
        unsafe {
            asm!(
                "mov {0}, qword ptr [rip + manycore_openmp_slot@GOTTPOFF]",
                "mov qword ptr fs:[{0}], {1}",
                out(reg) _,
                in(reg) pointer,
                options(nostack, preserves_flags),
            );
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
mod word {
    use super::Context;
    use std::cell::Cell;
    use std::ptr;

    std::thread_local! {
        static SLOT: Cell<*const Context> = const { Cell::new(ptr::null()) };
    }

    #[inline(never)]
    pub(in super::super) fn get() -> *const Context {
        SLOT.get()
    }

    #[inline(never)]
    pub(in super::super) fn set(pointer: *const Context) {
        SLOT.set(pointer);
    }
}
