//! One word for each thread: the address of its context.
//!
//! The word uses the initial-exec model of thread-local storage (one load), not the model of libraries that are loaded
//! late (a call). That saves 2 ns at each entry of a function of this library. The word takes 8 of the bytes that the
//! loader reserves for such variables. Inline assembly also prevents the compiler from keeping the address of the word
//! across a switch of stacks. After the switch, that address would belong to another thread.

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
        // SAFETY: the instructions only read this thread's word.
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
        // SAFETY: the instructions only write this thread's word.
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
