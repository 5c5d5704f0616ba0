//! Loops: what all schedules and both kinds of numbers share.

use super::export;
use crate::environment::icv::{Kind, MONOTONIC};
use crate::system::report::fatal;
use crate::tasking::meet;
use crate::team::context::{Context, context};
use crate::team::share::{Deal, Plan, Share, Space};
use std::ffi::{c_long, c_void};
use std::sync::atomic::Ordering::SeqCst;

/// Iterations that are given out together; 0: as the schedule has it.
#[derive(Clone, Copy)]
pub(super) struct Chunk(u64);

impl From<c_long> for Chunk {
    fn from(chunk: c_long) -> Self {
        Self(u64::try_from(chunk).unwrap_or(0))
    }
}

impl From<u64> for Chunk {
    fn from(chunk: u64) -> Self {
        Self(chunk)
    }
}

/// The runtime's schedule for the current task.
pub(super) fn by_runtime(context: &Context) -> (Deal, Chunk) {
    let schedule = context.task().icv.get().schedule;
    let chunk = Chunk::from(c_long::from(schedule.chunk));
    match schedule.kind {
        Kind::Static => (Deal::Static, chunk),
        Kind::Auto => (Deal::Static, Chunk(0)),
        Kind::Dynamic => (Deal::Dynamic, chunk),
        Kind::Guided => (Deal::Guided, chunk),
    }
}

/// A schedule as a number, of `GOMP_loop_start` and the like. 0 is the runtime's, and so is 4, by
/// which programs say that they ask for no order.
pub(super) fn by_number(context: &Context, number: c_long, chunk: Chunk) -> (Deal, Chunk) {
    match number as u32 & !MONOTONIC {
        0 | 4 => by_runtime(context),
        1 => (Deal::Static, chunk),
        2 => (Deal::Dynamic, chunk),
        3 => (Deal::Guided, chunk),
        _ => fatal(format_args!(
            "a loop with schedule {number:#x}; expected 0 to 4, perhaps with 0x80000000"
        )),
    }
}

/// Writes what a loop is. The first member to come to it does.
pub(super) fn plan(to: &mut Plan, space: Space, deal: Deal, Chunk(chunk): Chunk) {
    to.space = space;
    to.deal = deal;
    to.chunk = if deal == Deal::Static {
        chunk
    } else {
        chunk.max(1)
    };
    // Members add a chunk each beyond the end before they see that it is reached.
    let overshoot = to.chunk.checked_mul(1 << 16);
    to.careful = overshoot
        .and_then(|more| space.trips.checked_add(more))
        .is_none();
}

/// The member comes to a loop, and claims iterations later.
pub(super) fn begin(context: &Context, space: Space, (deal, chunk): (Deal, Chunk)) {
    context.come(|to| plan(to, space, deal, chunk));
}

/// The member's next iterations of the loop that it is in.
pub(super) fn next(context: &Context) -> Option<(u64, u64)> {
    let seat = &context.seat;
    let share = current(context)?;
    let (from, to) = share.claim(context.id(), context.team().size, &seat.trip)?;
    seat.chunk.set((from, to));
    Some(share.plan().space.values(from, to))
}

/// The same in a loop with ordered regions: earlier iterations finish their regions first.
pub(super) fn next_ordered(context: &Context) -> Option<(u64, u64)> {
    let (from, to) = context.seat.chunk.replace((0, 0));
    if from < to {
        await_turn(context, from);
        let share = current(context)?;
        share.claims.ordered.store(to, SeqCst);
        context.team().bell.ring();
    }
    next(context)
}

/// Waits until the ordered regions of all iterations before `from` are done.
fn await_turn(context: &Context, from: u64) {
    if let Some(share) = current(context) {
        let turn = || share.claims.ordered.load(SeqCst) == from;
        context.team().bell.wait_until(&context.carried, &turn);
    }
}

/// An ordered region of the iterations that the member has.
pub(super) fn begin_ordered(context: &Context) {
    let (from, to) = context.seat.chunk.get();
    if from < to {
        await_turn(context, from);
    }
}

pub(super) fn current(context: &Context) -> Option<&Share> {
    // SAFETY: a share of the current team, or null.
    unsafe { context.seat.share.get().as_ref() }
}

/// Hands out what was claimed.
pub(super) fn give<T: Number>(values: Option<(u64, u64)>, start: *mut T, end: *mut T) -> bool {
    let Some((from, to)) = values else {
        return false;
    };
    // SAFETY: the compiler's variables.
    unsafe {
        start.write(T::from_bits(from));
        end.write(T::from_bits(to));
    }
    true
}

/// A loop's type of number.
pub(super) trait Number {
    fn from_bits(bits: u64) -> Self;
}

impl Number for c_long {
    fn from_bits(bits: u64) -> Self {
        bits as Self
    }
}

impl Number for u64 {
    fn from_bits(bits: u64) -> Self {
        bits
    }
}

/// Arguments of `GOMP_loop_start` and the like in addition to the loop.
pub(super) struct Extras {
    /// Reductions over tasks, or null.
    pub(super) reductions: *mut usize,
    /// On entry the size of memory that the members want, on return its address; or null.
    pub(super) memory: *mut *mut c_void,
}

/// The member comes to a share with extras, which `make` describes.
pub(super) fn begin_with(context: &Context, extras: &Extras, make: impl FnOnce(&mut Plan)) {
    if !extras.reductions.is_null() {
        crate::tasking::begin_group(context, true);
    }
    let first = context.come(|to| {
        make(to);
        if !extras.reductions.is_null() {
            // SAFETY: the compiler's description.
            unsafe {
                crate::tasking::reduction::register_group(
                    context,
                    extras.reductions,
                    std::ptr::null(),
                );
            }
            to.reductions = extras.reductions;
        }
        if !extras.memory.is_null() {
            // SAFETY: the compiler's variable.
            let bytes = unsafe { *extras.memory } as usize;
            to.memory = vec![0; bytes.div_ceil(8)];
        }
    });
    let Some(share) = current(context) else {
        return;
    };
    if !first && !extras.reductions.is_null() {
        // SAFETY: the compiler's description; the first member's is registered.
        unsafe {
            let other = share.plan().reductions;
            crate::tasking::reduction::register_group(context, extras.reductions, other);
        }
    }
    if !extras.memory.is_null() {
        // SAFETY: the compiler's variable.
        unsafe { *extras.memory = share.plan().memory.as_ptr().cast_mut().cast() };
    }
}

export! {
    fn GOMP_loop_end() {
        let context = context();
        context.leave();
        meet(context, false);
    }

    fn GOMP_loop_end_nowait() {
        let context = context();
        context.leave();
    }

    fn GOMP_loop_end_cancel() -> bool {
        let context = context();
        context.leave();
        meet(context, true)
    }

    fn GOMP_ordered_start() {
        begin_ordered(context());
    }

    fn GOMP_ordered_end() {}
}
