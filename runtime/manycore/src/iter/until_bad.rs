//! Collects items into an `Option` or a `Result`, and stops at a bad item.

use super::sealed::Sealed;
use super::unwinding::one_of;
use super::{FromParallelIterator, ParallelIterator};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Collects the good items, or returns a bad one. `split` separates good items from bad items.
///
/// After a bad item each thread stops before its next item. The loop discards the other blocks.
pub(super) fn until_bad<T: Send, G: Send, B: Send, C: FromParallelIterator<G>>(
    items: impl ParallelIterator<Item = T>,
    split: impl Fn(T) -> Result<G, B> + Sync,
) -> Result<C, B> {
    let seen = Bad {
        over: AtomicBool::new(false),
        first: Mutex::new(None),
    };
    let until = UntilBad {
        base: items,
        split,
        seen: &seen,
    };
    let good = C::from_par_iter(until);
    let first = seen.first.into_inner();
    match first.unwrap_or_else(PoisonError::into_inner) {
        None => Ok(good),
        Some(bad) => Err(one_of(bad, good)),
    }
}

/// The first bad item.
struct Bad<B> {
    over: AtomicBool,
    first: Mutex<Option<B>>,
}

impl<B> Bad<B> {
    #[cold]
    fn keep(&self, bad: B) {
        self.over.store(true, Relaxed);
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        // The item of another thread is dropped after the lock is released.
        let later = match *first {
            None => first.replace(bad),
            Some(_) => Some(bad),
        };
        drop(first);
        drop(later);
    }

    /// Relaxed: a thread that does not see the store yet runs more items.
    fn is_over(&self) -> bool {
        self.over.load(Relaxed)
    }
}

struct UntilBad<'a, I, F, B> {
    base: I,
    split: F,
    seen: &'a Bad<B>,
}

impl<I, F, B> Sealed for UntilBad<'_, I, F, B> {}

impl<I, G: Send, B: Send, F> ParallelIterator for UntilBad<'_, I, F, B>
where
    I: ParallelIterator,
    F: Fn(I::Item) -> Result<G, B> + Sync,
{
    type Item = G;
    const EXACT: bool = false;
    const OWNS: bool = I::OWNS;

    fn indices(&self) -> usize {
        self.base.indices()
    }

    unsafe fn block(&self, block: Range<usize>) -> impl Iterator<Item = G> {
        // SAFETY: the caller's promise.
        let mut items = unsafe { self.base.block(block) };
        std::iter::from_fn(move || {
            if self.seen.is_over() {
                return None;
            }
            let split = (self.split)(items.next()?);
            split.map_err(|bad| self.seen.keep(bad)).ok()
        })
    }

    unsafe fn discard(&self, block: Range<usize>) {
        // SAFETY: the caller's promise.
        unsafe { self.base.discard(block) };
    }
}
