//! Checks that a loop runs every iteration exactly once and that each iteration does its work.

use crate::Load;
use manycore_platform::Platform;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// A fault of a loop: the first by index.
///
/// ```
/// use manycore_programs::{Fault, Tiny, audit};
/// use manycore_platform::Native;
///
/// let twice = audit::<Native, _>(&Tiny::new(8, 0), |n, body| {
///     (0..n).for_each(body);
///     body(5);
/// });
/// assert_eq!(twice, Err(Fault::Repeated { index: 5, times: 2 }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The iteration never ran.
    #[error("iteration {index} never ran")]
    Skipped {
        /// The iteration.
        index: usize,
    },
    /// The iteration ran more than once.
    #[error("iteration {index} ran {times} times")]
    Repeated {
        /// The iteration.
        index: usize,
        /// How often it ran.
        times: u32,
    },
    /// The body was called for an iteration that the loop does not have.
    #[error("iteration {index} ran, but the loop has only {iterations}")]
    OutOfRange {
        /// The iteration.
        index: usize,
        /// The number of iterations of the loop.
        iterations: usize,
    },
    /// The iteration ran once and left a wrong result.
    #[error("iteration {index} left a wrong result")]
    Wrong {
        /// The iteration.
        index: usize,
    },
}

/// The bit that marks the count of an iteration with a wrong result.
const WRONG: u32 = 1 << 31;

/// Runs `load` once. `run_loop` receives the number of iterations and the body to call for each. `audit`
/// checks that the body was called once for each index and did its work.
///
/// The counters cost more than a short iteration, so do not time an audited run.
///
/// # Errors
///
/// The first [`Fault`].
///
/// ```
/// use manycore_programs::{Irregular, audit};
/// use manycore_platform::Native;
///
/// let load = Irregular::heavy_tailed(100, 10_000, 1);
/// audit::<Native, _>(&load, |n, body| {
///     std::thread::scope(|scope| {
///         scope.spawn(|| (0..n / 2).for_each(body));
///         (n / 2..n).for_each(body);
///     });
/// })
/// .unwrap();
/// ```
pub fn audit<P: Platform, L: Load>(
    load: &L,
    run_loop: impl FnOnce(usize, &(dyn Fn(usize) + Sync)),
) -> Result<(), Fault> {
    let iterations = load.iterations();
    let counts: Vec<AtomicU32> = (0..iterations).map(|_| AtomicU32::new(0)).collect();
    let outside = AtomicUsize::new(usize::MAX);
    run_loop(iterations, &|index| match counts.get(index) {
        None => {
            outside.fetch_min(index, Ordering::Relaxed);
        }
        Some(count) => {
            count.fetch_add(1, Ordering::Relaxed);
            if !load.run_and_check::<P>(index) {
                count.fetch_or(WRONG, Ordering::Relaxed);
            }
        }
    });
    // Relaxed suffices. If the loop returned before its bodies were done, the counters miss those bodies, and the audit
    // reports this fault.
    for (index, count) in counts.iter().enumerate() {
        let count = count.load(Ordering::Relaxed);
        match count & !WRONG {
            0 => return Err(Fault::Skipped { index }),
            1 if count & WRONG != 0 => return Err(Fault::Wrong { index }),
            1 => {}
            times => return Err(Fault::Repeated { index, times }),
        }
    }
    match outside.into_inner() {
        usize::MAX => Ok(()),
        index => Err(Fault::OutOfRange { index, iterations }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tiny;
    use manycore_platform::Native;

    /// A load whose iteration 3 is wrong.
    struct Spoiled;

    impl Load for Spoiled {
        fn iterations(&self) -> usize {
            5
        }
        fn run<P: Platform>(&self, _: usize) {}
        fn run_and_check<P: Platform>(&self, index: usize) -> bool {
            index != 3
        }
    }

    fn verdict(indices: &[usize]) -> Result<(), Fault> {
        audit::<Native, _>(&Tiny::new(4, 0), |_, body| {
            indices.iter().for_each(|&index| body(index));
        })
    }

    #[test]
    fn a_right_loop_in_any_order_passes() {
        assert_eq!(verdict(&[2, 0, 3, 1]), Ok(()));
    }

    #[test]
    fn a_skipped_a_repeated_and_a_foreign_index_are_caught() {
        assert_eq!(verdict(&[0, 1, 3]), Err(Fault::Skipped { index: 2 }));
        let repeated = Fault::Repeated { index: 1, times: 3 };
        assert_eq!(verdict(&[0, 1, 1, 1, 2, 3]), Err(repeated));
        let foreign = Fault::OutOfRange {
            index: 4,
            iterations: 4,
        };
        assert_eq!(verdict(&[0, 1, 2, 3, 4]), Err(foreign));
    }

    #[test]
    fn a_wrong_result_is_caught() {
        let verdict = audit::<Native, _>(&Spoiled, |n, body| (0..n).for_each(body));
        assert_eq!(verdict, Err(Fault::Wrong { index: 3 }));
    }
}
