//! `Option` and `Result` as items. `Some` and `Ok` are good, `None` and `Err` are bad.

use std::ops::ControlFlow;

/// The result types of [`try_for_each`](super::ParallelIterator::try_for_each) and
/// [`try_reduce`](super::ParallelIterator::try_reduce), which stop at a bad value: `None`, or an
/// error.
///
/// ```
/// use manycore::prelude::*;
///
/// let positive = |i: i32| u8::try_from(i).map(drop);
/// assert!([1, -1].par_iter().copied().try_for_each(positive).is_err());
/// ```
pub trait Tried: Sized + sealed::SealedTried {
    /// The content of a good value.
    type Output;

    /// Makes a good value.
    #[doc(hidden)]
    fn good(output: Self::Output) -> Self;

    /// Returns the content of a good value, or `self` if it is bad.
    #[doc(hidden)]
    fn branch(self) -> ControlFlow<Self, Self::Output>;
}

mod sealed {
    pub trait SealedTried {}
    impl<T> SealedTried for Option<T> {}
    impl<T, E> SealedTried for Result<T, E> {}
}

impl<T> Tried for Option<T> {
    type Output = T;

    fn good(output: T) -> Self {
        Some(output)
    }

    fn branch(self) -> ControlFlow<Self, T> {
        match self {
            Some(output) => ControlFlow::Continue(output),
            None => ControlFlow::Break(None),
        }
    }
}

impl<T, E> Tried for Result<T, E> {
    type Output = T;

    fn good(output: T) -> Self {
        Ok(output)
    }

    fn branch(self) -> ControlFlow<Self, T> {
        match self {
            Ok(output) => ControlFlow::Continue(output),
            Err(error) => ControlFlow::Break(Err(error)),
        }
    }
}
