//! Random chains of adaptors, compared with the same chains of the standard library. The items must be the
//! same. Each must be dropped exactly once, even if a closure or a destructor panics, or a search ends
//! early. The pools have 1, 2 and 4 threads. In one test the number of the pool's cores changes.

use super::sealed::Sealed;
use crate::Pool;
use crate::prelude::*;
use manycore_cores::elastic::Allotment;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};
use std::thread;

const CHAINS: u64 = if cfg!(miri) { 15 } else { 400 };
const LONGEST: u64 = if cfg!(miri) { 12 } else { 3_000 };

/// The payload of intended panics.
struct Thrown;

/// Counters that all `Counted` numbers of a chain share.
#[derive(Debug, Default)]
struct Counts {
    /// The number of `Counted` values that were made and not dropped.
    alive: AtomicIsize,
    /// Each destructor subtracts 1 from this. The destructor that reaches 0 panics.
    drops: AtomicIsize,
}

/// A number that `alive` counts until it is dropped.
#[derive(Debug)]
struct Counted<'a> {
    value: u64,
    counts: &'a Counts,
}

impl<'a> Counted<'a> {
    fn new(value: u64, counts: &'a Counts) -> Self {
        counts.alive.fetch_add(1, Relaxed);
        Self { value, counts }
    }

    /// Drops `self`. A closure that returns a `String` calls this first: if a destructor panics after the
    /// `String` is made, the compiler leaks the `String` (rust-lang/rust#47949).
    fn into_value(self) -> u64 {
        self.value
    }

    /// Applies `change` to the value.
    fn with(mut self, change: impl FnOnce(u64) -> u64) -> Self {
        self.value = change(self.value);
        self
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.counts.alive.fetch_sub(1, Relaxed);
        // A second panic during unwinding would abort the process.
        if self.counts.drops.fetch_sub(1, Relaxed) == 1 && !thread::panicking() {
            resume_unwind(Box::new(Thrown));
        }
    }
}

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

trait FromBothEnds<T>: DoubleEndedIterator<Item = T> + ExactSizeIterator {}
impl<T, I: DoubleEndedIterator<Item = T> + ExactSizeIterator> FromBothEnds<T> for I {}

/// An indexed iterator as a trait object, so that chains of any length have one type.
trait Indexed<'a>: Sync {
    fn indices(&self) -> usize;
    fn cut(&mut self, indices: Range<usize>);
    /// # Safety
    ///
    /// As for `IndexedParallelIterator::ordered`.
    unsafe fn ordered(&self, block: Range<usize>) -> Box<dyn FromBothEnds<Counted<'a>> + '_>;
    /// # Safety
    ///
    /// As for `ParallelIterator::discard`.
    unsafe fn discard(&self, block: Range<usize>);
}

impl<'a, I: IndexedParallelIterator<Item = Counted<'a>>> Indexed<'a> for I {
    fn indices(&self) -> usize {
        ParallelIterator::indices(self)
    }

    fn cut(&mut self, indices: Range<usize>) {
        IndexedParallelIterator::cut(self, indices);
    }

    unsafe fn ordered(&self, block: Range<usize>) -> Box<dyn FromBothEnds<Counted<'a>> + '_> {
        // SAFETY: the caller's promise.
        Box::new(unsafe { IndexedParallelIterator::ordered(self, block) })
    }

    unsafe fn discard(&self, block: Range<usize>) {
        // SAFETY: the caller's promise.
        unsafe { ParallelIterator::discard(self, block) };
    }
}

struct Items<'a>(Box<dyn Indexed<'a> + 'a>);

impl<'a> Items<'a> {
    fn of(items: impl IndexedParallelIterator<Item = Counted<'a>> + 'a) -> Self {
        Self(Box::new(items))
    }
}

impl Sealed for Items<'_> {}

impl<'a> ParallelIterator for Items<'a> {
    type Item = Counted<'a>;
    const EXACT: bool = true;
    const OWNS: bool = true;

    fn indices(&self) -> usize {
        self.0.indices()
    }

    unsafe fn block(&self, block: Range<usize>) -> impl Iterator<Item = Counted<'a>> {
        // SAFETY: the caller's promise.
        unsafe { self.0.ordered(block) }
    }

    unsafe fn discard(&self, block: Range<usize>) {
        // SAFETY: the caller's promise.
        unsafe { self.0.discard(block) };
    }
}

