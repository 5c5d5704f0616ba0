//! Loops with a static schedule: each member computes its iterations, without waiting for another member.

use super::{Place, export};
use crate::system::report::fatal;
use crate::team::context::{Context, context};
use crate::team::share::block;
use std::ffi::c_int;

/// The numbers of schedules: chunks in turn, one block for each member, and both of these among the teams of a league.
const CHUNKED: c_int = 33;
const BLOCKS: c_int = 34;
const TEAMS_CHUNKED: c_int = 91;
const TEAMS_BLOCKS: c_int = 92;
/// Bits that state whether the chunks of a member must be in order. In this library they always are.
pub(super) const MODIFIERS: c_int = 3 << 29;

/// The bounds of a loop, both included, in the widest type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) lower: i128,
    pub(super) upper: i128,
    pub(super) step: i128,
}

/// The part of a member: its first bounds, the distance to its next bounds, and whether it has the last iteration of
/// the loop.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) lower: i128,
    pub(super) upper: i128,
    pub(super) stride: i128,
    pub(super) is_last: bool,
}

/// How the schedule divides a loop: the number of the caller's part, the number of parts, and the chunk, if the
/// schedule has one.
pub(super) fn division(
    context: &Context,
    schedule: c_int,
    chunk: i128,
) -> (u32, u32, Option<i128>) {
    let ((id, size), is_chunked) = match schedule & !MODIFIERS {
        CHUNKED => ((context.id(), context.team().size), true),
        BLOCKS => ((context.id(), context.team().size), false),
        TEAMS_CHUNKED => (context.league.get(), true),
        TEAMS_BLOCKS => (context.league.get(), false),
        other => fatal(format_args!(
            "a loop with LLVM's static schedule {other}; expected 33, 34, 91 or 92"
        )),
    };
    (id, size, is_chunked.then_some(chunk))
}

impl Bounds {
    /// The number of iterations.
    pub(super) fn trips(self) -> u64 {
        let Self { lower, upper, step } = self;
        let is_empty = (step > 0 && upper < lower) || (step < 0 && upper > lower);
        if step == 0 || is_empty {
            return 0;
        }
        // A loop over all 2^64 numbers of a type has one iteration more than can be counted.
        u64::try_from((upper - lower) / step + 1).unwrap_or(u64::MAX)
    }

    /// The part of member `id` of `size`. With a chunk, the bounds are those of the member's first chunk.
    pub(super) fn part(self, id: u32, size: u32, chunk: Option<i128>) -> Part {
        let Self { lower, upper, step } = self;
        let trips = i128::from(self.trips());
        if trips == 0 {
            return Part {
                lower,
                upper,
                stride: step,
                is_last: false,
            };
        }
        let (id, size) = (u64::from(id), u64::from(size));
        if let Some(chunk) = chunk.map(|chunk| chunk.max(1)) {
            let span = chunk * step;
            let lower = lower + span * i128::from(id);
            return Part {
                lower,
                upper: lower + span - step,
                stride: span * i128::from(size),
                is_last: (trips - 1) / chunk % i128::from(size) == i128::from(id),
            };
        }
        let (from, to) = block(self.trips(), id, size);
        let last = i128::from(to) == trips;
        Part {
            lower: lower + i128::from(from) * step,
            upper: lower + (i128::from(to) - 1) * step,
            stride: trips * step,
            is_last: last && from < to,
        }
    }
}

/// Exports the function for each type of loop.
macro_rules! names {
    ($($number:ty, $signed:ty: $name:ident;)*) => {
        $(export! {
            fn $name(
                _place: Place, _number: c_int, schedule: c_int, last: *mut c_int,
                lower: *mut $number, upper: *mut $number, stride: *mut $signed,
                step: $signed, chunk: $signed,
            ) {
                let (id, size, chunk) = division(context(), schedule, i128::from(chunk));
                // SAFETY: the compiler passes the addresses of variables.
                unsafe {
                    let bounds = Bounds {
                        lower: i128::from(*lower),
                        upper: i128::from(*upper),
                        step: i128::from(step),
                    };
                    let part = bounds.part(id, size, chunk);
                    // Bounds beyond the range of the type wrap, like the program's own arithmetic.
                    lower.write(part.lower as $number);
                    upper.write(part.upper as $number);
                    stride.write(part.stride as $signed);
                    if !last.is_null() {
                        last.write(c_int::from(part.is_last));
                    }
                }
            }
        })*
    };
}

names! {
    i32, i32: __kmpc_for_static_init_4;
    u32, i32: __kmpc_for_static_init_4u;
    i64, i64: __kmpc_for_static_init_8;
    u64, i64: __kmpc_for_static_init_8u;
}

export! {
    fn __kmpc_for_static_fini(_place: Place, _number: c_int) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The iterations of all members, computed as compiled loops do.
    fn walk(bounds: Bounds, size: u32, chunk: Option<i128>) -> Vec<i128> {
        let mut found = vec![];
        let mut lasts = 0;
        for id in 0..size {
            let part = bounds.part(id, size, chunk);
            let (mut lower, mut upper) = (part.lower, part.upper);
            let goes = |at: i128, to: i128| if bounds.step > 0 { at <= to } else { at >= to };
            let mut own = vec![];
            loop {
                if goes(bounds.upper, upper) {
                    upper = bounds.upper;
                }
                if !goes(lower, upper) {
                    break;
                }
                let mut at = lower;
                while goes(at, upper) {
                    own.push(at);
                    at += bounds.step;
                }
                if chunk.is_none() {
                    break;
                }
                (lower, upper) = (lower + part.stride, upper + part.stride);
            }
            let last = bounds.trips().checked_sub(1);
            let last = last.map(|trip| bounds.lower + i128::from(trip) * bounds.step);
            assert_eq!(part.is_last, last.is_some_and(|last| own.contains(&last)));
            lasts += usize::from(part.is_last);
            found.extend(own);
        }
        assert_eq!(lasts, usize::from(bounds.trips() > 0));
        found.sort_unstable();
        found
    }

    #[test]
    fn each_iteration_belongs_to_one_member() {
        for (lower, upper) in [(0, 0), (0, 9), (5, 4), (-7, 20), (9, 0), (3, -30)] {
            for step in [-7, -1, 1, 2, 5] {
                let bounds = Bounds { lower, upper, step };
                let mut all: Vec<i128> = vec![];
                let mut at = lower;
                while (step > 0 && at <= upper) || (step < 0 && at >= upper) {
                    all.push(at);
                    at += step;
                }
                all.sort_unstable();
                for size in 1..6 {
                    for chunk in [None, Some(1), Some(3), Some(40)] {
                        assert_eq!(
                            walk(bounds, size, chunk),
                            all,
                            "{bounds:?} {size} {chunk:?}"
                        );
                    }
                }
            }
        }
    }
}
