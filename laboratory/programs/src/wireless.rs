//! The model checkers' platforms as platforms without a broadcast network.

use manycore_chip::Broadcast;
use manycore_platform::{Platform, forward};
use std::convert::Infallible;
use std::marker::PhantomData;

/// The platform `P`, for code that needs [`Broadcast`].
pub(crate) struct Wireless<P>(PhantomData<P>);

// SAFETY: all functions are functions of `P`, which keeps the promises.
unsafe impl<P: Platform> Platform for Wireless<P> {
    forward!(P: cells fences threads slot rest);
}

impl<P: Platform> Broadcast for Wireless<P> {
    type Channel = Infallible;
}

pub(crate) type Loom = Wireless<manycore_check::Loom>;
pub(crate) type Shuttle = Wireless<manycore_check::Shuttle>;
pub(crate) type Faulty<P, F> = Wireless<manycore_check::Faulty<P, F>>;
