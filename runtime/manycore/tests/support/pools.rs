//! Pools to test with.

use manycore::Pool;

pub(crate) fn pool(threads: usize) -> Pool {
    Pool::builder()
        .threads(threads)
        .build()
        .expect("threads can be made")
}
