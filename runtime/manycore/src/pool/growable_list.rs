//! A list that grows while other threads read it, and that never moves its entries.

use manycore_cores::sync::Lock;
use manycore_platform::{Atomic, Ordering, Platform};
use std::io;
use std::sync::OnceLock;

/// The number of entries of the first segment. Each further segment is twice as long as the previous segment.
const FIRST: usize = 8;
const SEGMENTS: usize = 12;

/// A list of entries that are numbered from 0. A pool keeps its workers in such a list: `base` has the first workers,
/// and the segments have the workers of threads that were started in place of waiting threads.
pub(super) struct GrowableList<P: Platform, T> {
    base: Box<[T]>,
    segments: [OnceLock<Box<[OnceLock<T>]>>; SEGMENTS],
    /// The number of entries, written under the lock.
    count: P::AtomicUsize,
    growing: Lock<P, ()>,
    most: usize,
}

impl<P: Platform, T> GrowableList<P, T> {
    /// Makes a list that begins with the entries `base`, and can grow to `most` entries.
    pub(super) fn new(base: Box<[T]>, most: usize) -> Self {
        Self {
            count: P::AtomicUsize::new(base.len()),
            base,
            segments: [const { OnceLock::new() }; SEGMENTS],
            growing: Lock::new(()),
            most,
        }
    }

    /// How many entries there are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        // Acquire pairs with the release in `push`: the entries below the count are visible.
        self.count.load(Ordering::Acquire)
    }

    /// The entry `index`, which must exist.
    #[inline]
    pub(super) fn get(&self, index: usize) -> &T {
        match self.base.get(index) {
            Some(entry) => entry,
            None => self.added(index - self.base.len()),
        }
    }

    #[cold]
    fn added(&self, index: usize) -> &T {
        let (segment, offset) = position(index);
        let entry = self.segments[segment]
            .get()
            .and_then(|all| all[offset].get());
        entry.expect("an entry below the count is there")
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> + Clone {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Adds the entry that `make` returns for its number, and returns the number.
    ///
    /// # Errors
    ///
    /// The error of `make`, or an error if the list is full.
    pub(super) fn push(&self, make: impl FnOnce(usize) -> io::Result<T>) -> io::Result<usize> {
        self.growing.with(|()| {
            // Relaxed: `count` is written under this lock only.
            let number = self.count.load(Ordering::Relaxed);
            let (segment, offset) = position(number - self.base.len());
            if number >= self.most || segment >= SEGMENTS {
                let what = format!("a pool has at most {} threads", self.most);
                return Err(io::Error::other(what));
            }
            let entry = make(number)?;
            let size = FIRST << segment;
            let all =
                self.segments[segment].get_or_init(|| (0..size).map(|_| OnceLock::new()).collect());
            let fresh = all[offset].set(entry).is_ok();
            debug_assert!(fresh, "each number is given once");
            self.count.store(number + 1, Ordering::Release);
            Ok(number)
        })
    }
}

/// The segment of the entry that is `index` entries after the base, and the entry's offset in the segment.
fn position(index: usize) -> (usize, usize) {
    let segment = (index / FIRST + 1).ilog2() as usize;
    (segment, index - FIRST * ((1 << segment) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_platform::Native;

    #[test]
    fn each_number_has_its_entry() {
        let list = GrowableList::<Native, usize>::new(Box::new([0, 1, 2]), 1_000);
        for number in 3..1_000 {
            assert_eq!(list.push(Ok).unwrap(), number);
            assert_eq!(list.len(), number + 1);
        }
        assert!(list.push(Ok).is_err());
        assert!(list.iter().copied().eq(0..1_000));
        assert!((0..1_000).all(|number| *list.get(number) == number));
    }

    #[test]
    fn a_failed_push_uses_no_number() {
        let list = GrowableList::<Native, usize>::new(Box::new([]), 10);
        assert!(list.push(|_| Err(io::Error::other("no"))).is_err());
        assert_eq!((list.len(), list.push(Ok).unwrap()), (0, 0));
    }
}
