//! Doacross loops: iterations wait for other iterations (`ordered(n)` with `depend`).
//!
//! Each iteration of the outermost loop has a word with the progress of its inner loops: the number of the last inner
//! iteration that was posted, plus 1.

use super::export;
use super::loops::{
    Chunk, Extras, Number, begin_with, by_number, by_runtime, current, give, next, plan,
};
use crate::team::context::{Context, context};
use crate::team::share::{Deal, Plan, Space};
use std::ffi::{c_long, c_uint, c_void};
use std::ptr;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

fn begin(
    context: &Context,
    dimensions: c_uint,
    counts: *const u64,
    (deal, chunk): (Deal, Chunk),
    extras: &Extras,
) {
    // SAFETY: the compiler made the array.
    let counts = unsafe { std::slice::from_raw_parts(counts, dimensions as usize) };
    begin_with(context, extras, |to: &mut Plan| {
        plan(to, Space::unsigned(true, 0, counts[0], 1), deal, chunk);
        to.inner = counts[1..].to_vec();
        to.posted = (0..counts[0]).map(|_| AtomicU64::new(0)).collect();
    });
}

const NO_EXTRAS: Extras = Extras {
    reductions: ptr::null_mut(),
    memory: ptr::null_mut(),
};

/// The functions for signed and for unsigned numbers. Both count up from 0.
macro_rules! names {
    ($($number:ty: $static:ident $dynamic:ident $guided:ident $runtime:ident $any:ident $post:ident;)*) => {
        $(
            names!(@chunked $number, Deal::Static, $static);
            names!(@chunked $number, Deal::Dynamic, $dynamic);
            names!(@chunked $number, Deal::Guided, $guided);
            export! {
                fn $runtime(
                    dimensions: c_uint, counts: *const $number,
                    from: *mut $number, to: *mut $number,
                ) -> bool {
                    let context = context();
                    begin(context, dimensions, counts.cast(), by_runtime(context), &NO_EXTRAS);
                    go_on(context, from, to)
                }

                fn $any(
                    dimensions: c_uint, counts: *const $number, schedule: c_long, chunk: $number,
                    from: *mut $number, to: *mut $number,
                    reductions: *mut usize, memory: *mut *mut c_void,
                ) -> bool {
                    let context = context();
                    let schedule = by_number(context, schedule, Chunk::from(chunk));
                    let extras = Extras { reductions, memory };
                    begin(context, dimensions, counts.cast(), schedule, &extras);
                    from.is_null() || go_on(context, from, to)
                }

                fn $post(at: *const $number) {
                    // SAFETY: the compiler made the array.
                    unsafe { post(at.cast()) };
                }
            }
        )*
    };
    (@chunked $number:ty, $deal:expr, $name:ident) => {
        export! {
            fn $name(
                dimensions: c_uint, counts: *const $number, chunk: $number,
                from: *mut $number, to: *mut $number,
            ) -> bool {
                let context = context();
                let schedule = ($deal, Chunk::from(chunk));
                begin(context, dimensions, counts.cast(), schedule, &NO_EXTRAS);
                go_on(context, from, to)
            }
        }
    };
}

fn go_on<T: Number>(context: &Context, from: *mut T, to: *mut T) -> bool {
    give(next(context), from, to)
}

names! {
    c_long: GOMP_loop_doacross_static_start GOMP_loop_doacross_dynamic_start
        GOMP_loop_doacross_guided_start GOMP_loop_doacross_runtime_start
        GOMP_loop_doacross_start GOMP_doacross_post;
    u64: GOMP_loop_ull_doacross_static_start GOMP_loop_ull_doacross_dynamic_start
        GOMP_loop_ull_doacross_guided_start GOMP_loop_ull_doacross_runtime_start
        GOMP_loop_ull_doacross_start GOMP_doacross_ull_post;
}

/// The number of an iteration of the inner loops, whose indices are `at(0)`, `at(1)` and so on.
fn inner(sizes: &[u64], mut at: impl FnMut(usize) -> u64) -> u64 {
    let mut number = 0_u64;
    for (dimension, size) in sizes.iter().enumerate() {
        number = number.wrapping_mul(*size).wrapping_add(at(dimension));
    }
    number
}

