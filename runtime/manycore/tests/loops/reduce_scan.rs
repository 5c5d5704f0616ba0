//! Reductions and scans: the order of the operands, equality to the last bit, drops.

use crate::partitioners::all;
use crate::pools::pool;
use manycore::{Loop, Partitioner};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

const LENGTHS: [usize; 8] = [0, 1, 2, 3, 65, 1_000, 1_025, 2_500];
const PRIME: u64 = 1_000_003;

/// Runs `test` on every partitioner in pools of several sizes.
fn everywhere(test: impl Fn(Loop<'_>, &str)) {
    for threads in [1, 2, 3, 9] {
        let pool = pool(threads);
        for partitioner in all() {
            test(
                pool.with(partitioner),
                &format!("{partitioner}, {threads} threads"),
            );
        }
    }
}

#[test]
fn strings_are_joined_in_order() {
    let join = |left: String, right: String| left + &right;
    let word = |i: usize| format!("{i},");
    everywhere(|loops, what| {
        for n in LENGTHS {
            let expected: String = (7..7 + n).map(word).collect();
            let joined = loops.map_reduce(7..7 + n, String::new, word, join);
            assert_eq!(joined, expected, "{what}, {n}");
            let joined = loops.map_reduce_deterministic(7..7 + n, String::new, word, join);
            assert_eq!(joined, expected, "{what}, {n}, deterministic");
        }
    });
}

/// A 2x2 matrix modulo a prime: associative, not commutative.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Matrix([u64; 4]);

impl Matrix {
    const ONE: Self = Self([1, 0, 0, 1]);

    fn nth(i: usize) -> Self {
        let i = i as u64;
        Self([i % 7 + 1, i % 5, i % 3 + 2, i % 11 + 1])
    }

    fn times(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Self([a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h].map(|x| x % PRIME))
    }
}

#[test]
fn matrices_are_multiplied_in_order() {
    everywhere(|loops, what| {
        for n in LENGTHS {
            let expected = (0..n).map(Matrix::nth).fold(Matrix::ONE, Matrix::times);
            let product = loops.map_reduce(0..n, || Matrix::ONE, Matrix::nth, Matrix::times);
            assert_eq!(product, expected, "{what}, {n}");
        }
    });
}

#[test]
fn ranges_at_the_end_of_the_indices() {
    let sum = |a: u128, b: u128| a + b;
    everywhere(|loops, what| {
        let range = usize::MAX - 1_500..usize::MAX;
        let expected: u128 = range.clone().map(|i| i as u128).sum();
        let map = |i: usize| i as u128;
        assert_eq!(
            loops.map_reduce(range.clone(), || 0, map, sum),
            expected,
            "{what}"
        );
        let deterministic = loops.map_reduce_deterministic(range, || 0, map, sum);
        assert_eq!(deterministic, expected, "{what}");
    });
}

#[test]
#[expect(clippy::reversed_empty_ranges, reason = "one of the subjects")]
fn an_empty_range_gives_the_identity() {
    everywhere(|loops, what| {
        for range in [0..0, 5..5, 9..3, usize::MAX..usize::MAX] {
            let map = |i: usize| -> i32 { panic!("{what}: mapped {i}") };
            let reduce = |_, _| -> i32 { panic!("{what}: reduced") };
            assert_eq!(loops.map_reduce(range.clone(), || -1, map, reduce), -1);
            assert_eq!(
                loops.map_reduce_deterministic(range, || -1, map, reduce),
                -1
            );
        }
    });
}

/// The identity is the result of empty ranges; elsewhere it need not be neutral.
#[test]
fn the_identity_is_not_mixed_in() {
    everywhere(|loops, what| {
        let sum = loops.map_reduce(0..100, || 1_000_000, |i| i, |a, b| a + b);
        assert_eq!(sum, 4_950, "{what}");
        let sum = loops.map_reduce_deterministic(0..100, || 1_000_000, |i| i, |a, b| a + b);
        assert_eq!(sum, 4_950, "{what}");
    });
}

/// Returns terms of many magnitudes: any change of the order changes the last bits.
fn term(i: usize) -> f64 {
    let sign = if i % 3 == 0 { -1.0 } else { 1.0 };
    sign * ((i * 7_919 % 1_009) as f64)
        .powi((i % 9) as i32 - 4)
        .min(1e12)
}

#[test]
fn deterministic_sums_agree_to_the_last_bit() {
    for n in [1, 2, 1_000, 1_024, 1_025, 10_000] {
        let mut first = None;
        for threads in 1..=9 {
            let pool = pool(threads);
            for partitioner in all() {
                for _ in 0..2 {
                    let sum = pool.with(partitioner).map_reduce_deterministic(
                        3..3 + n,
                        || 0.0,
                        term,
                        |a, b| a + b,
                    );
                    let bits = sum.to_bits();
                    let what = format!("{n} terms, {partitioner}, {threads} threads");
                    assert_eq!(bits, *first.get_or_insert(bits), "{what}");
                }
            }
        }
    }
}

/// Neither `Copy` nor `Clone`; counts the existing values.
struct Owned<'a> {
    value: usize,
    alive: &'a AtomicIsize,
}

