//! Each item of an owned collection is dropped exactly once, whatever panics. The tests combine every
//! consumer with a closure or a destructor that panics at a random item.

use crate::pools::pool;
use manycore::prelude::*;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, LinkedList, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::Relaxed};
use std::thread;

/// The payload of intended panics.
struct Thrown;

fn throw() -> ! {
    resume_unwind(Box::new(Thrown))
}

#[derive(Default)]
struct Counts {
    /// The number of values that exist.
    alive: AtomicIsize,
    /// The call that decrements this to 0 panics.
    calls: AtomicIsize,
    /// The destructor that decrements this to 0 panics.
    drops: AtomicIsize,
}

impl Counts {
    /// Each closure calls this.
    fn called(&self) {
        if self.calls.fetch_sub(1, Relaxed) == 1 {
            throw();
        }
    }
}

/// A value that is counted while it exists.
struct Counted<'a>(usize, &'a Counts);

impl<'a> Counted<'a> {
    fn new(value: usize, counts: &'a Counts) -> Self {
        counts.alive.fetch_add(1, Relaxed);
        Self(value, counts)
    }

    fn called(self) -> Self {
        self.1.called();
        self
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.1.alive.fetch_sub(1, Relaxed);
        // A second panic during unwinding would abort.
        if self.1.drops.fetch_sub(1, Relaxed) == 1 && !thread::panicking() {
            throw();
        }
    }
}

impl PartialEq for Counted<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Counted<'_> {}

impl PartialOrd for Counted<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Counted<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

/// Drops `other`, and returns `one`. If a function drops a value after it has made its result, and the
/// destructor panics, the compiler leaks the result (rust-lang/rust#47949). No closure here does that.
fn one_of<T, U>(one: T, other: U) -> T {
    drop(other);
    one
}

const CONSUMERS: usize = 28;

/// Runs consumer number `consumer` with a closure that may panic.
fn consume<'a, I>(items: I, n: usize, counts: &'a Counts, consumer: usize)
where
    I: IndexedParallelIterator<Item = Counted<'a>>,
{
    let more = || -> Vec<_> { (0..n).map(|i| Counted::new(i, counts)).collect() };
    let called = items.map(Counted::called);
    let bad = n / 3;
    match consumer {
        0 => called.for_each(drop),
        1 => called.for_each_init(|| counts.called(), |(), x| drop(x)),
        2 => _ = called.try_for_each(|x| (x.0 != bad).then_some(())),
        3 => {
            _ = called
                .map(Some)
                .try_reduce(|| Counted::new(0, counts), |a, b| Some(one_of(a, b)))
        }
        4 => {
            _ = called.map(Ok::<_, ()>).try_reduce(
                || Counted::new(0, counts),
                |a, b| {
                    let is_good = b.0 != bad;
                    one_of(is_good.then_some(a).ok_or(()), b)
                },
            )
        }
        5 => {
            _ = called.reduce_with(|a, b| match a.0 < b.0 {
                true => one_of(a, b).called(),
                false => one_of(b, a),
            })
        }
        6 => _ = called.max_by(|a, b| a.0.cmp(&b.0)),
        7 => _ = called.min_by_key(|x| x.0 % 10),
        8 => assert!(called.count() <= n),
        9 => assert!(called.map(|x| x.0.min(1)).sum::<usize>() <= n),
        10 => _ = called.any(|x| x.0 == bad),
        11 => _ = called.find_any(|x| x.0 == bad),
        12 => _ = called.find_first(|x| x.0 >= bad),
        13 => _ = called.position_any(|x| x.0 == bad),
        14 => _ = called.collect::<Vec<_>>(),
        15 => {
            _ = called
                .map(|x| Some(x).filter(|x| x.0 != bad))
                .collect::<Option<Vec<_>>>()
        }
        16 => {
            let tried = called.map(|x| if x.0 == bad { Err(x) } else { Ok(x) });
            _ = tried.collect::<Result<LinkedList<_>, _>>();
        }
        17 => called.collect_into_vec(&mut more()),
        18 => _ = called.partition::<Vec<_>, VecDeque<_>>(|x| x.0 % 2 == 0),
        19 => _ = called.zip(more()).unzip::<_, _, Vec<_>, Vec<_>>(),
        20 => _ = called.filter(|x| x.0 % 3 != 0).collect::<BinaryHeap<_>>(),
        21 => {
            _ = called
                .flat_map(|x| [Counted::new(x.0, counts), x])
                .collect::<Vec<_>>()
        }
        22 => {
            _ = called
                .chain(more())
                .map(Counted::called)
                .collect::<Box<[_]>>()
        }
        23 => {
            _ = called
                .zip(more())
                .rev()
                .step_by(3)
                .map(|(a, b)| one_of(a, b).called())
                .collect::<Vec<_>>()
        }
        24 => {
            let listed = called.fold(Vec::new, |mut all, x| {
                all.push(x.called());
                all
            });
            _ = listed.reduce(Vec::new, |mut a, b| {
                a.extend(b);
                a
            });
        }
        25 => {
            _ = called
                .fold(Vec::new, |mut all, x| {
                    all.push(x);
                    all
                })
                .collect::<Vec<_>>()
        }
        26 => {
            let map = called.map(|x| (x.0, x)).collect::<HashMap<_, _>>();
            // If an item's destructor panics, the standard library's map leaks the items after it.
            drop(map.into_values().collect::<Vec<_>>());
        }
        _ => {
            let with_state = called.map_init(|| Counted::new(0, counts).called(), |_, x| x);
            _ = with_state
                .zip(more())
                .map(|(a, b)| one_of(a, b))
                .collect::<Vec<_>>();
        }
    }
}

