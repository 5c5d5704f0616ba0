//! Single loops.

use super::{Failure, expect};
use crate::calls::Calls;
use crate::runtime::Runtime;
use crate::work::{FIFTH_OF_A_US, mix, spin};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

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

/// Iterations of some ten instructions.
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

/// Iterations of some 0.2 us.
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

/// Iterations of some 20 us.
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

/// Iterations whose cost grows with the index, of some 0.2 us in the mean.
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

/// A sum of 65,536 terms of some ten instructions.
pub(super) fn reduce<R: Runtime>(
    context: &mut R::Context<'_>,
    calls: &mut Calls,
) -> Result<(), Failure> {
    let mut sum = 0;
    calls.make(|call| sum = R::sum(context, FINE, |at| mix(at as u64 ^ call)));
    let right = (0..FINE as u64).fold(0, |sum: u64, at| sum.wrapping_add(mix(at ^ calls.last())));
    expect("the sum", sum, right)
}

/// A value an iteration. A relaxed store is an ordinary one of the processor.
pub(super) struct Results(Vec<AtomicU64>);

impl Results {
    pub(super) fn new(count: usize) -> Self {
        Self((0..count).map(|_| AtomicU64::new(0)).collect())
    }

    #[inline(always)]
    pub(super) fn set(&self, at: usize, value: u64) {
        self.0[at].store(value, Relaxed);
    }

    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> u64 {
        self.0[at].load(Relaxed)
    }

    /// Compares all with what is right.
    pub(super) fn expect(&self, right: impl Fn(u64) -> u64) -> Result<(), Failure> {
        (0..self.0.len())
            .try_for_each(|at| expect(&format!("result {at}"), self.get(at), right(at as u64)))
    }
}
