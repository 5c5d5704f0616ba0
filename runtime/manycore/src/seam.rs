//! The one way into this crate for what is built on it beside programs: the crate `rayon-core`, and
//! the laboratory. It is no part of the interface, and may change in any release.

pub use crate::pool::Probe;
pub use crate::sleep::{Idle, Latch, Left, Scan, Setup, Tally};
#[cfg(feature = "policies")]
pub use crate::sleep::{Looking, Make, Policy, Remembered, Sleep};

use crate::pool::{BuildError, Builder, FnContext, Making, Pool, ThreadStart};
use manycore_platform::Platform;
use std::io;

/// A builder of pools whose sleep policy `make` makes, in the place of the default one.
#[cfg(feature = "policies")]
#[must_use]
pub fn with_policy<P: Platform>(builder: Builder<P>, make: Option<Make<P>>) -> Builder<P> {
    builder.with_policy(make)
}

/// What the workers of `pool` have done about sleeping since it was made.
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

/// A pool as `builder` describes it, whose threads `name_of` gives names to, if there is one, and
/// `make` makes, if there is one: as [`Builder::names`] and [`Builder::build_with`], but with
/// functions that need not outlive the call. A name is asked for just before its thread is made.
///
/// # Errors
///
/// As [`Builder::build`] and [`Builder::build_with`].
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

/// The global pool of this process, made by `make` if there is none yet.
///
/// # Errors
///
/// Those of `make`.
pub fn global<E>(make: impl FnOnce() -> Result<Pool, E>) -> Result<&'static Pool, E> {
    Pool::global_or_made(make).map(|(pool, _)| pool)
}

/// Makes the global pool by `make`; `false`: there is one.
///
/// # Errors
///
/// Those of `make`.
pub fn make_global<E>(make: impl FnOnce() -> Result<Pool, E>) -> Result<bool, E> {
    Pool::global_or_made(make).map(|(_, made)| made)
}

/// [`join_context`](crate::join_context), but a thread that is in no pool uses the one that
/// `elsewhere` has.
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