/// Runs the consumer on source number `source`.
fn consume_from(source: usize, n: usize, counts: &Counts, consumer: usize) {
    let items = (0..n).map(|i| Counted::new(i, counts));
    match source {
        0 => consume(
            items.collect::<Vec<_>>().into_par_iter(),
            n,
            counts,
            consumer,
        ),
        1 => consume(
            items.collect::<VecDeque<_>>().into_par_iter(),
            n,
            counts,
            consumer,
        ),
        2 => consume(
            items.collect::<BTreeSet<_>>().into_par_iter(),
            n,
            counts,
            consumer,
        ),
        3 => {
            let map: BTreeMap<_, _> = items.enumerate().collect();
            consume(map.into_par_iter().map(|(_, x)| x), n, counts, consumer);
        }
        4 => {
            let array: [Counted<'_>; 24] = std::array::from_fn(|i| Counted::new(i, counts));
            drop(items);
            consume(array.into_par_iter(), 24, counts, consumer);
        }
        5 => {
            drop(items);
            consume(
                Some(Counted::new(0, counts)).into_par_iter(),
                1,
                counts,
                consumer,
            );
        }
        6 => {
            let parts = items.collect::<Vec<_>>().into_par_iter();
            consume(parts.skip(n / 5).take(n / 2), n, counts, consumer);
        }
        _ => {
            drop(items);
            let made = (0..n).into_par_iter().map(|i| Counted::new(i, counts));
            consume(made, n, counts, consumer);
        }
    }
}

#[test]
fn whatever_panics_each_item_is_dropped_once() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut thrown = 0;
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for round in 0..6 * 8 * CONSUMERS {
            let (source, consumer) = (round % 8, round / 8 % CONSUMERS);
            let counts = Counts::default();
            let n = [0, 1, 5, 100, 3_000][random.usize(..5)];
            // A closure panics in two rounds of three, and a destructor in two of three.
            let upto = 3 * n as isize + 2;
            if random.u8(..3) > 0 {
                counts.calls.store(random.isize(1..=upto), Relaxed);
            }
            if random.u8(..3) > 0 {
                counts.drops.store(random.isize(1..=upto), Relaxed);
            }
            let caught = catch_unwind(AssertUnwindSafe(|| {
                pool.install(|| consume_from(source, n, &counts, consumer));
            }));
            if let Err(payload) = caught {
                if !payload.is::<Thrown>() {
                    resume_unwind(payload);
                }
                thrown += 1;
            }
            let alive = counts.alive.load(Relaxed);
            assert_eq!(
                alive, 0,
                "source {source} of {n}, consumer {consumer}, {threads} threads"
            );
        }
    }
    assert!(thrown > 500, "{thrown}");
}

/// The items have no size; the test counts them.
#[test]
fn items_of_no_size() {
    static ALIVE: AtomicIsize = AtomicIsize::new(0);
    struct Nothing;
    impl Drop for Nothing {
        fn drop(&mut self) {
            ALIVE.fetch_sub(1, Relaxed);
        }
    }
    for bad in [0, 1, 500, 999, 1_000] {
        let make = || {
            ALIVE.fetch_add(1, Relaxed);
            Nothing
        };
        let items: Vec<_> = std::iter::repeat_with(make).take(1_000).collect();
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let numbered = items.into_par_iter().enumerate();
            let kept = numbered.map(|(i, x)| if i == bad { throw() } else { x });
            kept.collect::<Vec<_>>().len()
        }));
        assert_eq!(caught.is_err(), bad < 1_000);
        assert_eq!(ALIVE.load(Relaxed), 0);
    }
}

