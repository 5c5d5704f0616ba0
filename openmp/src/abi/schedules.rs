//! The functions for loops. For each type of numbers and each schedule, one function begins a loop and another
//! continues it.

use super::export;
use super::loops::{
    Chunk, Extras, begin, begin_with, by_number, by_runtime, give, next, next_ordered, plan,
};
use crate::team::context::context;
use crate::team::share::{Deal, Space};
use std::ffi::{c_long, c_void};

/// Exports a function that begins a loop. Its arguments are the bounds of the loop and then `$more`.
macro_rules! begins {
    ($name:ident($($bound:ident: $type:ty),*) ($($more:ident: $of:ty),*) $body:block) => {
        export! {
            fn $name($($bound: $type,)* $($more: $of),*) -> bool $body
        }
    };
}

/// Exports the functions for loops over numbers of one type. The macro takes the arguments for the bounds, and the
/// space that they describe. The names of the functions follow: those with the schedule as an argument (`start`), those
/// for one schedule (`deals`), and those for the schedule that the control variables give (`runtime`).
macro_rules! schedules {
    (
        $number:ty, $bounds:tt => $space:expr;
        start: $($by_number:ident $by_number_next:ident),*;
        deals: { $($deal:expr, $next:ident => $start:ident $go_on:ident;)* }
        runtime: $($runtime_next:ident => $runtime_start:ident $runtime_go_on:ident;)*
    ) => {
        $(begins! {
            $by_number $bounds (
                schedule: c_long, chunk: $number, from: *mut $number, to: *mut $number,
                reductions: *mut usize, memory: *mut *mut c_void
            ) {
                let context = context();
                let (deal, chunk) = by_number(context, schedule, Chunk::from(chunk));
                let extras = Extras { reductions, memory };
                begin_with(context, &extras, |to| plan(to, $space, deal, chunk));
                from.is_null() || give($by_number_next(context), from, to)
            }
        })*

        $(begins! {
            $start $bounds (chunk: $number, from: *mut $number, to: *mut $number) {
                let context = context();
                begin(context, $space, ($deal, Chunk::from(chunk)));
                give($next(context), from, to)
            }
        })*

        $(begins! {
            $runtime_start $bounds (from: *mut $number, to: *mut $number) {
                let context = context();
                begin(context, $space, by_runtime(context));
                give($runtime_next(context), from, to)
            }
        })*

        export! {
            $(fn $go_on(from: *mut $number, to: *mut $number) -> bool {
                give($next(context()), from, to)
            })*

            $(fn $runtime_go_on(from: *mut $number, to: *mut $number) -> bool {
                give($runtime_next(context()), from, to)
            })*
        }
    };
}

schedules! {
    c_long, (start: c_long, end: c_long, step: c_long) => Space::signed(start, end, step);
    start: GOMP_loop_start next, GOMP_loop_ordered_start next_ordered;
    deals: {
        Deal::Static, next => GOMP_loop_static_start GOMP_loop_static_next;
        Deal::Dynamic, next => GOMP_loop_dynamic_start GOMP_loop_dynamic_next;
        Deal::Guided, next => GOMP_loop_guided_start GOMP_loop_guided_next;
        Deal::Dynamic, next =>
            GOMP_loop_nonmonotonic_dynamic_start GOMP_loop_nonmonotonic_dynamic_next;
        Deal::Guided, next =>
            GOMP_loop_nonmonotonic_guided_start GOMP_loop_nonmonotonic_guided_next;
        Deal::Static, next_ordered =>
            GOMP_loop_ordered_static_start GOMP_loop_ordered_static_next;
        Deal::Dynamic, next_ordered =>
            GOMP_loop_ordered_dynamic_start GOMP_loop_ordered_dynamic_next;
        Deal::Guided, next_ordered =>
            GOMP_loop_ordered_guided_start GOMP_loop_ordered_guided_next;
    }
    runtime:
    next => GOMP_loop_runtime_start GOMP_loop_runtime_next;
    next => GOMP_loop_nonmonotonic_runtime_start GOMP_loop_nonmonotonic_runtime_next;
    next => GOMP_loop_maybe_nonmonotonic_runtime_start
        GOMP_loop_maybe_nonmonotonic_runtime_next;
    next_ordered => GOMP_loop_ordered_runtime_start GOMP_loop_ordered_runtime_next;
}

schedules! {
    u64, (up: bool, start: u64, end: u64, step: u64) => Space::unsigned(up, start, end, step);
    start: GOMP_loop_ull_start next, GOMP_loop_ull_ordered_start next_ordered;
    deals: {
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
    runtime:
    next => GOMP_loop_ull_runtime_start GOMP_loop_ull_runtime_next;
    next => GOMP_loop_ull_nonmonotonic_runtime_start GOMP_loop_ull_nonmonotonic_runtime_next;
    next => GOMP_loop_ull_maybe_nonmonotonic_runtime_start
        GOMP_loop_ull_maybe_nonmonotonic_runtime_next;
    next_ordered => GOMP_loop_ull_ordered_runtime_start GOMP_loop_ull_ordered_runtime_next;
}
