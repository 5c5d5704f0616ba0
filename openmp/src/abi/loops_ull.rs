//! Loops over unsigned numbers of 64 bits.

use super::export;
use super::loops::{
    Chunk, Extras, begin, begin_with, by_number, by_runtime, give, next, next_ordered, plan,
};
use crate::context::context;
use crate::share::{Deal, Space};
use std::ffi::{c_long, c_void};

macro_rules! schedules {
    ($($deal:expr, $next:ident => $start:ident $go_on:ident;)*) => {
        $(export! {
            fn $start(
                up: bool, start: u64, end: u64, step: u64, chunk: u64,
                from: *mut u64, to: *mut u64,
            ) -> bool {
                let context = context();
                begin(context, Space::unsigned(up, start, end, step), ($deal, Chunk::from(chunk)));
                give($next(context), from, to)
            }

            fn $go_on(from: *mut u64, to: *mut u64) -> bool {
                give($next(context()), from, to)
            }
        })*
    };
}

schedules! {
    Deal::Static, next => GOMP_loop_ull_static_start GOMP_loop_ull_static_next;
    Deal::Dynamic, next => GOMP_loop_ull_dynamic_start GOMP_loop_ull_dynamic_next;
    Deal::Guided, next => GOMP_loop_ull_guided_start GOMP_loop_ull_guided_next;
    Deal::Dynamic, next =>
        GOMP_loop_ull_nonmonotonic_dynamic_start GOMP_loop_ull_nonmonotonic_dynamic_next;
    Deal::Guided, next =>
        GOMP_loop_ull_nonmonotonic_guided_start GOMP_loop_ull_nonmonotonic_guided_next;
    Deal::Static, next_ordered =>
        GOMP_loop_ull_ordered_static_start GOMP_loop_ull_ordered_static_next;
    Deal::Dynamic, next_ordered =>
        GOMP_loop_ull_ordered_dynamic_start GOMP_loop_ull_ordered_dynamic_next;
    Deal::Guided, next_ordered =>
        GOMP_loop_ull_ordered_guided_start GOMP_loop_ull_ordered_guided_next;
}

macro_rules! runtime_schedules {
    ($($next:ident => $start:ident $go_on:ident;)*) => {
        $(export! {
            fn $start(
                up: bool, start: u64, end: u64, step: u64, from: *mut u64, to: *mut u64,
            ) -> bool {
                let context = context();
                begin(context, Space::unsigned(up, start, end, step), by_runtime(context));
                give($next(context), from, to)
            }

            fn $go_on(from: *mut u64, to: *mut u64) -> bool {
                give($next(context()), from, to)
            }
        })*
    };
}

runtime_schedules! {
    next => GOMP_loop_ull_runtime_start GOMP_loop_ull_runtime_next;
    next => GOMP_loop_ull_nonmonotonic_runtime_start GOMP_loop_ull_nonmonotonic_runtime_next;
    next => GOMP_loop_ull_maybe_nonmonotonic_runtime_start
        GOMP_loop_ull_maybe_nonmonotonic_runtime_next;
    next_ordered => GOMP_loop_ull_ordered_runtime_start GOMP_loop_ull_ordered_runtime_next;
}

export! {
    fn GOMP_loop_ull_start(
        up: bool, start: u64, end: u64, step: u64, schedule: c_long, chunk: u64,
        from: *mut u64, to: *mut u64, reductions: *mut usize, memory: *mut *mut c_void,
    ) -> bool {
        let context = context();
        let (deal, chunk) = by_number(context, schedule, Chunk::from(chunk));
        let space = Space::unsigned(up, start, end, step);
        begin_with(context, &Extras { reductions, memory }, |p| plan(p, space, deal, chunk));
        from.is_null() || give(next(context), from, to)
    }

    fn GOMP_loop_ull_ordered_start(
        up: bool, start: u64, end: u64, step: u64, schedule: c_long, chunk: u64,
        from: *mut u64, to: *mut u64, reductions: *mut usize, memory: *mut *mut c_void,
    ) -> bool {
        let context = context();
        let (deal, chunk) = by_number(context, schedule, Chunk::from(chunk));
        let space = Space::unsigned(up, start, end, step);
        begin_with(context, &Extras { reductions, memory }, |p| plan(p, space, deal, chunk));
        from.is_null() || give(next_ordered(context), from, to)
    }
}