impl<'a> IndexedParallelIterator for Items<'a> {
    fn cut(&mut self, indices: Range<usize>) {
        self.0.cut(indices);
    }

    unsafe fn ordered(
        &self,
        block: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = Counted<'a>> + ExactSizeIterator {
        // SAFETY: the caller's promise.
        unsafe { self.0.ordered(block) }
    }
}

/// The data that a chain borrows.
struct Borrowed {
    numbers: Vec<Vec<u64>>,
    counts: Counts,
}

impl Borrowed {
    fn new(random: &mut Random) -> Self {
        let mut numbers = || (0..random.below(LONGEST)).map(|i| i * i % 1_009).collect();
        Self {
            numbers: (0..8).map(|_| numbers()).collect(),
            counts: Counts::default(),
        }
    }
}

/// Returns a source of up to `LONGEST` items, and their values.
fn source<'a>(random: &mut Random, borrowed: &'a Borrowed) -> (Items<'a>, Vec<u64>) {
    let (n, size) = (random.below(LONGEST), 1 + random.below(9) as usize);
    let fresh = move |value| Counted::new(value, &borrowed.counts);
    let numbers = &borrowed.numbers[random.below(8) as usize];
    let sum = move |part: &[u64]| fresh(part.iter().sum());
    match random.below(7) {
        0 => (
            Items::of((5..5 + n).into_par_iter().map(fresh)),
            (5..5 + n).collect(),
        ),
        1 => (
            Items::of((0..=n).into_par_iter().map(fresh)),
            (0..=n).collect(),
        ),
        2 => {
            let owned: Vec<_> = numbers.iter().copied().map(fresh).collect();
            (Items::of(owned.into_par_iter()), numbers.to_vec())
        }
        3 => (
            Items::of(numbers.par_iter().copied().map(fresh)),
            numbers.to_vec(),
        ),
        4 => (
            Items::of(numbers.par_chunks(size).map(sum)),
            numbers.chunks(size).map(|part| part.iter().sum()).collect(),
        ),
        5 => (
            Items::of(numbers.par_windows(size).map(sum)),
            numbers
                .windows(size)
                .map(|part| part.iter().sum())
                .collect(),
        ),
        _ => {
            let set = std::collections::BTreeSet::from_iter(numbers.iter().copied());
            let right = set.iter().copied().collect();
            (Items::of(set.into_par_iter().map(fresh)), right)
        }
    }
}

/// Adds a random adaptor to `items`, and applies the same adaptor of the standard library to `right`.
fn adapted<'a>(
    random: &mut Random,
    items: Items<'a>,
    right: Vec<u64>,
    borrowed: &'a Borrowed,
) -> (Items<'a>, Vec<u64>) {
    let n = random.below(right.len() as u64 + 3) as usize;
    let all = right.into_iter();
    match random.below(11) {
        0 => (
            Items::of(items.map(|x| x.with(|v| v + 3))),
            all.map(|v| v + 3).collect(),
        ),
        1 => (Items::of(items.rev()), all.rev().collect()),
        2 => (items.skip(n), all.skip(n).collect()),
        3 => (items.take(n), all.take(n).collect()),
        4 => (
            Items::of(items.step_by(n + 1)),
            all.step_by(n + 1).collect(),
        ),
        5 => {
            let (more, behind) = source(random, borrowed);
            (Items::of(items.chain(more)), all.chain(behind).collect())
        }
        6 => {
            let (others, theirs) = source(random, borrowed);
            let both = |(a, b): (Counted<'a>, Counted<'a>)| {
                let theirs = b.into_value();
                a.with(|v| 7 * v + theirs)
            };
            let right = all.zip(theirs).map(|(a, b)| 7 * a + b);
            (Items::of(items.zip(others).map(both)), right.collect())
        }
        7 => {
            let sum = |(i, x): (usize, Counted<'a>)| x.with(|v| v + i as u64);
            let right = all.enumerate().map(|(i, v)| v + i as u64);
            (Items::of(items.enumerate().map(sum)), right.collect())
        }
        8 => (
            Items::of(items.update(|x| x.value /= 2)),
            all.map(|v| v / 2).collect(),
        ),
        9 => {
            let scratch = |state: &mut Vec<u64>, x: Counted<'a>| {
                state.push(x.value);
                x.with(|_| state.pop().unwrap() + 1)
            };
            (
                Items::of(items.map_init(Vec::new, scratch)),
                all.map(|v| v + 1).collect(),
            )
        }
        _ => (
            Items::of(items.inspect(|x| assert!(x.value < u64::MAX))),
            all.collect(),
        ),
    }
}

