//! The parts of loops that all schedules and both types of numbers share.

use super::export;
use crate::environment::icv::{Kind, MONOTONIC};
use crate::system::report::fatal;
use crate::tasking::meet;
use crate::team::context::{Context, context};
use crate::team::share::{Deal, Plan, Share, Space};
use std::ffi::{c_long, c_void};
use std::sync::atomic::Ordering::SeqCst;

/// The number of iterations that a member gets at once. 0 stands for the default of the schedule.
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

/// The current task's schedule for `schedule(runtime)`.
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

/// The schedule of a number that `GOMP_loop_start` and similar functions get. 0 is the schedule of the control
/// variables. 4 is the same schedule, for programs that need no order of the chunks.
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

/// Writes the description of a loop. The first member to enter the loop calls this.
pub(super) fn plan(to: &mut Plan, space: Space, deal: Deal, Chunk(chunk): Chunk) {
    to.space = space;
    to.deal = deal;
    to.chunk = if deal == Deal::Static {
        chunk
    } else {
        chunk.max(1)
    };
    // Each member adds a chunk beyond the end before it sees that no iteration is left. This is safe for up to 65,536
    // members.
    let overshoot = to.chunk.checked_mul(1 << 16);
    to.careful = overshoot
        .and_then(|more| space.trips.checked_add(more))
        .is_none();
}

/// Enters a loop with the calling member.
pub(super) fn begin(context: &Context, space: Space, (deal, chunk): (Deal, Chunk)) {
    context.come(|to| plan(to, space, deal, chunk));
}

/// Claims the member's next iterations of its current loop.
pub(super) fn next(context: &Context) -> Option<(u64, u64)> {
    let seat = &context.seat;
    let share = current(context)?;
    let (from, to) = share.claim(context.id(), context.team().size, &seat.trip)?;
    seat.chunk.set((from, to));
    Some(share.plan().space.values(from, to))
}

/// Like [`next`], but for a loop with ordered regions. First ends the ordered regions of the member's last iterations,
/// after those of all earlier iterations.
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

/// Begins an ordered region in the current iterations of the member.
pub(super) fn begin_ordered(context: &Context) {
    let (from, to) = context.seat.chunk.get();
    if from < to {
        await_turn(context, from);
    }
}

pub(super) fn current(context: &Context) -> Option<&Share> {
    // SAFETY: the pointer is null or leads to a share of the current team.
    unsafe { context.seat.share.get().as_ref() }
}

/// Writes the claimed iterations to the program's variables. Returns whether there are any.
pub(super) fn give<T: Number>(values: Option<(u64, u64)>, start: *mut T, end: *mut T) -> bool {
    let Some((from, to)) = values else {
        return false;
    };
    // SAFETY: the compiler passes the addresses of variables.
    unsafe {
        start.write(T::from_bits(from));
        end.write(T::from_bits(to));
    }
    true
}

/// The type of number that a loop counts in.
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

/// The additional arguments of `GOMP_loop_start` and similar functions.
pub(super) struct Extras {
    /// Reductions over tasks, or null.
    pub(super) reductions: *mut usize,
    /// Null, or the address of a word. On entry the word has the size in bytes of memory for the members, and on return
    /// the address of that memory.
    pub(super) memory: *mut *mut c_void,
}

/// Enters a share with extras. `make` writes the description of the share.
pub(super) fn begin_with(context: &Context, extras: &Extras, make: impl FnOnce(&mut Plan)) {
    if !extras.reductions.is_null() {
        crate::tasking::begin_group(context, true);
    }
    let first = context.come(|to| {
        make(to);
        if !extras.reductions.is_null() {
            // SAFETY: the compiler made the description.
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
            // SAFETY: the compiler passes the address of a variable.
            let bytes = unsafe { *extras.memory } as usize;
            to.memory = vec![0; bytes.div_ceil(8)];
        }
    });
    let Some(share) = current(context) else {
        return;
    };
    if !first && !extras.reductions.is_null() {
        // SAFETY: the compiler made the description, and that of the first member is registered.
        unsafe {
            let other = share.plan().reductions;
            crate::tasking::reduction::register_group(context, extras.reductions, other);
        }
    }
    if !extras.memory.is_null() {
        // SAFETY: the compiler passes the address of a variable.
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
