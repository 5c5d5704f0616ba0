//! What parallel iterators are collected into.

use super::{ParallelIterator, blocks};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// What the items of a parallel iterator become, in order.
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

/// Memory that several threads write disjoint parts of.
struct Slots<T>(*mut MaybeUninit<T>);

// SAFETY: used to write items, each place by one thread.
unsafe impl<T: Send> Sync for Slots<T> {}

/// Appends all items to `all`.
///
/// If the number of items is known each is written to its place. If a closure panics then, the
/// items that were written are leaked.
pub(super) fn into_vec<I: ParallelIterator>(items: I, all: &mut Vec<I::Item>) {
    if !I::EXACT {
        let extend = |left: Option<Vec<_>>, range| {
            let mut left = left.unwrap_or_default();
            // SAFETY: a loop gives out each index once.
            left.extend(unsafe { items.block(range) });
            left
        };
        let some = blocks::extended(items.indices(), extend, |mut left, mut right| {
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
    blocks::ranges(indices, |range: Range<usize>| {
        // SAFETY: within the capacity, and this block's alone.
        let places =
            unsafe { std::slice::from_raw_parts_mut(slots.0.add(range.start), range.len()) };
        // SAFETY: a loop gives out each index once.
        let items = unsafe { items.block(range.clone()) };
        let written = match I::IN_PARTS {
            true => written_by_items(places, items),
            false => written_by_places(places, items),
        };
        assert_eq!(written, range.len(), "a block has an item for each index");
    });
    // SAFETY: each block has written its places, or else panicked.
    unsafe { all.set_len(before + indices) };
}

/// Writes `items` to `places`; how many there were. One loop that counts once, which is vectorised.
fn written_by_places<T>(places: &mut [MaybeUninit<T>], items: impl Iterator<Item = T>) -> usize {
    let pairs = places.iter_mut().zip(items);
    pairs.fold(0, |written, (place, item)| {
        place.write(item);
        written + 1
    })
}

/// The same by the items' own loop, which looks at each of them whether there is a place.
fn written_by_items<T>(places: &mut [MaybeUninit<T>], items: impl Iterator<Item = T>) -> usize {
    let mut free = places.iter_mut();
    items.fold(0, |written, item| {
        free.next().expect("a place for each item").write(item);
        written + 1
    })
}

/// Collections that take their items one by one: in order, on one thread, from vectors that were
/// filled in parallel.
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

/// Texts: a text a block, joined in order.
macro_rules! texts {
    ($([$($parameters:tt)*] $item:ty;)*) => {$(
        impl<$($parameters)*> FromParallelIterator<$item> for String {
            fn from_par_iter(items: impl ParallelIterator<Item = $item>) -> Self {
                let extend = |left: Option<String>, range| {
                    let mut left = left.unwrap_or_default();
                    // SAFETY: a loop gives out each index once.
                    left.extend(unsafe { items.block(range) });
                    left
                };
                let join = |left: String, right: String| left + &right;
                blocks::extended(items.indices(), extend, join).unwrap_or_default()
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

/// The items of `items` that are good, until one is bad: what `split` makes of each.
fn until_bad<T: Send, G: Send, B: Send, C: FromParallelIterator<G>>(
    items: impl ParallelIterator<Item = T>,
    split: impl Fn(T) -> Result<G, B> + Sync,
) -> Result<C, B> {
    let (over, bad) = (AtomicBool::new(false), Mutex::new(None));
    let good = items.filter_map(|item| {
        // Relaxed: who misses it goes on for longer.
        if over.load(Relaxed) {
            return None;
        }
        match split(item) {
            Ok(good) => Some(good),
            Err(later) => {
                over.store(true, Relaxed);
                let mut first = bad.lock().unwrap_or_else(PoisonError::into_inner);
                // Another thread's is not dropped under the lock.
                let later = match *first {
                    None => first.replace(later),
                    Some(_) => Some(later),
                };
                drop(first);
                drop(later);
                None
            }
        }
    });
    let good = good.collect::<C>();
    match bad.into_inner().unwrap_or_else(PoisonError::into_inner) {
        None => Ok(good),
        Some(bad) => Err(bad),
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