/// After a bad item, each thread stops at once, or begins one more item before it sees the bad one.
#[test]
fn collect_stops_at_a_bad_item() {
    const N: usize = 20_000;
    for threads in [1, 2, 4] {
        pool(threads).install(|| {
            for bad in [0, 50, 700] {
                let begun = AtomicUsize::new(0);
                // After the bad item each item takes 200 us, so that another thread runs few more.
                let seen = AtomicUsize::new(0);
                let tried = |i: usize| {
                    begun.fetch_add(1, Relaxed);
                    if seen.load(Relaxed) > 0 {
                        thread::sleep(std::time::Duration::from_micros(200));
                    }
                    seen.fetch_add(usize::from(i == bad), Relaxed);
                    if i == bad { Err(i) } else { Ok(i) }
                };
                let indices = || (0..N).into_par_iter();
                assert_eq!(
                    indices().map(tried).collect::<Result<Vec<_>, _>>(),
                    Err(bad)
                );
                let of_result = begun.swap(0, Relaxed);
                seen.store(0, Relaxed);
                let some = indices().map(|i| tried(i).ok());
                assert_eq!(some.collect::<Option<VecDeque<_>>>(), None);
                for begun in [of_result, begun.into_inner()] {
                    assert!(begun < N && (threads > 1 || begun == bad + 1), "{begun}");
                }
            }
        });
    }
}

/// The source gives a wrong length.
#[test]
fn a_bridge_loses_nothing_by_a_wrong_hint() {
    struct Says<I>(I, Option<usize>);
    impl<I: Iterator> Iterator for Says<I> {
        type Item = I::Item;
        fn next(&mut self) -> Option<I::Item> {
            self.0.next()
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            (0, self.1)
        }
    }
    for threads in [1, 2, 4] {
        pool(threads).install(|| {
            for says in [
                None,
                Some(0),
                Some(1),
                Some(5),
                Some(1_000_000),
                Some(usize::MAX),
            ] {
                assert_eq!(Says(0..1_000, says).par_bridge().count(), 1_000);
                assert_eq!(Says(0..0, says).par_bridge().count(), 0);
            }
        });
    }
}

#[test]
fn parts_of_slices_of_no_size() {
    let items = [(); usize::MAX];
    for size in [1, 2, 1_000, usize::MAX / 2, usize::MAX - 1, usize::MAX] {
        assert_eq!(items.par_windows(size).len(), items.windows(size).len());
        assert_eq!(items.par_chunks(size).len(), items.chunks(size).len());
        let last = items.par_windows(size).rev().take(1).map(<[()]>::len);
        assert_eq!(last.collect::<Vec<_>>(), [size]);
        let last = items.par_chunks(size).rev().take(1).map(<[()]>::len);
        assert_eq!(
            last.sum::<usize>(),
            items.chunks(size).next_back().unwrap().len()
        );
        let mut items = [(); usize::MAX];
        let last = items
            .par_chunks_mut(size)
            .rev()
            .take(1)
            .map(|chunk| chunk.len());
        assert_eq!(
            last.sum::<usize>(),
            usize::MAX - (usize::MAX - 1) / size * size
        );
    }
}

/// Slices that are sorted runs, or nearly so; comparisons that are not orders.
#[test]
fn sorts_of_runs() {
    const N: usize = 20_000;
    let mut random = fastrand::Rng::with_seed(3);
    let mut cases: Vec<Vec<usize>> = vec![
        (0..N).collect(),
        (0..N).rev().collect(),
        vec![7; N],
        (0..N).map(|i| (N - i) / 2).collect(),
        (0..N / 2).chain((0..N / 2).rev()).collect(),
        (0..N - 9).chain(0..9).collect(),
        (0..N - 9).rev().chain(0..9).collect(),
    ];
    for change in 0..20 {
        let mut items = cases[change % 7].clone();
        (0..[1, 4, 100, 2_000][change % 4])
            .for_each(|_| items[random.usize(..N)] = random.usize(..N));
        cases.push(items);
    }
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for case in &cases {
            let mut right: Vec<_> = case.iter().copied().enumerate().collect();
            let mut stable = right.clone();
            right.sort_by_key(|pair| pair.1);
            pool.install(|| stable.par_sort_by_key(|pair| pair.1));
            assert_eq!(stable, right);
            let mut items = case.clone();
            pool.install(|| items.par_sort_unstable());
            assert!(items.iter().eq(right.iter().map(|pair| &pair.1)));
            // The sort may panic. Afterwards all items are still there.
            let mut items: Vec<_> = case.iter().map(usize::to_string).collect();
            let mut all = items.clone();
            let (coin, stable_too) = (AtomicUsize::new(0), random.bool());
            _ = catch_unwind(AssertUnwindSafe(|| {
                let order = |a: &String, b: &String| match coin.fetch_add(1, Relaxed) % 5 {
                    0 => b.cmp(a),
                    4 if coin.load(Relaxed) > 2 * N => throw(),
                    _ => a.cmp(b),
                };
                match stable_too {
                    true => pool.install(|| items.par_sort_by(order)),
                    false => pool.install(|| items.par_sort_unstable_by(order)),
                }
            }));
            items.sort_unstable();
            all.sort_unstable();
            assert_eq!(items, all);
        }
    }
}
