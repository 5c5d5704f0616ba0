//! Collecting into vectors and maps.

use super::sum_below;
use crate::Program;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};

const MILLION: u64 = 1_000_000;
const PAIRS: u64 = 1 << 16;

pub fn programs() -> Vec<Program> {
    vec![
        vector("collect_million", MILLION, || numbers(MILLION).collect()),
        vector("collect_64k", PAIRS, || numbers(PAIRS).collect()),
        vector("collect_strided", MILLION / 2, || {
            numbers(MILLION)
                .filter(|x| x % 2 == 0)
                .map(|x| x / 2)
                .collect()
        }),
        vector("collect_by_fold", MILLION, || {
            let push = |mut vec: Vec<u64>, x| {
                vec.push(x);
                vec
            };
            let parts = numbers(MILLION).fold(Vec::new, push);
            parts.reduce(Vec::new, |mut a, mut b| {
                a.append(&mut b);
                a
            })
        }),
        map("collect_hash_map", || {
            pairs().collect::<HashMap<_, _>>().into_iter().collect()
        }),
        map("collect_tree_map", || pairs().collect()),
        Program::giving(
            "count_by_fold",
            count_remainders,
            vec![PAIRS as u32 / 16; 16],
        ),
    ]
}

fn numbers(count: u64) -> impl ParallelIterator<Item = u64> {
    (0..count as usize).into_par_iter().map(|x| x as u64)
}

fn pairs() -> impl ParallelIterator<Item = (u64, u64)> {
    numbers(PAIRS).map(|x| (x, x + 1))
}

fn vector(name: &str, count: u64, run: impl Fn() -> Vec<u64> + Send + Sync + 'static) -> Program {
    Program::new(
        name,
        || (),
        move |()| run(),
        move |numbers: Vec<u64>| {
            assert_eq!(numbers.len() as u64, count);
            assert!(numbers.into_iter().eq(0..count));
        },
    )
}

fn map(name: &str, run: impl Fn() -> BTreeMap<u64, u64> + Send + Sync + 'static) -> Program {
    Program::new(
        name,
        || (),
        move |()| run(),
        |map: BTreeMap<u64, u64>| {
            assert_eq!(map.len() as u64, PAIRS);
            assert_eq!(map.values().sum::<u64>(), sum_below(PAIRS) + PAIRS);
        },
    )
}

/// How often each remainder by 16 occurs.
fn count_remainders() -> Vec<u32> {
    let counts = numbers(PAIRS).fold(HashMap::new, |mut counts: HashMap<u64, u32>, x| {
        *counts.entry(x % 16).or_default() += 1;
        counts
    });
    let counts = counts.reduce(HashMap::new, |mut a, b| {
        b.into_iter()
            .for_each(|(key, count)| *a.entry(key).or_default() += count);
        a
    });
    (0..16).map(|key| counts[&key]).collect()
}
