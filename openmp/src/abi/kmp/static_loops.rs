//! Loops with a static schedule: each member computes its iterations, without waiting for another member.

use super::{Place, export};
use crate::system::report::fatal;
use crate::team::context::{Context, context};
use crate::team::share::block;
use std::ffi::c_int;

/// The numbers of schedules: chunks in turn, one block for each member, one block of whole chunks for each member, and
/// the first two of these among the teams of a league.
const CHUNKED: c_int = 33;
const BLOCKS: c_int = 34;
pub(super) const BALANCED: c_int = 45;
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

/// How the schedule divides a loop of `trips` iterations: the number of the caller's part, the number of parts, and the
/// chunk, if the schedule has one.
pub(super) fn division(
    context: &Context,
    schedule: c_int,
    chunk: i128,
    trips: u64,
) -> (u32, u32, Option<i128>) {
    let member = (context.id(), context.team().size);
    let ((id, size), chunk) = match schedule & !MODIFIERS {
        CHUNKED => (member, Some(chunk)),
        BLOCKS => (member, None),
        // In some combined loops with chunks of 1, clang adds the stride after each iteration. That is right for chunks
        // in turn only.
        BALANCED if chunk <= 1 => (member, Some(1)),
        BALANCED => (member, Some(balanced(trips, member.1, chunk))),
        TEAMS_CHUNKED => (context.league.get(), Some(chunk)),
        TEAMS_BLOCKS => (context.league.get(), None),
        other => fatal(format_args!(
            "a loop with LLVM's static schedule {other}; expected 33, 34, 45, 91 or 92"
        )),
    };
    (id, size, chunk)
}

/// The size of the block of each of `size` members, in whole chunks. Clang asks for this by `simd:static`, so that only
/// the last block has a part of a vector.
pub(super) fn balanced(trips: u64, size: u32, chunk: i128) -> i128 {
    let chunk = chunk.max(1);
    let block = i128::from(trips.div_ceil(u64::from(size)));
    (block + chunk - 1) / chunk * chunk
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
            return self.chunks(i128::from(id), i128::from(size), chunk);
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

    /// The part of a member in a loop with iterations, by chunks. Compiled loops add in the type of their bounds, so
    /// bounds beyond the loop could wrap into it. So the part of a member with a single chunk ends with the loop. The
    /// bounds of a member with more chunks still wrap if the loop ends near the end of its type. No constant stride
    /// prevents that, and the loop then has no end, as with LLVM's library.
    fn chunks(self, id: i128, size: i128, chunk: i128) -> Part {
        let Self { lower, upper, step } = self;
        let trips = i128::from(self.trips());
        let chunks = (trips - 1) / chunk + 1;
        if id >= chunks {
            // In some combined loops with chunks of 1, clang compares `lower` with the end of the whole loop.
            return Part {
                lower: upper + step,
                upper,
                stride: step,
                is_last: false,
            };
        }
        let from = lower + chunk * id * step;
        let to = from + chunk * step;
        let is_single = id + size >= chunks;
        Part {
            lower: from,
            upper: if id + 1 == chunks { upper } else { to - step },
            stride: if is_single {
                upper + step.signum() - from
            } else {
                chunk * size * step
            },
            is_last: (chunks - 1) % size == id,
        }
    }
}

impl Part {
    /// The part for a loop with this step in a type for which `fits` holds. An empty part may begin beyond the type,
    /// and would wrap there. It becomes a part that is empty in each type.
    pub(super) fn within(self, step: i128, fits: impl Fn(i128) -> bool) -> Self {
        let is_empty = match step > 0 {
            true => self.lower > self.upper,
            false => self.lower < self.upper,
        };
        if !is_empty || (fits(self.lower) && fits(self.upper)) {
            return self;
        }
        let (lower, upper) = if step > 0 { (1, 0) } else { (0, 1) };
        Self {
            lower,
            upper,
            ..self
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
                // SAFETY: the compiler passes the addresses of variables.
                unsafe {
                    let bounds = Bounds {
                        lower: i128::from(*lower),
                        upper: i128::from(*upper),
                        step: i128::from(step),
                    };
                    let (id, size, chunk) =
                        division(context(), schedule, i128::from(chunk), bounds.trips());
                    let fits = |at| <$number>::try_from(at).is_ok();
                    let part = bounds.part(id, size, chunk).within(bounds.step, fits);
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
mod tests;
