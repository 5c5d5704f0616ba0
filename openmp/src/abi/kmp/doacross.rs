//! Doacross loops: iterations wait for other iterations (`ordered(n)` with `depend`).
//!
//! Other functions run the loop itself. The functions here use a second work share, which has a word for each iteration
//! of the outermost loop: the progress of the inner loops.

use super::{Place, export};
use crate::team::context::{Context, context};
use crate::team::share::Share;
use std::ffi::c_int;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

/// One loop of the nest. Both bounds are included.
#[repr(C)]
#[derive(Clone, Copy)]
struct Dimension {
    lower: i64,
    upper: i64,
    step: i64,
}

/// The words of a share for each dimension: its first value, its step, and its number of iterations.
const WORDS: usize = 3;

/// The iteration of the loop with this value, if there is one.
fn index(dimension: &[u64], value: i64) -> Option<u64> {
    let [lower, step, trips] = *dimension else {
        return None;
    };
    let steps = (i128::from(value) - i128::from(lower as i64)) / i128::from(step as i64);
    u64::try_from(steps).ok().filter(|&index| index < trips)
}

/// The word of an outermost iteration, and the value that the word has once the iteration `values` is posted. `None` if
/// there is no such iteration.
fn find(share: &Share, values: *const i64) -> Option<(&AtomicU64, u64)> {
    let plan = share.plan();
    let mut dimensions = plan.inner.chunks(WORDS).enumerate();
    // SAFETY: the array from the compiler has a value for each dimension.
    let value = |at: usize| unsafe { *values.add(at) };
    let (at, outer) = dimensions.next()?;
    let outer = index(outer, value(at))?;
    let mut number = 0_u64;
    for (at, dimension) in dimensions {
        let trips = dimension[WORDS - 1];
        number = number.wrapping_mul(trips) + index(dimension, value(at))?;
    }
    Some((plan.posted.get(outer as usize)?, number + 1))
}

fn current(context: &Context) -> Option<&Share> {
    // SAFETY: the pointer is null or leads to a share of the current team.
    unsafe { context.seat.doacross.get().0.as_ref() }
}

export! {
    fn __kmpc_doacross_init(_place: Place, _number: c_int, count: c_int, first: *const Dimension) {
        let context = context();
        super::leave_open(context);
        let count = usize::try_from(count).unwrap_or(0);
        // SAFETY: the compiler made the array.
        let dimensions = unsafe { std::slice::from_raw_parts(first, count) };
        context.come(|to| {
            let words = |it: &Dimension| {
                let span = i128::from(it.upper) - i128::from(it.lower);
                let trips = match i128::from(it.step) {
                    0 => 0,
                    step => (span / step + 1).max(0) * i128::from(span.signum() * step.signum() >= 0),
                };
                [it.lower as u64, it.step as u64, u64::try_from(trips).unwrap_or(u64::MAX)]
            };
            to.inner = dimensions.iter().flat_map(words).collect();
            // The only member of a team waits for no iteration: nothing else could post it.
            let outer = (to.inner.get(WORDS - 1)).filter(|_| context.team().size > 1).map_or(0, |&trips| trips);
            to.posted = (0..outer).map(|_| AtomicU64::new(0)).collect();
        });
        let seat = &context.seat;
        seat.doacross.set((seat.share.replace(std::ptr::null()), seat.shares.get().wrapping_sub(1)));
    }

    fn __kmpc_doacross_post(_place: Place, _number: c_int, values: *const i64) {
        let context = context();
        if let Some((word, number)) = current(context).and_then(|share| find(share, values)) {
            word.store(number, SeqCst);
            context.team().bell.ring();
        }
    }

    fn __kmpc_doacross_wait(_place: Place, _number: c_int, values: *const i64) {
        let context = context();
        if let Some((word, number)) = current(context).and_then(|share| find(share, values)) {
            let posted = || word.load(SeqCst) >= number;
            context.team().bell.wait_until(&context.carried, &posted);
        }
    }

    fn __kmpc_doacross_fini(_place: Place, _number: c_int) {
        let context = context();
        let number = context.seat.doacross.get().1;
        if let Some(share) = current(context) {
            let team = context.team();
            share.leave(number, team.size, &team.bell);
        }
        context.seat.doacross.set((std::ptr::null(), 0));
    }
}
