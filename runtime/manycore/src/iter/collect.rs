//! Collections that `collect` can make.

use super::until_bad::until_bad;
use super::{ParallelIterator, blocks};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::Range;

/// A collection that [`collect`](super::ParallelIterator::collect) makes from the items of a parallel
/// iterator, in order.
///
/// A collection of `Option`s or `Result`s becomes an `Option` or a `Result` of a collection. When an item
/// is `None` or an error, each thread stops before its next item.
///
/// ```
/// use manycore::prelude::*;
///
/// let text: String = ['a', 'b'].par_iter().copied().collect();
/// assert_eq!(text, "ab");
/// ```
pub trait FromParallelIterator<T: Send>: Sized {
    /// Collects all items.
    fn from_par_iter(items: impl ParallelIterator<Item = T>) -> Self;
}

impl<T: Send> FromParallelIterator<T> for Vec<T> {
    fn from_par_iter(items: impl ParallelIterator<Item = T>) -> Self {
        let mut all = Vec::new();
        into_vec(items, &mut all);
        all
    }
}

/// Appends `items` to `all`. If their number is known, threads write them directly into `all`.
pub(super) fn into_vec<I: ParallelIterator>(items: I, all: &mut Vec<I::Item>) {
    if !I::EXACT {
        let extend = |left: Option<Vec<_>>, range| {
            // SAFETY: a loop gives out each index once.
            let block = unsafe { items.block(range) };
            let mut left = left.unwrap_or_default();
            left.extend(block);
            left
        };
        let some = blocks::extended(&items, extend, |mut left, mut right| {
            left.append(&mut right);
            left
        });
        return match some {
            Some(some) if all.is_empty() => *all = some,
            some => all.extend(some.into_iter().flatten()),
        };
    }
    let (before, indices) = (all.len(), items.indices());
    all.reserve_exact(indices);
    let slots = Slots(all.spare_capacity_mut().as_mut_ptr());
    let slots = &slots;
    if std::mem::needs_drop::<I::Item>() {
        let extend = |left: Option<Written<_>>, range: Range<usize>| {
            // SAFETY: a loop gives out each index once.
            let block = unsafe { items.block(range.clone()) };
            let mut written = left.unwrap_or_else(|| Written {
                // SAFETY: within the capacity.
                first: unsafe { slots.0.add(range.start) },
                len: 0,
            });
            // SAFETY: only this thread writes the places of this block. These places follow the places in `written`.
            let places = unsafe { slots.places(range) };
            let mut done = Done {
                written: &mut written,
                more: 0,
            };
            write(places, block, I::IN_PARTS, || done.more += 1);
            drop(done);
            written
        };
        let both = |mut left: Written<_>, right: Written<_>| {
            left.len += ManuallyDrop::new(right).len;
            left
        };
        // From here on the vector owns the items.
        std::mem::forget(blocks::extended(&items, extend, both));
    } else {
        blocks::ranges(&items, |range| {
            // SAFETY: a loop gives out each index once.
            let block = unsafe { items.block(range.clone()) };
            // SAFETY: only this thread writes the places of this block.
            let places = unsafe { slots.places(range) };
            write(places, block, I::IN_PARTS, || ());
        });
    }
    // SAFETY: each block has written all its places. If a block had panicked, the loop would have panicked too.
    unsafe { all.set_len(before + indices) };
}

/// Memory to which several threads write, each thread to its own places.
struct Slots<T>(*mut MaybeUninit<T>);

// SAFETY: threads only write items, and each place has one writer.
unsafe impl<T: Send> Sync for Slots<T> {}

impl<T> Slots<T> {
    /// # Safety
    ///
    /// `range` is within the memory, and only the caller uses it.
    #[expect(clippy::mut_from_ref, reason = "only the caller uses the range")]
    unsafe fn places(&self, range: Range<usize>) -> &mut [MaybeUninit<T>] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(range.start), range.len()) }
    }
}

