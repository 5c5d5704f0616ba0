//! manycore's pools as schedulers.

use super::Fork;
use manycore::Pool;
use manycore_platform::Platform;

/// ```
/// use manycore_programs::fork::{Algorithm, Kernel, Size};
///
/// let pool = manycore::Pool::builder().threads(2).build()?;
/// let mut kernel = Algorithm::MergeSort.prepare(1, Size::Quick);
/// pool.install(|| kernel.run(&pool));
/// kernel.verify()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<P: Platform> Fork for Pool<P> {
    type Platform = P;

    #[inline]
    fn threads(&self) -> usize {
        Pool::threads(self)
    }

    #[inline]
    fn join_context<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(bool) -> RA + Send,
        B: FnOnce(bool) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        Pool::join_context(
            self,
            |context| a(context.migrated()),
            |context| b(context.migrated()),
        )
    }
}
