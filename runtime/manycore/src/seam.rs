//! Access for the crate `rayon-core` and the laboratory, which are built on this crate. It is not part of the public
//! interface, and may change in any release.

pub use crate::loops::{Divided, divided};
pub use crate::partition::{Claims, Partition};
pub use crate::pool::{BuilderExt, Probe, ThreadStart};
pub use crate::sleep::{Idle, Latch, Left, Scan, Seen, Setup, Tally};
#[cfg(feature = "policies")]
pub use crate::sleep::{Looking, Make, Policy, Remembered, Sleep};

use crate::partition::Partitioner;
use crate::pool::{BuildError, Builder, FnContext, Making, Pool};
use manycore_platform::Platform;
use std::io;

/// A partitioner by which each thread claims blocks of this number of `iterations` from its own range. When the range
/// is empty, the thread takes half of the range of another thread.
#[must_use]
pub fn sharded(iterations: usize) -> Partitioner {
    Partitioner::sharded(iterations)
}

/// Counts of the sleeps and wake-ups of `pool`'s workers since the pool was made.
pub fn tally<P: Platform>(pool: &Pool<P>) -> Tally {
    pool.registry().tally()
}

/// Whether this thread is part of a pool: its worker, or its caller within a call. This never waits. In contrast,
/// [`current_thread_index`](crate::current_thread_index) may wait in a handler.
///
/// ```
/// assert!(!manycore::seam::is_in_a_pool());
/// manycore::join(|| assert!(manycore::seam::is_in_a_pool()), || ());
/// ```
#[inline]
#[must_use]
pub fn is_in_a_pool() -> bool {
    crate::pool::is_in_a_pool()
}

/// The state of `pool`. Reads two words for each thread, and writes nothing.
///
/// ```
/// let pool = manycore::Pool::builder().threads(1).build()?;
/// let (probe, ()) = pool.join(|| manycore::seam::probe(&pool), || ());
/// assert_eq!(probe.joining, 1);
/// # Ok::<(), manycore::BuildError>(())
/// ```
pub fn probe<P: Platform>(pool: &Pool<P>) -> Probe {
    pool.registry().probe()
}

/// Makes the pool that `builder` describes. `name_of`, if given, names each thread just before it is made. `make`, if
/// given, makes the threads.
///
/// The current thread calls `make` for each thread of the pool. `make` makes another thread [run](ThreadStart::run)
/// its argument. Such a pool is [dedicated](Builder::dedicated), has no [reserve](BuilderExt::reserve), and binds no
/// threads. The pool's end does not wait for these threads, but the code that has made them may.
///
/// # Errors
///
/// As [`Builder::build`]. An error of `make` is a [`BuildError::Spawn`].
///
/// ```
/// use manycore::{Pool, seam};
///
/// let mut threads = Vec::new();
/// let mut make = |start: seam::ThreadStart| {
///     threads.push(std::thread::spawn(|| start.run()));
///     Ok(())
/// };
/// let pool = seam::build(&Pool::builder().threads(2), None, Some(&mut make))?;
/// assert_eq!(pool.join(|| 1, || 2), (1, 2));
/// drop(pool);
/// threads.into_iter().for_each(|thread| thread.join().unwrap());
/// # Ok::<(), manycore::BuildError>(())
/// ```
pub fn build(
    builder: &Builder,
    name_of: Option<&dyn Fn(usize) -> String>,
    make: Option<&mut dyn FnMut(ThreadStart) -> io::Result<()>>,
) -> Result<Pool, BuildError> {
    builder.build_on_this_host(Making {
        name_of,
        maker: make,
    })
}

/// Returns the global pool of this process. `make` makes the pool at the first call.
///
/// # Errors
///
/// Returns the errors of `make`.
pub fn global<E>(make: impl FnOnce() -> Result<Pool, E>) -> Result<&'static Pool, E> {
    Pool::global_or_made(make).map(|(pool, _)| pool)
}

/// Makes the global pool by `make`. Returns `false` if there is one already.
///
/// # Errors
///
/// Returns the errors of `make`.
pub fn make_global<E>(make: impl FnOnce() -> Result<Pool, E>) -> Result<bool, E> {
    Pool::global_or_made(make).map(|(_, made)| made)
}

/// [`join_context`](crate::join_context), but a thread that is in no pool uses the pool that `elsewhere` returns.
///
/// # Panics
///
/// Panics like [`join`](crate::join).
#[inline]
pub fn join_context<A, B, RA, RB>(a: A, b: B, elsewhere: fn() -> &'static Pool) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    crate::pool::join_context_here_or(a, b, elsewhere)
}
