//! The one type parameter of a pool: where it runs, and how its idle workers wait.

use crate::sleep::parts::Setup;
use crate::sleep::{Nearest, Sleep};
use manycore_platform::Platform;

/// Where a pool runs, and how its idle workers wait for jobs.
///
/// Every [`Platform`] is a world: a pool in it has the default sleep policy, [`Nearest`]. Only who
/// compares policies writes another one.
///
/// ```
/// use manycore::sleep::Nearest;
/// use manycore::{Native, Platform, Pool, World};
///
/// /// The default policy on any platform, by another name.
/// struct Again<P>(std::marker::PhantomData<P>);
///
/// impl<P: Platform> World for Again<P> {
///     type Platform = P;
///     type Sleep = Nearest<P>;
/// }
///
/// let builder = Pool::builder().threads(2).in_world::<Again<Native>>(Nearest::new);
/// assert_eq!(builder.build()?.join(|| 1, || 2), (1, 2));
/// # Ok::<(), manycore::BuildError>(())
/// ```
pub trait World: Sized + 'static {
    /// Where it runs: on this machine, on a simulated one, or under a model checker.
    type Platform: Platform;

    /// How its idle workers wait: a type, so that what a `join` asks of it is compiled into the
    /// `join`.
    type Sleep: Sleep<Self::Platform>;
}

impl<P: Platform> World for P {
    type Platform = P;
    type Sleep = Nearest<P>;
}

/// How a world's policy is made.
pub type Make<W> = fn(&Setup<'_, <W as World>::Platform>) -> <W as World>::Sleep;
