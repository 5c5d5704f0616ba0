//! An array that several threads write in a phase of a program, each its own part.

use manycore_platform::Platform;
use std::cell::UnsafeCell;
use std::ops::Range;

/// An array that all threads of a phase can write, if no two write the same element.
///
/// # The contract
///
/// A body is the closure that runs a range of a phase's items. While a phase runs, an element is either read and
/// written by one body, or only read, by any number of bodies. [`Worksharing`](super::Worksharing) calls bodies with
/// disjoint ranges of items, and their writes are visible after the phase. So it is enough that the bodies for
/// different items of a phase touch disjoint parts of the elements that the phase writes. The comment of every access
/// states why the parts are disjoint.
///
/// ```
/// use manycore_programs::spmd::{Alone, Cost, Phase, Ranked, Shared, Sums, Worksharing};
/// use manycore_platform::Native;
///
/// let (mut alone, sums) = (Alone, Sums::new(0));
/// // SAFETY: a team of one rank, with its own sums.
/// let mut sharing = unsafe { Ranked::<Native>::new(&mut alone, &sums) };
/// let squares = Shared::from(vec![0; 10]);
/// let phase = Phase { name: "squares", items: 10, grain: 4, cost: Cost::default() };
/// sharing.share(&phase, &|items| {
///     // SAFETY: element i is written for item i.
///     let squares = unsafe { squares.part_mut(items.clone()) };
///     for (i, square) in items.zip(squares) {
///         *square = i * i;
///     }
/// });
/// assert_eq!(squares.into_inner()[9], 81);
/// ```
#[derive(Debug)]
pub struct Shared<T>(Box<[UnsafeCell<T>]>);

// SAFETY: as for a slice of `T` that one thread writes and another reads. By the contract of the methods, no two
// threads do so at the same time. All methods that give access through a shared reference are `unsafe`.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the array is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A copy of an element.
    ///
    /// # Safety
    ///
    /// No thread writes the element meanwhile.
    ///
    /// # Panics
    ///
    /// If there is no such element.
    #[inline]
    pub unsafe fn get(&self, index: usize) -> T
    where
        T: Copy,
    {
        // SAFETY: no thread writes the element, by contract.
        unsafe { *self.0[index].get() }
    }

    /// Writes an element.
    ///
    /// # Safety
    ///
    /// No other thread reads or writes the element meanwhile, and no reference to the element is alive.
    ///
    /// # Panics
    ///
    /// If there is no such element.
    #[inline]
    pub unsafe fn set(&self, index: usize, value: T) {
        // SAFETY: no other thread touches the element, by contract.
        unsafe { *self.0[index].get() = value }
    }

    /// Returns the elements of a range, to read.
    ///
    /// # Safety
    ///
    /// No thread writes any of them while the slice is alive.
    ///
    /// # Panics
    ///
    /// If the range leaves the array.
    #[inline]
    #[must_use]
    pub unsafe fn part(&self, range: Range<usize>) -> &[T] {
        let cells = &self.0[range];
        // SAFETY: an `UnsafeCell<T>` has the layout of a `T`. No thread writes the elements, by contract.
        unsafe { std::slice::from_raw_parts(cells.as_ptr().cast::<T>(), cells.len()) }
    }

    /// Returns the elements of a range, to read and write.
    ///
    /// # Safety
    ///
    /// No other thread reads or writes any of them while the slice is alive.
    ///
    /// # Panics
    ///
    /// If the range leaves the array.
    #[inline]
    #[must_use]
    #[expect(clippy::mut_from_ref, reason = "parts are disjoint, by contract")]
    pub unsafe fn part_mut(&self, range: Range<usize>) -> &mut [T] {
        let cells = &self.0[range];
        // SAFETY: an `UnsafeCell<T>` has the layout of a `T`, and `UnsafeCell::raw_get` is this cast. No other thread
        // touches the elements, by contract.
        unsafe { std::slice::from_raw_parts_mut(UnsafeCell::raw_get(cells.as_ptr()), cells.len()) }
    }

    /// Returns all elements, to read.
    ///
    /// # Safety
    ///
    /// No thread writes any of them while the slice is alive.
    #[inline]
    #[must_use]
    pub unsafe fn all(&self) -> &[T] {
        // SAFETY: by the caller's contract.
        unsafe { self.part(0..self.len()) }
    }

    /// Returns the elements of a range, to read, and announces the read to the platform.
    ///
    /// # Safety
    ///
    /// As for [`part`](Self::part).
    ///
    /// # Panics
    ///
    /// As [`part`](Self::part).
    #[inline]
    #[must_use]
    pub unsafe fn read<P: Platform>(&self, range: Range<usize>) -> &[T] {
        // SAFETY: by the caller's contract.
        let part = unsafe { self.part(range) };
        P::read(part);
        part
    }

    /// Returns the elements of a range, to read and write, and announces the write to the platform.
    ///
    /// # Safety
    ///
    /// As for [`part_mut`](Self::part_mut).
    ///
    /// # Panics
    ///
    /// As [`part_mut`](Self::part_mut).
    #[inline]
    #[must_use]
    #[expect(clippy::mut_from_ref, reason = "parts are disjoint, by contract")]
    pub unsafe fn write<P: Platform>(&self, range: Range<usize>) -> &mut [T] {
        // SAFETY: by the caller's contract.
        let part = unsafe { self.part_mut(range) };
        P::write(part);
        part
    }

    /// Returns all elements of an array that is not shared.
    pub fn get_mut(&mut self) -> &mut [T] {
        // SAFETY: the exclusive reference excludes other accesses.
        unsafe { self.part_mut(0..self.len()) }
    }

    /// The elements as a vector.
    #[must_use]
    pub fn into_inner(self) -> Vec<T> {
        let cells = self.0.into_vec().into_iter();
        cells.map(UnsafeCell::into_inner).collect()
    }
}

impl<T> From<Vec<T>> for Shared<T> {
    fn from(elements: Vec<T>) -> Self {
        let elements = Box::into_raw(elements.into_boxed_slice());
        // SAFETY: an `UnsafeCell<T>` has the layout of a `T`, and so have slices. The pointer comes from a box, which
        // has just been taken apart.
        Self(unsafe { Box::from_raw(elements as *mut [UnsafeCell<T>]) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_platform::Native;

    #[test]
    fn two_threads_write_their_halves() {
        let array = Shared::from(vec![0_u32; 1_000]);
        std::thread::scope(|scope| {
            for half in [0..500, 500..1_000] {
                let array = &array;
                scope.spawn(move || {
                    // SAFETY: the halves are disjoint.
                    let part = unsafe { array.write::<Native>(half.clone()) };
                    for (i, element) in half.zip(part) {
                        *element = i as u32;
                    }
                });
            }
        });
        // SAFETY: the threads have ended.
        unsafe {
            assert_eq!(array.get(999), 999);
            array.set(0, 7);
            assert_eq!(array.read::<Native>(0..2), [7, 1]);
            assert_eq!(array.all().len(), array.len());
        }
        assert!(!array.is_empty());
        assert_eq!(array.into_inner()[2..4], [2, 3]);
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn a_range_that_leaves_the_array() {
        let array = Shared::from(vec![0_u8; 3]);
        // SAFETY: no other thread uses the array.
        let _ = unsafe { array.part(2..4) };
    }
}