impl<'a> Owned<'a> {
    fn new(value: usize, alive: &'a AtomicIsize) -> Self {
        alive.fetch_add(1, Relaxed);
        Self { value, alive }
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Relaxed);
    }
}

#[test]
fn owned_results_are_dropped_once() {
    everywhere(|loops, what| {
        let alive = AtomicIsize::new(0);
        let one = |i| Owned::new(i, &alive);
        let add = |a: Owned<'_>, b: Owned<'_>| Owned::new(a.value + b.value, &alive);
        let sum = loops.map_reduce(0..1_500, || one(0), one, add);
        assert_eq!((sum.value, alive.load(Relaxed)), (1_124_250, 1), "{what}");
        drop(sum);
        let sum = loops.map_reduce_deterministic(0..1_500, || one(0), one, add);
        assert_eq!((sum.value, alive.load(Relaxed)), (1_124_250, 1), "{what}");
        drop(sum);
        assert_eq!(alive.into_inner(), 0, "{what}");
    });
}

#[test]
fn a_panic_leaks_no_partial_result() {
    /// The call that panics.
    #[derive(Clone, Copy, Debug)]
    enum When {
        Mapping(usize),
        Reducing(usize),
    }
    let whens = [
        When::Mapping(0),
        When::Mapping(700),
        When::Mapping(1_499),
        When::Reducing(0),
        When::Reducing(700),
        When::Reducing(1_498), // the last, on the caller
    ];
    everywhere(|loops, what| {
        for when in whens {
            let (alive, reductions) = (AtomicIsize::new(0), AtomicUsize::new(0));
            let map = |i| match when {
                When::Mapping(at) if at == i => resume_unwind(Box::new(i)),
                _ => Owned::new(i, &alive),
            };
            let reduce = |a: Owned<'_>, b: Owned<'_>| match when {
                When::Reducing(at) if at == reductions.fetch_add(1, Relaxed) => {
                    resume_unwind(Box::new(at))
                }
                _ => Owned::new(a.value + b.value, &alive),
            };
            let identity = || Owned::new(0, &alive);
            for deterministic in [false, true] {
                reductions.store(0, Relaxed);
                let caught = catch_unwind(AssertUnwindSafe(|| match deterministic {
                    false => loops.map_reduce(0..1_500, identity, map, reduce),
                    true => loops.map_reduce_deterministic(0..1_500, identity, map, reduce),
                }));
                assert!(caught.is_err(), "{what}, {when:?}");
                assert_eq!(alive.load(Relaxed), 0, "{what}, {when:?}");
            }
        }
    });
}

/// An affine map `x -> a x + b`. Composition of such maps does not commute.
type Affine = (u64, u64);

fn then(first: &Affine, second: &Affine) -> Affine {
    (
        first.0 * second.0 % PRIME,
        (first.1 * second.0 + second.1) % PRIME,
    )
}

fn affine(n: usize) -> Vec<Affine> {
    (0..n as u64).map(|i| (i % 97 + 1, i % 89)).collect()
}

/// Compares both scans of `n` maps with sequential scans.
fn check_scans(loops: Loop<'_>, n: usize, what: &str) {
    let items = affine(n);
    let (mut sums, mut expected) = (Vec::new(), (1, 0));
    for item in &items {
        sums.push(expected);
        expected = then(&expected, item);
    }
    let mut scanned = items.clone();
    let total = loops.exclusive_scan(&mut scanned, (1, 0), then);
    assert!(scanned == sums, "{what}: exclusive scan of {n}");
    assert_eq!(total, expected, "{what}: total of {n}");
    let mut scanned = items;
    loops.inclusive_scan(&mut scanned, then);
    let shifted = sums.iter().skip(1).chain([&expected]).take(n);
    assert!(scanned.iter().eq(shifted), "{what}: inclusive scan of {n}");
}

#[test]
fn scans_of_short_slices() {
    everywhere(|loops, what| {
        for n in [0, 1, 2, 3, 64, 2_047, 2_048, 2_049] {
            check_scans(loops, n, what);
        }
    });
}

