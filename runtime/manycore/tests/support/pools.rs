//! Pools for tests.

use manycore::Pool;

pub(crate) fn pool(threads: usize) -> Pool {
    Pool::builder()
        .threads(threads)
        .build()
        .expect("threads can be made")
}
