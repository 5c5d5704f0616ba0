//! Items that are good or bad: `Option` and `Result`.

use super::ParallelIterator;
use super::blocks::reduced;
use super::unwinding::one_of;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What [`try_for_each`](super::ParallelIterator::try_for_each) and
/// [`try_reduce`](super::ParallelIterator::try_reduce) stop at: `None`, or an error.
///
/// ```
/// use manycore::prelude::*;
///
/// let positive = |i: i32| u8::try_from(i).map(drop);
/// assert!([1, -1].par_iter().copied().try_for_each(positive).is_err());
/// ```
pub trait Tried: Sized + sealed::SealedTried {
    /// What is in it if it is good.
    type Output;

    /// One that is good.
    #[doc(hidden)]
    fn good(output: Self::Output) -> Self;

    /// What is in it, or itself, if it is bad.
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

/// As [`try_reduce`](ParallelIterator::try_reduce); `None` if there is no item.
pub(super) fn try_reduced<I: ParallelIterator<Item: Tried<Output = T>>, T>(
    items: &I,
    reduce: impl Fn(T, T) -> I::Item + Sync,
) -> Option<I::Item> {
    // Whether one was bad.
    let over = AtomicBool::new(false);
    let both = |left: T, right: I::Item| match right.branch() {
        ControlFlow::Continue(right) => reduce(left, right).branch(),
        ControlFlow::Break(bad) => ControlFlow::Break(one_of(bad, left)),
    };
    let of_range = |range| {
        // Relaxed: a thread that misses it goes on for longer, and what is good does not count any
        // more.
        if over.load(Relaxed) {
            // SAFETY: a loop gives out each index once.
            unsafe { items.discard(range) };
            return None;
        }
        // SAFETY: as above.
        let mut block = unsafe { items.block(range) };
        let (mut good, mut bad) = (None, None);
        for item in block.by_ref() {
            let flow = match good.take() {
                None => item.branch(),
                Some(left) => both(left, item),
            };
            match flow {
                ControlFlow::Continue(next) => good = Some(next),
                ControlFlow::Break(first) => {
                    over.store(true, Relaxed);
                    bad = Some(first);
                    break;
                }
            }
        }
        one_of(bad.or(good.map(I::Item::good)), block)
    };
    let either = |left: Option<I::Item>, right: Option<I::Item>| match (left, right) {
        (Some(left), Some(right)) => match left.branch() {
            ControlFlow::Continue(left) => Some(match both(left, right) {
                ControlFlow::Continue(good) => I::Item::good(good),
                ControlFlow::Break(bad) => bad,
            }),
            ControlFlow::Break(bad) => Some(one_of(bad, right)),
        },
        (left, right) => left.or(right),
    };
    reduced(items, of_range, either).flatten()
}
