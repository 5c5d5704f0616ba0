//! Doacross loops: iterations wait for other iterations (`ordered(n)` with `depend`).
//!
//! A member runs its iterations in order. So with a static schedule one word for each member has its progress: the
//! number of the last iteration that the member has posted, plus 1. With a dynamic schedule each chunk has such a word.
//! Chunks of guided loops begin anywhere, and the iterations of a nest of loops may be too many for a word. Then each
//! iteration of the outermost loop has a word with the progress of the inner loops.
//!
//! In a team of one, no other member could post an iteration, and waiting returns at once.

use super::export;
use super::loops::{
    Chunk, Extras, Number, begin_with, by_number, by_runtime, current, give, next, plan,
};
use crate::team::context::{Context, context};
use crate::team::share::{Deal, Plan, Space, member_of, zeros};
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
        to.posted = zeros(words(to, context.team().size));
    });
}

/// The kind of thing that has a word for its progress.
#[derive(Debug, PartialEq, Eq)]
enum Owner {
    Member,
    Chunk,
    Iteration,
}

/// The distance of the words of members, which are on different cache lines.
const APART: u64 = 8;

fn owner(plan: &Plan) -> Owner {
    let all = (plan.inner.iter()).try_fold(plan.space.trips, |all, &size| all.checked_mul(size));
    match plan.deal {
        _ if all.is_none() => Owner::Iteration,
        Deal::Static => Owner::Member,
        Deal::Dynamic => Owner::Chunk,
        Deal::Guided => Owner::Iteration,
    }
}

/// The number of words that a loop needs in a team of `size` members.
fn words(plan: &Plan, size: u32) -> u64 {
    match owner(plan) {
        _ if size == 1 => 0,
        Owner::Member => u64::from(size) * APART,
        Owner::Chunk => plan.space.trips.div_ceil(plan.chunk),
        Owner::Iteration => plan.space.trips,
    }
}

/// The index of the word of an iteration, and the number of that iteration in the word. `outer` is the index of the
/// outermost loop, and `inner` the number of the iteration in the inner loops.
fn place(plan: &Plan, size: u32, outer: u64, inner: u64) -> (u64, u64) {
    let size = u64::from(size);
    let index = match owner(plan) {
        Owner::Iteration => return (outer, inner),
        Owner::Chunk => outer / plan.chunk,
        Owner::Member if plan.chunk == 0 => APART * member_of(plan.space.trips, outer, size),
        Owner::Member => APART * (outer / plan.chunk % size),
    };
    (index, outer * plan.inner.iter().product::<u64>() + inner)
}

/// The word of an iteration, and the value of the word from the posting of that iteration on. `None` if the loop does
/// not have that iteration, or if the team has one member.
fn word(plan: &Plan, size: u32, outer: u64, inner: u64) -> Option<(&AtomicU64, u64)> {
    if size == 1 || outer >= plan.space.trips {
        return None;
    }
    let (index, number) = place(plan, size, outer, inner);
    Some((plan.posted.get(index as usize)?, number + 1))
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
    let (outer, inner) = unsafe {
        let number = inner(&plan.inner, |dimension| *at.add(1 + dimension));
        (*at, number)
    };
    if let Some((word, number)) = word(plan, context.team().size, outer, inner) {
        word.store(number, SeqCst);
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
    let inner = inner(&plan.inner, |dimension| at(1 + dimension));
    if let Some((word, number)) = word(plan, context.team().size, at(0), inner) {
        let posted = || word.load(SeqCst) >= number;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::team::share::Share;
    use std::cell::Cell;

    fn planned(trips: u64, inner: &[u64], deal: Deal, chunk: u64) -> Share {
        let share = Share::new(0);
        let team = crate::team::Team::alone();
        share.come(0, &team.bell, &crate::words::Carried::default(), |to| {
            plan(
                to,
                Space::unsigned(true, 0, trips, 1),
                deal,
                Chunk::from(chunk),
            );
            to.inner = inner.to_vec();
        });
        share
    }

    #[test]
    fn few_words_for_many_iterations() {
        let words = |deal, chunk, inner: &[u64]| {
            words(planned(2_000_000_000, inner, deal, chunk).plan(), 4)
        };
        assert_eq!(words(Deal::Static, 0, &[]), 4 * APART);
        assert_eq!(words(Deal::Static, 16, &[100, 100]), 4 * APART);
        assert_eq!(words(Deal::Dynamic, 1 << 20, &[]), 1908);
        assert_eq!(words(Deal::Guided, 1, &[]), 2_000_000_000);
        assert_eq!(words(Deal::Static, 0, &[1 << 20, 1 << 20]), 2_000_000_000);
    }

    /// While members run their iterations in order, the numbers in each word only grow.
    #[test]
    fn numbers_grow_in_each_word() {
        let deals = [
            (Deal::Static, 0),
            (Deal::Static, 3),
            (Deal::Dynamic, 4),
            (Deal::Guided, 2),
        ];
        for (deal, chunk) in deals {
            for (trips, size) in [(1, 2), (23, 2), (24, 5), (3, 7)] {
                let share = planned(trips, &[3], deal, chunk);
                let most = words(share.plan(), size);
                let mut last = vec![None; most as usize];
                for id in 0..size {
                    let trip = Cell::new(0);
                    while let Some((from, to)) = share.claim(id, size, &trip) {
                        for (outer, inner) in
                            (from..to).flat_map(|it| (0..3).map(move |at| (it, at)))
                        {
                            let (index, number) = place(share.plan(), size, outer, inner);
                            let last = &mut last[index as usize];
                            assert!(last.is_none_or(|(of, last)| {
                                (deal == Deal::Dynamic || of == id) && last < number
                            }));
                            *last = Some((id, number));
                        }
                    }
                }
            }
        }
    }
}
