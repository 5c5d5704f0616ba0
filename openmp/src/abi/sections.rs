//! Sections, and scopes.

use super::export;
use super::loops::{Extras, begin_with, current};
use crate::tasking::meet;
use crate::team::context::{Context, context};
use crate::team::share::{Deal, Plan, Space};
use std::ffi::{c_uint, c_void};

/// Sections are the iterations of a loop, numbered from 1.
pub(super) fn plan(to: &mut Plan, count: c_uint) {
    to.space = Space::signed(1, i64::from(count) + 1, 1);
    to.deal = Deal::Dynamic;
    to.chunk = 1;
    to.careful = false;
}

/// The number of the next section for the member, or 0 if none is left.
fn next(context: &Context) -> c_uint {
    let section = current(context)
        .and_then(|share| share.claim(context.id(), context.team().size, &context.seat.trip));
    section.map_or(0, |(number, _)| number as c_uint + 1)
}

export! {
    fn GOMP_sections_start(count: c_uint) -> c_uint {
        let context = context();
        context.come(|to| plan(to, count));
        next(context)
    }

    fn GOMP_sections2_start(
        count: c_uint, reductions: *mut usize, memory: *mut *mut c_void,
    ) -> c_uint {
        let context = context();
        begin_with(context, &Extras { reductions, memory }, |to| plan(to, count));
        next(context)
    }

    fn GOMP_sections_next() -> c_uint {
        next(context())
    }

    fn GOMP_sections_end() {
        let context = context();
        context.leave();
        meet(context, false);
    }

    fn GOMP_sections_end_nowait() {
        let context = context();
        context.leave();
    }

    fn GOMP_sections_end_cancel() -> bool {
        let context = context();
        context.leave();
        meet(context, true)
    }

    fn GOMP_scope_start(reductions: *mut usize) {
        let context = context();
        let extras = Extras { reductions, memory: std::ptr::null_mut() };
        begin_with(context, &extras, |to| plan(to, 0));
        // Programs call no function at the end of a scope, so the member leaves at once.
        context.leave();
    }
}