/// Consumes `items` with a random method, and compares the result with that for `right`.
fn consumed(random: &mut Random, items: Items<'_>, right: &[u64]) {
    let one = random.below(right.len() as u64 + 1) as usize;
    let wanted = right.get(one).copied().unwrap_or(u64::MAX - 1);
    let first = right.iter().position(|&v| v == wanted);
    let values = |items: Vec<Counted<'_>>| items.iter().map(|x| x.value).collect::<Vec<_>>();
    match random.below(16) {
        0 => assert_eq!(values(items.collect()), right),
        1 => {
            let kept = items.filter(|x| x.value % 3 == 0).collect();
            let right = right.iter().copied().filter(|v| v % 3 == 0);
            assert!(values(kept).into_iter().eq(right));
        }
        2 => {
            let many = items.flat_map(|x| (0..x.value % 4).map(move |i| i + x.value));
            let right = right.iter().flat_map(|&v| (0..v % 4).map(move |i| i + v));
            assert_eq!(many.collect::<Vec<_>>(), right.collect::<Vec<_>>());
        }
        3 => {
            let text = items
                .map(|x| x.into_value().to_string())
                .reduce(String::new, |a, b| a + &b);
            assert_eq!(text, right.iter().map(u64::to_string).collect::<String>());
        }
        4 => {
            let folded = items.fold(Vec::new, |mut all, x| {
                all.push(x.into_value());
                all
            });
            let all = folded.reduce(Vec::new, |a, b| [a, b].concat());
            assert_eq!(all, right);
        }
        5 => assert_eq!(items.position_first(|x| x.value == wanted), first),
        6 => {
            let found = items.find_first(|x| x.value >= wanted);
            let right = right.iter().copied().find(|&v| v >= wanted);
            assert_eq!(found.map(|x| x.value), right);
        }
        7 => assert_eq!(items.any(|x| x.value == wanted), first.is_some()),
        8 => {
            let found = items
                .find_any(|x| x.value % 5 == wanted % 5)
                .map(|x| x.value);
            let right = right.iter().find(|&&v| v % 5 == wanted % 5);
            assert_eq!(found.is_some(), right.is_some());
            assert!(found.is_none_or(|v| v % 5 == wanted % 5));
        }
        9 => {
            let tried = items.try_for_each(|x| {
                if x.value == wanted {
                    Err(x.value)
                } else {
                    Ok(())
                }
            });
            assert_eq!(tried.is_err(), first.is_some());
        }
        10 => {
            let some = items.map(|x| Some(x.value).filter(|&v| v != wanted));
            let sum = some.try_reduce(|| 0, |a, b| Some(a + b));
            assert_eq!(sum, first.is_none().then(|| right.iter().sum()));
        }
        11 => {
            let least = items.map(|x| x.value).min();
            assert_eq!(least, right.iter().copied().min());
        }
        12 => {
            let number = items.position_any(|x| x.value == wanted);
            assert_eq!(number.is_some(), first.is_some());
            assert!(number.is_none_or(|i| right[i] == wanted));
        }
        13 => {
            let (small, large): (Vec<_>, Vec<_>) = items.partition(|x| x.value < wanted);
            let (left, right): (Vec<u64>, Vec<u64>) = right.iter().partition(|&&v| v < wanted);
            assert_eq!((values(small), values(large)), (left, right));
        }
        14 => {
            let order = items.map(|x| x.value).cmp(right.par_iter().copied());
            assert!(order.is_eq());
        }
        _ => {
            let sum = Mutex::new(0);
            items.for_each(|x| *sum.lock().unwrap() += x.value);
            assert_eq!(sum.into_inner().unwrap(), right.iter().sum::<u64>());
        }
    }
}

