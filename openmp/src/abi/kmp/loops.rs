//! Loops that give members iterations while they run, and ordered regions of such loops.

use super::super::loops::{Chunk, by_runtime, current, next, next_ordered, plan};
use super::static_loops::{BALANCED, Bounds, MODIFIERS, balanced};
use super::{Place, export, leave_open};
use crate::system::report::fatal;
use crate::team::context::context;
use crate::team::share::{Deal, Space};
use std::ffi::c_int;

/// For a loop with ordered regions, the number of the schedule is larger by this.
const ORDERED: c_int = 32;

/// The schedule of a number for a loop of `trips` iterations, and whether the loop has ordered regions.
fn schedule(number: c_int, chunk_size: u64, trips: u64) -> ((Deal, Chunk), bool) {
    let number = number & !MODIFIERS;
    let is_ordered = (33 + ORDERED..=39 + ORDERED).contains(&number);
    let chunk = Chunk::from(chunk_size);
    let schedule = match if is_ordered { number - ORDERED } else { number } {
        33 => (Deal::Static, chunk),
        // 34 is one block for each member. 38 lets the runtime choose the schedule.
        34 | 38 => (Deal::Static, Chunk::from(0_u64)),
        35 => (Deal::Dynamic, chunk),
        BALANCED => {
            let block = balanced(trips, context().team().size, i128::from(chunk_size));
            (
                Deal::Static,
                Chunk::from(u64::try_from(block).unwrap_or(u64::MAX)),
            )
        }
        // Guided, trapezoidal (39), and guided for vectors (46). In all of these, chunks become smaller.
        36 | 39 | 46 => (Deal::Guided, chunk),
        37 | 47 => by_runtime(context()),
        other => fatal(format_args!(
            "a loop with LLVM's schedule {other}; expected 33 to 39, 45 to 47 or 65 to 71"
        )),
    };
    (schedule, is_ordered)
}

/// Enters a loop with the calling member.
pub(super) fn begin(number: c_int, bounds: Bounds, chunk: u64) {
    let context = context();
    leave_open(context);
    let (schedule, is_ordered) = schedule(number, chunk, bounds.trips());
    let space = Space {
        start: bounds.lower as u64,
        end: bounds.upper as u64,
        step: bounds.step as u64,
        trips: bounds.trips(),
    };
    context.come(|to| {
        plan(to, space, schedule.0, schedule.1);
        to.ordered = is_ordered;
    });
}

/// Exports the functions for each type of loop. Both bounds are included.
macro_rules! names {
    ($($number:ty, $signed:ty: $init:ident $next:ident $fini:ident $deinit:ident;)*) => {
        $(export! {
            fn $init(
                _place: Place, _number: c_int, number: c_int,
                lower: $number, upper: $number, step: $signed, chunk: $signed,
            ) {
                let bounds = Bounds {
                    lower: i128::from(lower),
                    upper: i128::from(upper),
                    step: i128::from(step),
                };
                begin(number, bounds, u64::try_from(chunk).unwrap_or(0));
            }

            fn $next(
                _place: Place, _number: c_int, last: *mut c_int,
                lower: *mut $number, upper: *mut $number, stride: *mut $signed,
            ) -> c_int {
                let context = context();
                let Some(share) = current(context) else {
                    return 0;
                };
                let given = if share.plan().ordered { next_ordered(context) } else { next(context) };
                if given.is_none() {
                    context.leave();
                    return 0;
                }
                let (space, (from, to)) = (share.plan().space, context.seat.chunk.get());
                let value = |trip: u64| space.start.wrapping_add(trip.wrapping_mul(space.step));
                // SAFETY: the compiler passes the addresses of variables. `last` and `stride` may be null.
                unsafe {
                    lower.write(value(from) as $number);
                    upper.write(value(to - 1) as $number);
                    if !stride.is_null() {
                        stride.write(space.step as $signed);
                    }
                    if !last.is_null() {
                        last.write(c_int::from(to == space.trips));
                    }
                }
                1
            }

            fn $fini(_place: Place, _number: c_int) {}

            fn $deinit(_place: Place, _number: c_int) {}
        })*
    };
}

names! {
    i32, i32: __kmpc_dispatch_init_4 __kmpc_dispatch_next_4 __kmpc_dispatch_fini_4
        __kmpc_dispatch_deinit_4;
    u32, i32: __kmpc_dispatch_init_4u __kmpc_dispatch_next_4u __kmpc_dispatch_fini_4u
        __kmpc_dispatch_deinit_4u;
    i64, i64: __kmpc_dispatch_init_8 __kmpc_dispatch_next_8 __kmpc_dispatch_fini_8
        __kmpc_dispatch_deinit_8;
    u64, i64: __kmpc_dispatch_init_8u __kmpc_dispatch_next_8u __kmpc_dispatch_fini_8u
        __kmpc_dispatch_deinit_8u;
}

export! {
    fn __kmpc_dispatch_deinit(_place: Place, _number: c_int) {}

    fn __kmpc_ordered(_place: Place, _number: c_int) {
        super::super::loops::begin_ordered(context());
    }

    fn __kmpc_end_ordered(_place: Place, _number: c_int) {}
}
