//! Work that can be halved, and the rule by which a loop halves it.

use super::Fork;
use std::ops::Range;

/// Work that may be divided in two.
///
/// ```
/// use manycore_programs::fork::Splittable;
///
/// assert_eq!((0..5).halves(), Ok((0..2, 2..5)));
/// assert_eq!((0..1).halves(), Err(0..1));
/// ```
pub trait Splittable: Sized + Send {
    /// Returns the two halves, in order.
    ///
    /// # Errors
    ///
    /// Returns the work itself, if it is too small to be divided.
    fn halves(self) -> Result<(Self, Self), Self>;
}

impl Splittable for Range<usize> {
    fn halves(self) -> Result<(Self, Self), Self> {
        if self.len() < 2 {
            return Err(self);
        }
        let middle = self.start + self.len() / 2;
        Ok((self.start..middle, middle..self.end))
    }
}

/// A part of a slice, with its position in the slice. It is divided only at multiples of a unit.
///
/// ```
/// use manycore_programs::fork::{SlicePart, Splittable};
///
/// let mut rows = [0; 9]; // three rows of three
/// let (top, rest) = SlicePart::new(&mut rows, 3).halves().unwrap();
/// assert_eq!((top.first, top.items.len()), (0, 3));
/// assert_eq!((rest.first, rest.items.len()), (3, 6));
/// ```
#[derive(Debug, PartialEq)]
pub struct SlicePart<'a, T> {
    /// The index of the first item in the whole slice.
    pub first: usize,
    /// The items.
    pub items: &'a mut [T],
    unit: usize,
}

impl<'a, T> SlicePart<'a, T> {
    /// All of `items`. The part can be divided between units of `unit` items, where 0 counts as 1. The last unit may be
    /// shorter.
    ///
    /// ```
    /// use manycore_programs::fork::SlicePart;
    /// assert_eq!(SlicePart::new(&mut [7, 8], 1).first, 0);
    /// ```
    #[must_use]
    pub fn new(items: &'a mut [T], unit: usize) -> Self {
        Self {
            first: 0,
            items,
            unit: unit.max(1),
        }
    }
}

impl<T: Send> Splittable for SlicePart<'_, T> {
    fn halves(self) -> Result<(Self, Self), Self> {
        let units = self.items.len().div_ceil(self.unit);
        if units < 2 {
            return Err(self);
        }
        let Self { first, items, unit } = self;
        let middle = units / 2 * unit;
        let (left, right) = items.split_at_mut(middle);
        let part = |first, items| Self { first, items, unit };
        Ok((part(first, left), part(first + middle, right)))
    }
}

/// Halves `work` until `splits` is used up. Each division halves `splits` too.
///
/// For a migrated piece, `splits` begins again with the number of threads, since the migration shows that a thread was
/// idle.
pub(super) fn halve<F, S, R>(
    fork: &F,
    splits: usize,
    work: S,
    leaf: &(impl Fn(S) -> R + Sync),
    combine: &(impl Fn(R, R) -> R + Sync),
) -> R
where
    F: Fork,
    S: Splittable,
    R: Send,
{
    if splits == 0 {
        return leaf(work);
    }
    let (left, right) = match work.halves() {
        Ok(halves) => halves,
        Err(whole) => return leaf(whole),
    };
    let half = |work, migrated| {
        let splits = match migrated {
            true => fork.threads().max(splits / 2),
            false => splits / 2,
        };
        halve(fork, splits, work, leaf, combine)
    };
    let (left, right) = fork.join_context(
        |migrated| half(left, migrated),
        |migrated| half(right, migrated),
    );
    combine(left, right)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Threads, schedules};
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn pieces(fork: &impl Fork, n: usize) -> Vec<Range<usize>> {
        fork.reduce(0..n, &|piece| vec![piece], &|a, b| [a, b].concat())
    }

    #[test]
    fn every_schedule_runs_each_index_once_and_joins_in_order() {
        for fork in schedules() {
            for n in [0, 1, 2, 3, 7, 1000] {
                let counts: Vec<AtomicU32> = (0..n).map(|_| AtomicU32::new(0)).collect();
                fork.for_each(0..n, &|index| {
                    counts[index].fetch_add(1, Ordering::Relaxed);
                });
                assert!(counts.into_iter().all(|count| count.into_inner() == 1));
                let list = fork.map_reduce(0..n, &|i| vec![i], vec![], &|a, b| [a, b].concat());
                assert_eq!(list, Vec::from_iter(0..n));
                let flat: Vec<usize> = pieces(&fork, n).into_iter().flatten().collect();
                assert_eq!(flat, list);
            }
        }
    }

    #[test]
    fn without_migration_there_are_two_pieces_a_thread() {
        for (threads, expected) in [(1, 2), (2, 4), (8, 16), (12, 16)] {
            let fork = Threads::that_never_migrate(threads);
            assert_eq!(pieces(&fork, 1000).len(), expected, "{threads} threads");
        }
    }

    #[test]
    fn a_migrated_piece_is_split_again() {
        let fork = Threads::that_migrate_at_first(4);
        assert_eq!(pieces(&fork, 1000).len(), 4 + 8);
    }

    #[test]
    fn parts_cover_the_slice_at_multiples_of_the_unit() {
        for fork in schedules() {
            for (len, unit) in [(0, 1), (1, 1), (10, 3), (999, 10), (8, 100), (5, 0)] {
                let mut items = vec![0; len];
                fork.reduce(
                    SlicePart::new(&mut items, unit),
                    &|part| {
                        assert_eq!(part.first % unit.max(1), 0);
                        for (offset, item) in part.items.iter_mut().enumerate() {
                            *item += part.first + offset;
                        }
                    },
                    &|(), ()| (),
                );
                assert_eq!(items, Vec::from_iter(0..len));
            }
        }
    }
}
