//! Implements `Sealed` for each parallel iterator (`sealed.rs` says why).

use super::sealed::Sealed;
use super::*;

macro_rules! sealed {
    ($([$($parameters:ident),*] $iterator:ty;)*) => {
        $(impl<$($parameters),*> Sealed for $iterator {})*
    };
}

sealed! {
    [T] RangeIter<T>;
    [T] VecIter<T>;
    [T] SliceIter<'_, T>;
    [T] SliceIterMut<'_, T>;
    [T] Chunks<'_, T>;
    [T] ChunksMut<'_, T>;
    [T] Windows<'_, T>;
    [I] Bridge<I>;
    [I, F] Map<I, F>;
    [I, F] Filter<I, F>;
    [I, F] FilterMap<I, F>;
    [I, F] FlatMap<I, F>;
    [I] Flatten<I>;
    [I, F] Inspect<I, F>;
    [I] Copied<I>;
    [I] Cloned<I>;
    [I, D, F] Fold<I, D, F>;
    [I, T, D, F] MapInit<I, T, D, F>;
    [I, F] Update<I, F>;
    [I] Enumerate<I>;
    [A, B] Zip<A, B>;
    [I] Rev<I>;
    [I] StepBy<I>;
    [A, B] Chain<A, B>;
}