/// `GOMP_doacross_post`: lets iterations that wait for this iteration go on.
unsafe fn post(at: *const u64) {
    let context = context();
    let Some(share) = current(context) else {
        return;
    };
    let plan = share.plan();
    // SAFETY: the program passes a number for each dimension of the loop.
    let (outer, number) = unsafe {
        let number = inner(&plan.inner, |dimension| *at.add(1 + dimension));
        (*at as usize, number)
    };
    if let Some(word) = plan.posted.get(outer) {
        word.store(number + 1, SeqCst);
        context.team().bell.ring();
    }
}

/// `GOMP_doacross_wait`: waits for an iteration. The first numbers of the iteration are in the saved argument
/// `registers`, and the others on the `stack`.
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    target_arch = "riscv64"
))]
unsafe extern "C" fn wait(registers: *const u64, stack: *const u64) {
    #[cfg(target_arch = "x86_64")]
    const REGISTERS: usize = 6;
    #[cfg(any(target_arch = "aarch64", target_arch = "riscv64"))]
    const REGISTERS: usize = 8;
    let context = context();
    let Some(share) = current(context) else {
        return;
    };
    let plan = share.plan();
    // SAFETY: the program passes an argument for each dimension of the loop.
    let at = |dimension: usize| unsafe {
        if dimension < REGISTERS {
            *registers.add(dimension)
        } else {
            *stack.add(dimension - REGISTERS)
        }
    };
    let number = inner(&plan.inner, |dimension| at(1 + dimension));
    if let Some(word) = plan.posted.get(at(0) as usize) {
        let posted = || word.load(SeqCst) > number;
        context.team().bell.wait_until(&context.carried, &posted);
    }
}

/// Functions with any number of arguments, which Rust cannot declare. They store the argument registers in a row for
/// `wait`.
macro_rules! variadic {
    ($($name:ident)*) => {
        $(
            #[cfg(target_arch = "x86_64")]
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            extern "C" fn $name() {
                std::arch::naked_asm!(
                    "lea rax, [rsp + 8]",
                    "push r9",
                    "push r8",
                    "push rcx",
                    "push rdx",
                    "push rsi",
                    "push rdi",
                    "mov rdi, rsp",
                    "mov rsi, rax",
                    "sub rsp, 8",
                    "call {wait}",
                    "add rsp, 56",
                    "ret",
                    wait = sym wait,
                )
            }

            #[cfg(target_arch = "aarch64")]
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            extern "C" fn $name() {
                std::arch::naked_asm!(
                    "mov x9, sp",
                    "stp x29, x30, [sp, #-80]!",
                    "mov x29, sp",
                    "stp x0, x1, [sp, #16]",
                    "stp x2, x3, [sp, #32]",
                    "stp x4, x5, [sp, #48]",
                    "stp x6, x7, [sp, #64]",
                    "add x0, sp, #16",
                    "mov x1, x9",
                    "bl {wait}",
                    "ldp x29, x30, [sp], #80",
                    "ret",
                    wait = sym wait,
                )
            }

            #[cfg(target_arch = "riscv64")]
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            extern "C" fn $name() {
                std::arch::naked_asm!(
                    "addi sp, sp, -80",
                    "sd ra, 64(sp)",
                    "sd a0, 0(sp)",
                    "sd a1, 8(sp)",
                    "sd a2, 16(sp)",
                    "sd a3, 24(sp)",
                    "sd a4, 32(sp)",
                    "sd a5, 40(sp)",
                    "sd a6, 48(sp)",
                    "sd a7, 56(sp)",
                    "mv a0, sp",
                    "addi a1, sp, 80",
                    "call {wait}",
                    "ld ra, 64(sp)",
                    "addi sp, sp, 80",
                    "ret",
                    wait = sym wait,
                )
            }
        )*
    };
}

variadic! {
    GOMP_doacross_wait
    GOMP_doacross_ull_wait
}