/// Adds a closure that panics at the item with index `bad`.
fn throwing(items: Items<'_>, bad: usize) -> Items<'_> {
    fn throw(x: Counted<'_>, throws: bool) -> Counted<'_> {
        match throws {
            true => resume_unwind(Box::new(Thrown)),
            false => x,
        }
    }
    Items::of((items.enumerate()).map(move |(index, x)| throw(x, index == bad)))
}

fn run(seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let borrowed = Borrowed::new(&mut random);
    let (mut items, mut right) = source(&mut random, &borrowed);
    let adaptors = random.below(6);
    // One chain in four has a closure that panics. Independently, one in four has a destructor that panics.
    let (throws, drops) = (random.below(4) == 0, random.below(4) == 0);
    let thrower = random.below(adaptors + 1);
    if drops {
        let nth = 1 + random.below(2 * right.len() as u64 + 1);
        borrowed.counts.drops.store(nth as isize, Relaxed);
    }
    let caught = catch_unwind(AssertUnwindSafe(|| {
        for number in 0..=adaptors {
            if throws && number == thrower {
                let bad = random.below(right.len() as u64 + 1) as usize;
                items = throwing(items, bad);
            }
            if number < adaptors {
                (items, right) = adapted(&mut random, items, right, &borrowed);
            }
        }
        consumed(&mut random, items, &right);
    }));
    if let Err(payload) = caught {
        assert!(throws || drops || !payload.is::<Thrown>());
        if !payload.is::<Thrown>() {
            resume_unwind(payload);
        }
    }
    let alive = borrowed.counts.alive.load(Relaxed);
    assert_eq!(alive, 0, "an item was not dropped, or was dropped twice");
}

fn pool(threads: usize) -> Pool {
    Pool::builder().threads(threads).build().unwrap()
}

fn run_all_in(pool: &Pool, seeds: Range<u64>) {
    for seed in seeds {
        let caught = catch_unwind(AssertUnwindSafe(|| pool.install(|| run(seed))));
        if let Err(payload) = caught {
            eprintln!("the chain of seed {seed} fails");
            resume_unwind(payload);
        }
    }
}

#[test]
fn chains_equal_those_of_the_standard_library() {
    for threads in [1, 2, 4] {
        run_all_in(&pool(threads), 0..CHAINS);
    }
}

#[test]
fn chains_while_the_number_of_cores_changes() {
    let allotment = Allotment::new(4);
    let builder = Pool::builder().threads(4).follow(&allotment);
    let pool = builder.build().unwrap();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for cores in (1..=4).cycle() {
                if over.load(Relaxed) {
                    return;
                }
                allotment.set(cores);
                thread::yield_now();
            }
        });
        let caught = catch_unwind(AssertUnwindSafe(|| run_all_in(&pool, CHAINS..2 * CHAINS)));
        over.store(true, Relaxed);
        caught.unwrap();
    });
}

/// A bridge passes each item of its iterator to one thread, until the iterator panics.
#[test]
#[cfg_attr(miri, ignore = "safe code, which takes minutes in Miri")]
fn a_bridge_passes_each_item_on_once() {
    for threads in [1, 2, 4] {
        pool(threads).install(|| {
            for n in [0, 1, 7, LONGEST] {
                let unknown = (0..n).filter(|_| true);
                let mut all: Vec<u64> = unknown.par_bridge().map(|i| 3 * i).collect();
                all.sort_unstable();
                assert!(all.into_iter().eq((0..n).map(|i| 3 * i)));
                let known = (0..n).par_bridge().filter(|i| i % 2 == 0).count();
                assert_eq!(known as u64, n.div_ceil(2));
            }
            // The iterator is endless, but a search ends.
            assert!((0_u64..).par_bridge().any(|i| i == 99));
            let nested = (0..20_u64).map(|i| (0..i).into_par_iter().sum::<u64>());
            assert_eq!(nested.par_bridge().sum::<u64>(), 1_140);
            let throws = (0..LONGEST).map(|i| {
                if i == 17 {
                    resume_unwind(Box::new(17))
                } else {
                    i
                }
            });
            let caught = catch_unwind(AssertUnwindSafe(|| throws.par_bridge().count()));
            assert_eq!(caught.unwrap_err().downcast_ref(), Some(&17));
        });
    }
}
