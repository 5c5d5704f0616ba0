//! Doacross loops: iterations wait for other iterations (`ordered(n)` with `depend`).
//!
//! Other functions run the loop itself. The functions here use a second work share. If the inner loops have at most 64
//! iterations, the share has a bit for each iteration of the whole nest. Otherwise it has a word for each iteration of
//! the outermost loop: the progress of the inner loops.

use super::{Place, export};
use crate::team::context::{Context, context};
use crate::team::share::{Share, zeros};
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

/// The number of iterations of the inner loops, and whether a bit stands for each of these.
fn inner(dimensions: &[u64]) -> (u64, bool) {
    let trips = dimensions.chunks(WORDS).skip(1).map(|it| it[WORDS - 1]);
    let inner = trips.fold(1, u64::saturating_mul);
    (inner, inner <= u64::from(u64::BITS))
}

/// The number of words for these dimensions.
fn words(dimensions: &[u64]) -> u64 {
    let outer = dimensions.get(WORDS - 1).copied().unwrap_or(0);
    match inner(dimensions) {
        (inner, true) => {
            let bits = u128::from(outer) * u128::from(inner);
            bits.div_ceil(u128::from(u64::BITS)) as u64
        }
        _ => outer,
    }
}

/// The progress of an iteration.
#[derive(Debug, PartialEq, Eq)]
enum Progress {
    /// The iteration is posted when this bit of the word is set.
    Bit(u64),
    /// The iteration is posted when the word has at least this value.
    Number(u64),
}

/// The word of the iteration `values`, and its progress there. `None` if there is no such iteration.
fn find(dimensions: &[u64], values: *const i64) -> Option<(u64, Progress)> {
    let mut all = dimensions.chunks(WORDS).enumerate();
    // SAFETY: the array from the compiler has a value for each dimension.
    let value = |at: usize| unsafe { *values.add(at) };
    let (at, outer) = all.next()?;
    let outer = index(outer, value(at))?;
    let mut number = 0_u64;
    for (at, dimension) in all {
        let trips = dimension[WORDS - 1];
        number = number.wrapping_mul(trips) + index(dimension, value(at))?;
    }
    let (inner, has_bits) = inner(dimensions);
    if !has_bits {
        return Some((outer, Progress::Number(number + 1)));
    }
    let bit = u128::from(outer) * u128::from(inner) + u128::from(number);
    let bits = u128::from(u64::BITS);
    Some(((bit / bits) as u64, Progress::Bit(1 << (bit % bits))))
}

/// Calls `what` with the word of the iteration `values` and its progress there.
fn at_word(context: &Context, values: *const i64, what: impl FnOnce(&AtomicU64, Progress)) {
    let Some(share) = current(context) else {
        return;
    };
    let plan = share.plan();
    let found = find(&plan.inner, values);
    // A team of one has no words.
    if let Some((word, progress)) =
        found.and_then(|(at, progress)| Some((plan.posted.get(at as usize)?, progress)))
    {
        what(word, progress);
    }
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
            let described = |it: &Dimension| {
                let span = i128::from(it.upper) - i128::from(it.lower);
                let trips = match i128::from(it.step) {
                    0 => 0,
                    step => (span / step + 1).max(0) * i128::from(span.signum() * step.signum() >= 0),
                };
                [it.lower as u64, it.step as u64, u64::try_from(trips).unwrap_or(u64::MAX)]
            };
            to.inner = dimensions.iter().flat_map(described).collect();
            // The only member of a team waits for no iteration: nothing else could post it.
            if context.team().size > 1 {
                to.posted = zeros(words(&to.inner));
            }
        });
        let seat = &context.seat;
        seat.doacross.set((seat.share.replace(std::ptr::null()), seat.shares.get().wrapping_sub(1)));
    }

    fn __kmpc_doacross_post(_place: Place, _number: c_int, values: *const i64) {
        let context = context();
        at_word(context, values, |word, progress| {
            // SeqCst, like all words that members wait for: the ring that follows sees a member that has looked before.
            match progress {
                Progress::Bit(bit) => _ = word.fetch_or(bit, SeqCst),
                Progress::Number(number) => word.store(number, SeqCst),
            }
            context.team().bell.ring();
        });
    }

    fn __kmpc_doacross_wait(_place: Place, _number: c_int, values: *const i64) {
        let context = context();
        at_word(context, values, |word, progress| {
            let posted = || match progress {
                Progress::Bit(bit) => word.load(SeqCst) & bit != 0,
                Progress::Number(number) => word.load(SeqCst) >= number,
            };
            context.team().bell.wait_until(&context.carried, &posted);
        });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_words_for_many_iterations() {
        let words = |trips: &[u64]| {
            let dimensions: Vec<_> = trips.iter().flat_map(|&trips| [0, 1, trips]).collect();
            words(&dimensions)
        };
        assert_eq!(words(&[2_000_000_000]), 31_250_000);
        assert_eq!(words(&[2_000_000_000, 16]), 500_000_000);
        assert_eq!(words(&[1_000, 65]), 1_000);
        assert_eq!(words(&[1_000, u64::MAX, u64::MAX]), 1_000);
        assert_eq!(words(&[0, 3]), 0);
        assert_eq!(words(&[]), 0);
    }

    #[test]
    fn each_iteration_has_its_progress() {
        for inner in [1_u64, 3, 64, 65] {
            let dimensions = [5_u64, 2, 70, 0, 1, inner];
            let mut seen = vec![];
            for outer in 0..70 {
                for at in 0..inner {
                    let values = [5 + 2 * outer, at as i64];
                    let found =
                        find(&dimensions, values.as_ptr()).expect("an iteration of the loop");
                    assert!(
                        found.0 < words(&dimensions) && !seen.contains(&found),
                        "{values:?}"
                    );
                    seen.push(found);
                }
            }
            assert_eq!(find(&dimensions, [3, 0].as_ptr()), None);
            assert_eq!(find(&dimensions, [5, inner as i64].as_ptr()), None);
        }
    }
}
