//! Runs simulations side by side on this host's cores.

use anyhow::Context;
use manycore::{Partitioner, Pool};
use std::sync::OnceLock;

/// The pool of threads that simulate. There is only one, so that a call may itself run simulations side by side.
pub(crate) fn host() -> anyhow::Result<&'static Pool> {
    static HOST: OnceLock<Pool> = OnceLock::new();
    if HOST.get().is_none() {
        let pool = Pool::builder()
            .build()
            .context("cannot start the threads that simulate")?;
        // Another thread may have made the pool first.
        let _ = HOST.set(pool);
    }
    HOST.get().context("cannot start the threads that simulate")
}

/// Calls `run` with each number below `count`. Each thread of the host runs one call at a time. The results are in the
/// order of the numbers.
pub(crate) fn side_by_side<T: Send + Sync>(
    host: &Pool,
    count: usize,
    run: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let results: Vec<OnceLock<T>> = (0..count).map(|_| OnceLock::new()).collect();
    let one_by_one = host.with(Partitioner::fixed_block(1));
    one_by_one.parallel_for(0..count, |at| {
        // Each result is set only once.
        let _ = results[at].set(run(at));
    });
    results
        .into_iter()
        .filter_map(OnceLock::into_inner)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_their_order_and_calls_may_be_nested() {
        let host = host().unwrap();
        let nested = side_by_side(host, 5, |a| side_by_side(host, 3, |b| 10 * a + b));
        let all: Vec<usize> = nested.into_iter().flatten().collect();
        let expected: Vec<usize> = (0..5)
            .flat_map(|a| (0..3).map(move |b| 10 * a + b))
            .collect();
        assert_eq!(all, expected);
    }
}
