//! The one way into this crate for what is built on it besides programs: the crate `rayon-core`, and
//! the laboratory. It is no part of the interface, and may change in any release.

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

/// Each thread claims blocks of this number of `iterations` from a range of its own, and takes half
/// of another's when it is empty.
#[must_use]
pub fn sharded(iterations: usize) -> Partitioner {
    Partitioner::sharded(iterations)
}

/// Counts of the sleeps and wake-ups of `pool`'s workers since it was made.
pub fn tally<P: Platform>(pool: &Pool<P>) -> Tally {
    pool.registry().tally()
}

/// Looks at `pool`. Reads two words a thread, and writes nothing.
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

/// A pool as `builder` describes it. If there is a `name_of`, it names the threads; if there is a
/// `make`, it makes them. `name_of` runs just before the thread is made.
///
/// `make` is called once for each thread, on the current one, and has another thread
/// [run](ThreadStart::run) what it is given. Then the pool is [dedicated](Builder::dedicated) and has
/// no [reserve](BuilderExt::reserve), its threads are bound to nothing, and its end waits for none of
/// them: whoever has made them may.
///
/// # Errors
///
/// As [`Builder::build`]; an error of `make` is a [`BuildError::Spawn`].
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

/// The global pool of this process; `make` makes it if there is none yet.
///
/// # Errors
///
/// The errors of `make`.
pub fn global<E>(make: impl FnOnce() -> Result<Pool, E>) -> Result<&'static Pool, E> {
    Pool::global_or_made(make).map(|(pool, _)| pool)
}

/// Makes the global pool by `make`; `false`: there is one.
///
/// # Errors
///
/// The errors of `make`.
pub fn make_global<E>(make: impl FnOnce() -> Result<Pool, E>) -> Result<bool, E> {
    Pool::global_or_made(make).map(|(_, made)| made)
}

/// [`join_context`](crate::join_context), but a thread that is in no pool uses the one of
/// `elsewhere`.
///
/// # Panics
///
/// As [`join`](crate::join).
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
