//! The parts of members, put together as compiled loops do.

use super::*;

/// Keeps the bits that the type of a loop has.
type Cut = fn(i128) -> i128;

/// The iterations of all members, computed as compiled loops do.
fn walk(bounds: Bounds, size: u32, chunk: Option<i128>, cut: Cut) -> Vec<i128> {
    let mut found = vec![];
    let mut lasts = 0;
    for id in 0..size {
        let part = bounds.part(id, size, chunk);
        let part = part.within(bounds.step, |at| cut(at) == at);
        let (mut lower, mut upper) = (cut(part.lower), cut(part.upper));
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
            (lower, upper) = (cut(lower + part.stride), cut(upper + part.stride));
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
                        walk(bounds, size, chunk, |at| at),
                        all,
                        "{bounds:?} {size} {chunk:?}"
                    );
                }
            }
        }
    }
}

/// Chunks that end beyond the type of the loop. The steps are large, so that there are few iterations.
#[test]
fn chunks_at_the_limits_of_a_type() {
    let signed = |at: i128| i128::from(at as i32);
    let unsigned = |at: i128| i128::from(at as u32);
    let (most, least) = (i128::from(i32::MAX), i128::from(i32::MIN));
    let cases: [(Bounds, Cut); 5] = [
        (
            Bounds {
                lower: 0,
                upper: 2_999_999_999,
                step: 1 << 20,
            },
            unsigned,
        ),
        (
            Bounds {
                lower: 5,
                upper: i128::from(u32::MAX) - 1,
                step: 1 << 24,
            },
            unsigned,
        ),
        (
            Bounds {
                lower: 0,
                upper: most - 1,
                step: 1 << 20,
            },
            signed,
        ),
        (
            Bounds {
                lower: least,
                upper: most - (1 << 20),
                step: 1 << 20,
            },
            signed,
        ),
        (
            Bounds {
                lower: most,
                upper: least + (1 << 20),
                step: -(1 << 20),
            },
            signed,
        ),
    ];
    for (bounds, cut) in cases {
        let trips = i128::from(bounds.trips());
        let mut all: Vec<_> = (0..trips)
            .map(|trip| bounds.lower + trip * bounds.step)
            .collect();
        all.sort_unstable();
        for size in [1_u32, 2, 3, 8, 64] {
            // As many chunks as members, or fewer.
            for chunks in 1..=i128::from(size) {
                let chunk = (trips - 1) / chunks + 1;
                for chunk in [chunk, chunk + 3] {
                    assert_eq!(
                        walk(bounds, size, Some(chunk), cut),
                        all,
                        "{bounds:?} {size} {chunk}"
                    );
                }
            }
        }
    }
}

/// With chunks of 1 in a combined loop of a team, clang begins at `lower`, adds the stride after each iteration, and
/// compares with the end of the team's part. It does not read `upper`. `schedule(simd: static, 1)` has the same loop.
#[test]
fn chunks_of_one_in_combined_loops() {
    let context = context();
    for (lower, trips) in [(0, 0), (0, 3), (1, 1), (3, 3), (3, 40), (200, 7)] {
        for schedule in [CHUNKED, BALANCED] {
            let bounds = Bounds {
                lower,
                upper: lower + trips - 1,
                step: 1,
            };
            let (_, _, chunk) = division(context, schedule, 1, bounds.trips());
            for size in 1..9 {
                let mut found = vec![];
                for id in 0..size {
                    let part = bounds.part(id, size, chunk);
                    let part = part.within(1, |at| u8::try_from(at).is_ok());
                    let mut at = part.lower;
                    while at <= bounds.upper {
                        found.push(at);
                        at += part.stride;
                    }
                }
                found.sort_unstable();
                let all: Vec<_> = (lower..=bounds.upper).collect();
                assert_eq!(found, all, "schedule {schedule}, {bounds:?}, {size}");
            }
        }
    }
}

/// A part without iterations stays empty although it would begin beyond its type.
#[test]
fn empty_parts_at_the_limits_of_a_type() {
    for (upper, step) in [(i128::from(i32::MAX), 1), (i128::from(i32::MIN), -1)] {
        let bounds = Bounds {
            lower: upper - 2 * step,
            upper,
            step,
        };
        let found = walk(bounds, 5, None, |at| i128::from(at as i32));
        assert_eq!(found.len(), 3, "{bounds:?}");
    }
}

#[test]
fn balanced_chunks_are_whole() {
    assert_eq!(balanced(100, 3, 16), 48);
    assert_eq!(balanced(96, 3, 16), 32);
    assert_eq!(balanced(1, 8, 4), 4);
    assert_eq!(balanced(0, 8, 4), 0);
    assert_eq!(balanced(7, 2, 0), 4);
    assert_eq!(balanced(u64::MAX, 1, 16), 1 << 64);
}
