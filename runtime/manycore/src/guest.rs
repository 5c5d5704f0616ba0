//! For crates that put another API over this runtime: the process's global pool, made their way.

use crate::pool::{BuildError, Builder, FnContext, Making, Pool, ThreadStart};
use std::io;

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
