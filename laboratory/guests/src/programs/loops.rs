//! Single loops.

use super::results::Results;
use super::{Failure, expect};
use crate::calls::Calls;
use crate::runtime::{Runtime, halve};
use crate::work::{FIFTH_OF_A_US, mix, spin};
use std::hint::black_box;

const FINE: usize = 65_536;
const MID: usize = 1_024;
const COARSE: usize = 64;

/// 1,000 iterations that do nothing.
pub(super) fn empty<R: Runtime>(
    context: &mut R::Context<'_>,
    calls: &mut Calls,
) -> Result<(), Failure> {
    calls.make(|_| {
        R::parallel_for(context, 1_000, |at| {
            black_box(at);
        });
    });
    Ok(())
}

/// Iterations of about ten instructions.
pub(super) fn fine<R: Runtime>(
    context: &mut R::Context<'_>,
    calls: &mut Calls,
) -> Result<(), Failure> {
    let results = Results::new(FINE);
    calls.make(|call| {
        R::parallel_for(context, FINE, |at| results.set(at, mix(at as u64 ^ call)));
    });
    results.expect(|at| mix(at ^ calls.last()))
}

/// Iterations of about 0.2 us.
pub(super) fn mid<R: Runtime>(
    context: &mut R::Context<'_>,
    calls: &mut Calls,
) -> Result<(), Failure> {
    let results = Results::new(MID);
    calls.make(|call| {
        R::parallel_for(context, MID, |at| {
            results.set(at, spin(at as u64 ^ call, FIFTH_OF_A_US));
        });
    });
    results.expect(|at| spin(at ^ calls.last(), FIFTH_OF_A_US))
}

/// The iterations of [`mid`] as tasks that one thread spawns.
pub(super) fn tasks<R: Runtime>(
    context: &mut R::Context<'_>,
    calls: &mut Calls,
) -> Result<(), Failure> {
    let results = Results::new(MID);
    calls.make(|call| {
        let task = |at: usize| results.set(at, spin(at as u64 ^ call, FIFTH_OF_A_US));
        R::fork(context, |context| R::spawn_each(context, MID, task));
    });
    results.expect(|at| spin(at ^ calls.last(), FIFTH_OF_A_US))
}

/// The iterations of [`mid`] as leaves of joins.
pub(super) fn nested<R: Runtime>(
    context: &mut R::Context<'_>,
    calls: &mut Calls,
) -> Result<(), Failure> {
    let results = Results::new(MID);
    calls.make(|call| {
        let leaf = |at: usize| results.set(at, spin(at as u64 ^ call, FIFTH_OF_A_US));
        R::fork(context, |context| halve::<R>(context, 0..MID, &leaf));
    });
    results.expect(|at| spin(at ^ calls.last(), FIFTH_OF_A_US))
}

/// Iterations of about 20 us.
pub(super) fn coarse<R: Runtime>(
    context: &mut R::Context<'_>,
    calls: &mut Calls,
) -> Result<(), Failure> {
    let results = Results::new(COARSE);
    calls.make(|call| {
        R::parallel_for(context, COARSE, |at| {
            results.set(at, spin(at as u64 ^ call, 100 * FIFTH_OF_A_US));
        });
    });
    results.expect(|at| spin(at ^ calls.last(), 100 * FIFTH_OF_A_US))
}

/// Iterations with a cost that grows with the index, 0.2 us on average.
pub(super) fn skew<R: Runtime>(
    context: &mut R::Context<'_>,
    calls: &mut Calls,
) -> Result<(), Failure> {
    let laps = |at: u64| 2 * FIFTH_OF_A_US * at / MID as u64;
    let results = Results::new(MID);
    calls.make(|call| {
        R::parallel_for(context, MID, |at| {
            let at = at as u64;
            results.set(at as usize, spin(at ^ call, laps(at)));
        });
    });
    results.expect(|at| spin(at ^ calls.last(), laps(at)))
}

/// A sum of 65,536 terms of about ten instructions.
pub(super) fn reduce<R: Runtime>(
    context: &mut R::Context<'_>,
    calls: &mut Calls,
) -> Result<(), Failure> {
    let mut sum = 0;
    calls.make(|call| sum = R::sum(context, FINE, |at| mix(at as u64 ^ call)));
    let right = (0..FINE as u64).fold(0, |sum: u64, at| sum.wrapping_add(mix(at ^ calls.last())));
    expect("the sum", sum, right)
}

/// A sum of two arrays into a third, 48 MiB together.
pub(super) fn memory<R: Runtime>(
    context: &mut R::Context<'_>,
    calls: &mut Calls,
) -> Result<(), Failure> {
    const ELEMENTS: usize = 1 << 21;
    let [a, b] = [3, 5].map(|factor| Results::from((0..ELEMENTS as u64).map(|at| factor * at)));
    let sums = Results::new(ELEMENTS);
    calls.make(|call| {
        R::parallel_for(context, ELEMENTS, |at| {
            sums.set(at, a.get(at) + (call + 1) * b.get(at));
        });
    });
    let last = calls.last();
    sums.expect(|at| 3 * at + (last + 1) * 5 * at)
}

/// The unit task of Shuai's paper: read a cache line, compute, write a line. The runtime divides
/// the loop, or blocks have a fixed size.
pub(super) fn unit<R: Runtime>(
    context: &mut R::Context<'_>,
    calls: &mut Calls,
    block: Option<usize>,
) -> Result<(), Failure> {
    const TASKS: usize = 1_024;
    const LINE: usize = 8;
    const ADDITIONS: u64 = 1_024;
    let input = Results::from((0..(TASKS * LINE) as u64).map(mix));
    let output = Results::new(TASKS * LINE);
    let task = |at: usize, call: u64| {
        let words = at * LINE..(at + 1) * LINE;
        let read = words
            .clone()
            .fold(call, |sum, at| sum.wrapping_add(input.get(at)));
        let value = add(read, ADDITIONS);
        words.for_each(|at| output.set(at, value));
    };
    calls.make(|call| match block {
        None => R::parallel_for(context, TASKS, |at| task(at, call)),
        Some(block) => R::blocks(context, TASKS, block, |range| {
            range.for_each(|at| task(at, call));
        }),
    });
    let last = calls.last();
    output.expect(|word| {
        let words = word / LINE as u64 * LINE as u64..(word / LINE as u64 + 1) * LINE as u64;
        let sum = words.fold(last, |sum, at| sum.wrapping_add(mix(at)));
        sum.wrapping_add((0..ADDITIONS).sum())
    })
}

/// Runs a chain of `additions` additions. Each loads its operand from the stack: about 4 ns
/// together.
#[inline(never)]
fn add(from: u64, additions: u64) -> u64 {
    (0..additions).fold(from, |sum, at| sum.wrapping_add(black_box(at)))
}