/// Writes one of `items` to each of `places`, and calls `note` after each.
fn write<T>(
    places: &mut [MaybeUninit<T>],
    items: impl Iterator<Item = T>,
    in_parts: bool,
    mut note: impl FnMut(),
) {
    let all = places.len();
    let written = if in_parts {
        // This uses the items' own `fold`, and must check for a free place at each item.
        let mut free = places.iter_mut();
        items.fold(0, |written, item| {
            free.next().expect("a place for each item").write(item);
            note();
            written + 1
        })
    } else {
        // The compiler vectorises this loop, which has one counter.
        let pairs = places.iter_mut().zip(items);
        pairs.fold(0, |written, (place, item)| {
            place.write(item);
            note();
            written + 1
        })
    };
    assert_eq!(written, all, "a block has an item for each index");
}

/// Written items that the vector does not own yet. A panic drops them.
struct Written<T> {
    first: *mut MaybeUninit<T>,
    len: usize,
}

// SAFETY: a `Written` owns its items.
unsafe impl<T: Send> Send for Written<T> {}

impl<T> Drop for Written<T> {
    fn drop(&mut self) {
        let items = std::ptr::slice_from_raw_parts_mut(self.first.cast::<T>(), self.len);
        // SAFETY: the items were written, and `self` owns them.
        unsafe { items.drop_in_place() };
    }
}

/// Counts written items in `more`, which the compiler keeps in a register. Its destructor adds them to
/// `written`.
struct Done<'a, T> {
    written: &'a mut Written<T>,
    more: usize,
}

impl<T> Drop for Done<'_, T> {
    fn drop(&mut self) {
        self.written.len += self.more;
    }
}

/// Collections that one thread fills item by item, from a vector that was filled in parallel.
macro_rules! one_by_one {
    ($([$($parameters:tt)*] $collection:ty, $item:ty;)*) => {$(
        impl<$($parameters)*> FromParallelIterator<$item> for $collection {
            fn from_par_iter(items: impl ParallelIterator<Item = $item>) -> Self {
                items.collect::<Vec<_>>().into_iter().collect()
            }
        }
    )*};
}

one_by_one! {
    [K: Eq + Hash + Send, V: Send, S: BuildHasher + Default] HashMap<K, V, S>, (K, V);
    [T: Eq + Hash + Send, S: BuildHasher + Default] HashSet<T, S>, T;
    [K: Ord + Send, V: Send] BTreeMap<K, V>, (K, V);
    [T: Ord + Send] BTreeSet<T>, T;
    [T: Ord + Send] BinaryHeap<T>, T;
    [T: Send] VecDeque<T>, T;
    [T: Send] LinkedList<T>, T;
    [T: Send] Box<[T]>, T;
}

/// `String`: each thread fills strings, which are joined in order.
macro_rules! texts {
    ($([$($parameters:tt)*] $item:ty;)*) => {$(
        impl<$($parameters)*> FromParallelIterator<$item> for String {
            fn from_par_iter(items: impl ParallelIterator<Item = $item>) -> Self {
                let extend = |left: Option<String>, range| {
                    // SAFETY: a loop gives out each index once.
                    let block = unsafe { items.block(range) };
                    let mut left = left.unwrap_or_default();
                    left.extend(block);
                    left
                };
                let join = |left: String, right: String| left + &right;
                blocks::extended(&items, extend, join).unwrap_or_default()
            }
        }
    )*};
}

texts! {
    [] char;
    ['a] &'a char;
    ['a] &'a str;
    [] String;
}

impl FromParallelIterator<()> for () {
    fn from_par_iter(items: impl ParallelIterator<Item = ()>) -> Self {
        items.for_each(|()| ());
    }
}

impl<T: Send, E: Send, C: FromParallelIterator<T>> FromParallelIterator<Result<T, E>>
    for Result<C, E>
{
    fn from_par_iter(items: impl ParallelIterator<Item = Result<T, E>>) -> Self {
        until_bad(items, |item| item)
    }
}

impl<T: Send, C: FromParallelIterator<T>> FromParallelIterator<Option<T>> for Option<C> {
    fn from_par_iter(items: impl ParallelIterator<Item = Option<T>>) -> Self {
        until_bad(items, |item| item.ok_or(())).ok()
    }
}