#[test]
fn scans_around_the_edges_of_blocks() {
    for threads in [2, 3] {
        let pool = pool(threads);
        for partitioner in all() {
            for n in [4_095, 4_096, 4_097, 6_145, 30_000] {
                check_scans(pool.with(partitioner), n, &partitioner.to_string());
            }
        }
        for n in [100_000, (1 << 20) + 1] {
            check_scans(pool.with(Partitioner::default()), n, "adaptive");
        }
    }
}

#[test]
fn scans_of_floats_agree_to_the_last_bit() {
    let bits = |items: &[f64]| -> Vec<u64> { items.iter().map(|item| item.to_bits()).collect() };
    let mut first = None;
    for threads in 1..=9 {
        let pool = pool(threads);
        for partitioner in all() {
            let mut inclusive: Vec<f64> = (0..7_000).map(term).collect();
            let mut exclusive = inclusive.clone();
            let loops = pool.with(partitioner);
            loops.inclusive_scan(&mut inclusive, |a, b| a + b);
            let total = loops.exclusive_scan(&mut exclusive, 0.0, |a, b| a + b);
            let result = (bits(&inclusive), bits(&exclusive), total.to_bits());
            assert!(
                *first.get_or_insert_with(|| result.clone()) == result,
                "{partitioner}, {threads} threads"
            );
        }
    }
}

#[test]
fn scans_of_strings() {
    let pool = pool(3);
    let join = |a: &String, b: &String| format!("{a}{b}");
    let letters: Vec<String> = ('a'..='z').cycle().take(2_200).map(String::from).collect();
    let mut inclusive = letters.clone();
    pool.inclusive_scan(&mut inclusive, join);
    let all = letters.concat();
    assert!((0..2_200).all(|i| inclusive[i] == all[..=i]));
    let mut exclusive = letters;
    let total = pool.exclusive_scan(&mut exclusive, ">".into(), join);
    assert!((0..2_200).all(|i| exclusive[i][1..] == all[..i]));
    assert_eq!(total, format!(">{all}"));
}

#[test]
fn a_scan_of_nothing_returns_the_identity() {
    everywhere(|loops, what| {
        let op = |_: &i32, _: &i32| -> i32 { panic!("{what}: called") };
        assert_eq!(loops.exclusive_scan(&mut [], 42, op), 42, "{what}");
        loops.inclusive_scan(&mut [], op);
        let mut one = [7];
        loops.inclusive_scan(&mut one, op);
        assert_eq!(one, [7], "{what}");
    });
}

#[test]
fn a_panic_in_a_scan_drops_every_item_once() {
    #[derive(Debug)]
    struct Item<'a>(&'a AtomicIsize);
    impl Clone for Item<'_> {
        fn clone(&self) -> Self {
            self.0.fetch_add(1, Relaxed);
            Self(self.0)
        }
    }
    impl Drop for Item<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Relaxed);
        }
    }
    let pool = pool(3);
    for partitioner in all() {
        for at in [0, 100, 2_046, 5_000, 9_000] {
            let (alive, calls) = (AtomicIsize::new(1), AtomicUsize::new(0));
            let mut items = vec![Item(&alive); 5_000];
            let caught = catch_unwind(AssertUnwindSafe(|| {
                pool.with(partitioner)
                    .inclusive_scan(&mut items, |item, _| match calls.fetch_add(1, Relaxed) {
                        call if call == at => resume_unwind(Box::new(call)),
                        _ => item.clone(),
                    });
            }));
            // 2,047 calls for the totals of all blocks but the last; 1 call to combine these; and one call
            // for each item but the first.
            let calls_in_all = 2 * 2_047 + 1 + 4_999;
            assert_eq!(caught.is_err(), at < calls_in_all, "{partitioner}, {at}");
            assert_eq!(alive.load(Relaxed), 5_000, "{partitioner}, {at}");
        }
    }
}

/// Bodies wait long while other threads call: permits and ranks change hands during blocks.
#[test]
fn reductions_of_bodies_that_wait() {
    let pause = || thread::sleep(Duration::from_micros(200));
    for threads in [2, 3] {
        let pool = pool(threads);
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let others = || {
                while !over.load(Relaxed) {
                    pool.install(thread::yield_now);
                }
            };
            scope.spawn(others);
            scope.spawn(others);
            for partitioner in all() {
                let loops = pool.with(partitioner);
                let map = |i: usize| {
                    if i % 4 == 0 {
                        pool.join(pause, pause);
                    }
                    i
                };
                let sum = loops.map_reduce(0..40, || 0, map, |a, b| a + b);
                assert_eq!(sum, 780, "{partitioner}, {threads} threads");
            }
            over.store(true, Relaxed);
        });
    }
}
