//! Loops in loops, in one pool and across pools; loops from many threads at once; loops after pauses of every
//! length.

use crate::partitioners::all;
use crate::pools::pool;
use crate::visits::Visits;
use manycore::{Partitioner, Pool};
use std::thread;
use std::time::Duration;

/// Runs nested loops of the given `lengths`. Levels take pools and partitioners in turn. Counts the path to
/// each innermost iteration in `visits`.
fn nest(
    pools: &[&Pool],
    partitioners: &[Partitioner],
    lengths: &[usize],
    path: usize,
    visits: &Visits,
) {
    let [length, inner @ ..] = lengths else {
        return visits.visit(path);
    };
    let depth = inner.len();
    let partitioner = partitioners[depth % partitioners.len()];
    pools[depth % pools.len()]
        .with(partitioner)
        .parallel_for(0..*length, |i| {
            nest(pools, partitioners, inner, path * length + i, visits);
        });
}

fn check(pools: &[&Pool], partitioners: &[Partitioner], lengths: &[usize]) {
    let visits = Visits::new(&(0..lengths.iter().product()));
    nest(pools, partitioners, lengths, 0, &visits);
    let names: Vec<String> = partitioners.iter().map(Partitioner::to_string).collect();
    let threads: Vec<usize> = pools.iter().map(|pool| pool.threads()).collect();
    visits.assert_each(1, format!("{lengths:?}, {names:?}, threads {threads:?}"));
}

#[test]
fn two_three_and_four_deep() {
    for threads in [1, 2, 3, 4] {
        let pool = pool(threads);
        for partitioner in all() {
            check(&[&pool], &[partitioner], &[30, 30]);
            check(&[&pool], &[partitioner], &[2, 300]);
            check(&[&pool], &[partitioner], &[300, 2]);
            check(&[&pool], &[partitioner], &[8, 8, 8]);
            check(&[&pool], &[partitioner], &[5, 5, 5, 5]);
        }
    }
}

#[test]
fn every_partitioner_in_every_other() {
    let pool = pool(3);
    for outer in all() {
        for inner in all() {
            check(&[&pool], &[inner, outer], &[9, 40]);
        }
    }
}

/// The loops nest deeper than the pool has slots for posted loops.
#[test]
fn a_hundred_deep() {
    let mut lengths = [1; 100];
    for at in [0, 30, 50, 70, 99] {
        lengths[at] = 3;
    }
    for threads in [1, 2, 3] {
        let pool = pool(threads);
        for partitioner in all() {
            check(&[&pool], &[partitioner], &lengths);
        }
    }
}

/// The same threads are workers of one pool and external threads of the other: calls go from A into B and
/// back into A.
#[test]
fn pools_in_pools_and_back() {
    for (a, b) in [(1, 2), (2, 1), (2, 2), (3, 2), (4, 4)] {
        let (a, b) = (pool(a), pool(b));
        for partitioner in all() {
            check(&[&a, &b], &[partitioner], &[20, 20]);
            check(&[&a, &b], &[partitioner], &[6, 6, 6]);
            check(&[&a, &b], &[partitioner], &[4, 4, 4, 4]);
        }
    }
}

#[test]
fn a_pool_made_and_dropped_in_a_body() {
    let outer = pool(3);
    for partitioner in all() {
        let visits = Visits::new(&(0..6 * 50));
        outer.with(partitioner).parallel_for(0..6, |i| {
            let inner = pool(2);
            inner
                .with(partitioner)
                .parallel_for(0..50, |j| visits.visit(i * 50 + j));
        });
        visits.assert_each(1, partitioner);
    }
}

/// The nested loops of eight external threads need more slots than the board has.
#[test]
fn eight_threads_share_a_pool() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for partitioner in all() {
            thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        for _ in 0..5 {
                            check(&[&pool], &[partitioner], &[100]);
                            check(&[&pool], &[partitioner], &[6, 6, 6]);
                        }
                    });
                }
            });
        }
    }
}

/// Nested reductions on shared ranks, whose results depend on the order.
#[test]
fn reductions_in_reductions() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        let expected: String = (0..400).map(|i| format!("{i} ")).collect();
        for partitioner in all() {
            let loops = pool.with(partitioner);
            let join = |left: String, right: String| left + &right;
            let row = |i: usize| {
                let word = |j: usize| format!("{} ", i * 20 + j);
                loops.map_reduce(0..20, String::new, word, join)
            };
            let text = loops.map_reduce(0..20, String::new, row, join);
            assert_eq!(text, expected, "{partitioner}, {threads} threads");
        }
    }
}

/// A nested loop may also run in the operator that combines results.
#[test]
fn loops_in_the_reducing_operator() {
    let pool = pool(3);
    for partitioner in all() {
        let loops = pool.with(partitioner);
        let add = |a: u64, b: u64| loops.map_reduce(0..2, || 0, |i| [a, b][i], |a, b| a + b);
        let sum = loops.map_reduce(0..300, || 0, |i| i as u64, add);
        assert_eq!(sum, 44_850, "{partitioner}");
    }
}

/// The loops find workers that spin, wake in time, wake late, or sleep.
#[test]
fn loops_after_pauses() {
    for threads in [2, 4] {
        let pool = pool(threads);
        for (pause, times) in [
            (Duration::ZERO, 300),
            (Duration::from_micros(10), 150),
            (Duration::from_millis(1), 60),
            (Duration::from_millis(20), 12),
        ] {
            for time in 0..times {
                let partitioners = all();
                let partitioner = partitioners[time % partitioners.len()];
                let n = [1, 2, 9, 100, 2_000][time % 5];
                check(&[&pool], &[partitioner], &[n]);
                check(&[&pool], &[partitioner], &[3, n]);
                if !pause.is_zero() {
                    thread::sleep(pause);
                }
            }
        }
    }
}

/// The workers learn a rhythm of loops. Then the pauses change.
#[test]
fn a_rhythm_that_breaks() {
    let pool = pool(3);
    for pause in [
        1, 1, 1, 1, 1, 1, 1, 1, 30, 1, 1, 1, 1, 1, 5, 5, 5, 5, 5, 5, 1, 60, 5,
    ] {
        check(&[&pool], &[Partitioner::default()], &[500]);
        check(&[&pool], &[Partitioner::fixed_block(1)], &[5]);
        thread::sleep(Duration::from_millis(pause));
    }
}
