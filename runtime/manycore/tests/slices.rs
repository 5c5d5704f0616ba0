//! Loops over slices: `for_each`, `for_each_mut`, `chunks_mut`.

#[path = "support/partitioners.rs"]
mod partitioners;
#[path = "support/pools.rs"]
mod pools;

use manycore::Pool;
use partitioners::all;
use pools::pool;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::Relaxed};

const LENGTHS: [usize; 8] = [0, 1, 2, 3, 64, 65, 1_000, 2_049];

#[test]
fn for_each_sees_every_item_once() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for partitioner in all() {
            for n in LENGTHS {
                let items: Vec<AtomicUsize> = (0..n).map(AtomicUsize::new).collect();
                pool.with(partitioner)
                    .for_each(&items, |item| _ = item.fetch_add(1, Relaxed));
                let right = |(i, item): (usize, &AtomicUsize)| item.load(Relaxed) == i + 1;
                assert!(items.iter().enumerate().all(right), "{partitioner} {n}");
            }
        }
    }
}

#[test]
fn for_each_mut_changes_every_item_once() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for partitioner in all() {
            for n in LENGTHS {
                let mut items: Vec<String> = (0..n).map(|i| i.to_string()).collect();
                pool.with(partitioner)
                    .for_each_mut(&mut items, |item| item.push('!'));
                let right = |(i, item): (usize, &String)| *item == format!("{i}!");
                assert!(items.iter().enumerate().all(right), "{partitioner} {n}");
            }
        }
    }
}

#[test]
fn chunks_have_the_asked_size_but_the_last() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for partitioner in all() {
            for n in LENGTHS {
                for chunk in [1, 2, 7, 64, 1_000, 2_050, usize::MAX] {
                    let what = format!("{partitioner}: {n} items in chunks of {chunk}");
                    let mut items = vec![usize::MAX; n];
                    let chunks = AtomicUsize::new(0);
                    pool.with(partitioner)
                        .chunks_mut(&mut items, chunk, |index, items| {
                            chunks.fetch_add(1, Relaxed);
                            let rest = n - index * chunk;
                            assert_eq!(items.len(), chunk.min(rest), "{what}");
                            items.fill(index);
                        });
                    assert_eq!(chunks.into_inner(), n.div_ceil(chunk), "{what}");
                    let right = |(i, &item): (usize, &usize)| item == i / chunk;
                    assert!(items.iter().enumerate().all(right), "{what}");
                }
            }
        }
    }
}

#[test]
fn chunks_of_nothing_are_refused() {
    let pool = pool(2);
    for items in [&mut [][..], &mut [1, 2, 3][..]] {
        let refused = catch_unwind(AssertUnwindSafe(|| {
            pool.chunks_mut(items, 0, |_, _| panic!("the body ran"));
        }));
        let payload = refused.expect_err("a chunk of 0 items");
        let message = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let message = message.expect("a panic with a message");
        assert!(message.contains("chunk"), "{message}");
    }
}

#[test]
fn items_without_size() {
    let pool = pool(3);
    for partitioner in all() {
        let loops = pool.with(partitioner);
        let calls = AtomicUsize::new(0);
        let mut units = vec![(); 1_000];
        loops.for_each(&units, |()| _ = calls.fetch_add(1, Relaxed));
        loops.for_each_mut(&mut units, |()| _ = calls.fetch_add(1, Relaxed));
        loops.chunks_mut(&mut units, 300, |_, units| {
            calls.fetch_add(units.len(), Relaxed);
        });
        assert_eq!(calls.into_inner(), 3_000, "{partitioner}");
    }
}

/// The longest possible slice.
#[test]
fn chunks_of_more_units_than_there_are_addresses() {
    let mut units = vec![(); usize::MAX];
    let lengths = Mutex::new(Vec::new());
    pool(2).chunks_mut(&mut units, usize::MAX / 2, |index, units| {
        lengths.lock().unwrap().push((index, units.len()));
    });
    let mut lengths = lengths.into_inner().unwrap();
    lengths.sort_unstable();
    assert_eq!(lengths, [(0, usize::MAX / 2), (1, usize::MAX / 2), (2, 1)]);
}

/// Counts the existing items.
struct Tracked<'a>(&'a AtomicIsize);

impl<'a> Tracked<'a> {
    fn new(alive: &'a AtomicIsize) -> Self {
        alive.fetch_add(1, Relaxed);
        Self(alive)
    }
}

impl Drop for Tracked<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

#[test]
fn replaced_items_are_dropped_and_no_others() {
    let pool = pool(3);
    for partitioner in all() {
        let alive = AtomicIsize::new(0);
        let mut items: Vec<_> = (0..777).map(|_| Tracked::new(&alive)).collect();
        pool.with(partitioner)
            .for_each_mut(&mut items, |item| *item = Tracked::new(&alive));
        assert_eq!(alive.load(Relaxed), 777, "{partitioner}");
        pool.with(partitioner)
            .chunks_mut(&mut items, 10, |_, items| items.rotate_left(1));
        assert_eq!(alive.load(Relaxed), 777, "{partitioner}");
        drop(items);
        assert_eq!(alive.load(Relaxed), 0, "{partitioner}");
    }
}

#[test]
fn a_panic_leaves_every_item_in_permit() {
    let pool = pool(3);
    for partitioner in all() {
        let alive = AtomicIsize::new(0);
        let mut items: Vec<_> = (0..777).map(|i| (i, Tracked::new(&alive))).collect();
        let caught = catch_unwind(AssertUnwindSafe(|| {
            pool.with(partitioner).for_each_mut(&mut items, |item| {
                item.1 = Tracked::new(&alive);
                if item.0 == 500 {
                    std::panic::resume_unwind(Box::new("item 500"));
                }
            });
        }));
        assert!(caught.is_err(), "{partitioner}");
        assert_eq!(alive.load(Relaxed), 777, "{partitioner}");
        assert!(items.iter().enumerate().all(|(i, item)| item.0 == i));
        drop(items);
        assert_eq!(alive.load(Relaxed), 0, "{partitioner}");
    }
}

/// A loop accepts slices from anywhere: items that borrow, and a borrowed pool.
#[test]
fn items_may_borrow_from_the_stack() {
    fn longest<'a>(pool: &Pool, words: &[&'a str], out: &mut [&'a str]) {
        pool.chunks_mut(out, 1, |i, out| out[0] = words[i]);
    }
    let text = String::from("each word is borrowed from here");
    let words: Vec<&str> = text.split(' ').collect();
    let mut out = vec![""; words.len()];
    longest(&pool(2), &words, &mut out);
    assert_eq!(out, words);
}
