//! The programs: the same source for manycore's and rayon's parallel iterators.

use std::collections::HashMap;
use std::hint::black_box;

/// The input of the programs, made once.
pub struct Input {
    /// A million numbers in no order.
    pub numbers: Vec<u64>,
    /// A text of a quarter of a million words.
    pub words: Vec<String>,
    /// A square of bytes, row by row.
    pub image: Vec<u8>,
    /// The neighbours of each node of a graph.
    pub graph: Vec<Vec<u32>>,
    /// Bodies on a line.
    pub bodies: Vec<f64>,
}

/// The sides of the image and of the matrices.
pub const SIDE: usize = 1_000;
const MATRIX: usize = 192;

impl Input {
    /// Makes the input, the same for each run.
    pub fn new() -> Self {
        let mixed = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
        let nodes = 60_000_u64;
        let near = |i: u64| {
            let random = (0..3).map(|k| mixed(4 * i + k) % nodes);
            let ring = [(i + 1) % nodes, (i + nodes - 1) % nodes];
            random.chain(ring).map(|node| node as u32).collect()
        };
        Self {
            numbers: (0..1_000_000).map(mixed).collect(),
            words: (0..250_000)
                .map(|i| format!("word{}", mixed(i) % 5_000))
                .collect(),
            image: (0..(SIDE * SIDE) as u64).map(|i| mixed(i) as u8).collect(),
            graph: (0..nodes).map(near).collect(),
            bodies: (0..1_500).map(|i| (mixed(i) % 10_000) as f64).collect(),
        }
    }
}

/// A program's name and function. Both runtimes must return the same result.
pub type Program = (&'static str, fn(&Input) -> u64);

macro_rules! programs {
    ($name:ident, $($prelude:tt)*) => {
        pub mod $name {
            use super::{HashMap, Input, MATRIX, Program, SIDE, black_box};
            use $($prelude)*;
            use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

            pub const ALL: [Program; 19] = [
                ("blur", blur),
                ("n-body", n_body),
                ("sort, stable", sort),
                ("sort, unstable", sort_unstable),
                ("matmul", matmul),
                ("word count", word_count),
                ("map, collect", map_collect),
                ("filter, collect", filter_collect),
                ("breadth-first search", search),
                ("a burst of 64 x 3 us", burst),
                ("sum", sum),
                ("any, in the middle", any),
                ("first, in the middle", position),
                ("backwards, zip", backwards),
                ("differences by skip", differences),
                ("each third", thirds),
                ("chain, collect", chain),
                ("a sum that may fail", try_sum),
                ("bridge of 512 x 3 us", bridge),
            ];

            fn blur(input: &Input) -> u64 {
                let mut blurred = vec![0_u8; SIDE * SIDE];
                blurred.par_chunks_mut(SIDE).enumerate().for_each(|(y, row)| {
                    let rows = [y.saturating_sub(1), y, (y + 1).min(SIDE - 1)];
                    for (x, pixel) in row.iter_mut().enumerate() {
                        let columns = [x.saturating_sub(1), x, (x + 1).min(SIDE - 1)];
                        let mut sum = 0;
                        for row in rows {
                            for column in columns {
                                sum += u32::from(input.image[row * SIDE + column]);
                            }
                        }
                        *pixel = (sum / 9) as u8;
                    }
                });
                blurred.iter().map(|x| u64::from(*x)).sum()
            }

            fn n_body(input: &Input) -> u64 {
                let pull = |at: &f64| {
                    let one = |other: &f64| {
                        let distance = other - at;
                        distance / (distance * distance + 1.0)
                    };
                    input.bodies.iter().map(one).sum::<f64>()
                };
                let pulls: Vec<f64> = input.bodies.par_iter().map(pull).collect();
                pulls[7].to_bits()
            }

            fn sort(input: &Input) -> u64 {
                let mut numbers = input.numbers.clone();
                numbers.par_sort();
                numbers[1_000]
            }

            fn sort_unstable(input: &Input) -> u64 {
                let mut numbers = input.numbers.clone();
                numbers.par_sort_unstable();
                numbers[1_000]
            }

            fn matmul(input: &Input) -> u64 {
                let left = &input.numbers[..MATRIX * MATRIX];
                let right = &input.numbers[MATRIX * MATRIX..2 * MATRIX * MATRIX];
                let mut product = vec![0_u64; MATRIX * MATRIX];
                product.par_chunks_mut(MATRIX).zip(left.par_chunks(MATRIX)).for_each(|(row, left)| {
                    for (factor, right) in left.iter().zip(right.chunks(MATRIX)) {
                        for (sum, x) in row.iter_mut().zip(right) {
                            *sum = sum.wrapping_add(factor.wrapping_mul(*x));
                        }
                    }
                });
                product.iter().fold(0, |sum, x| sum.wrapping_add(*x))
            }

            fn word_count(input: &Input) -> u64 {
                type Counts<'a> = HashMap<&'a str, u64>;
                let counts = (input.words.par_iter())
                    .fold(Counts::new, |mut counts, word| {
                        *counts.entry(word).or_insert(0) += 1;
                        counts
                    })
                    .reduce(Counts::new, |left, right| {
                        let (mut more, fewer) = match left.len() >= right.len() {
                            true => (left, right),
                            false => (right, left),
                        };
                        for (word, count) in fewer {
                            *more.entry(word).or_insert(0) += count;
                        }
                        more
                    });
                counts.values().map(|count| count * count).sum()
            }

            fn map_collect(input: &Input) -> u64 {
                let tripled: Vec<u64> = input.numbers.par_iter().map(|x| 3 * x + 1).collect();
                black_box(tripled)[500_000]
            }

            fn filter_collect(input: &Input) -> u64 {
                let numbers = input.numbers.par_iter().copied();
                let kept: Vec<u64> = numbers.filter(|x| x % 3 == 0).collect();
                black_box(kept).len() as u64
            }

            fn search(input: &Input) -> u64 {
                let seen: Vec<AtomicBool> = input.graph.iter().map(|_| AtomicBool::new(false)).collect();
                seen[0].store(true, Relaxed);
                let (mut frontier, mut depth, mut reached) = (vec![0_u32], 0, 1);
                while !frontier.is_empty() {
                    let next: Vec<u32> = (frontier.par_iter())
                        .flat_map_iter(|node| &input.graph[*node as usize])
                        .copied()
                        .filter(|node| !seen[*node as usize].swap(true, Relaxed))
                        .collect();
                    depth += 1;
                    reached += next.len() as u64;
                    frontier = next;
                }
                1_000_000 * depth + reached
            }

            fn burst(input: &Input) -> u64 {
                let work = |i: u64| (0..10_000).fold(i, |x, k| black_box(x ^ k));
                let start = input.numbers[0];
                (0..64_u64).into_par_iter().map(|i| work(start + i)).sum()
            }

            fn sum(input: &Input) -> u64 {
                input.numbers.par_iter().map(|x| x ^ 5).sum()
            }

            fn any(input: &Input) -> u64 {
                let middle = input.numbers[500_000];
                u64::from(input.numbers.par_iter().any(|x| *x == middle))
            }

            fn position(input: &Input) -> u64 {
                let middle = input.numbers[500_000];
                input.numbers.par_iter().position_first(|x| *x == middle).unwrap() as u64
            }

            fn backwards(input: &Input) -> u64 {
                let both = input.numbers.par_iter().rev().zip(&input.numbers);
                both.map(|(back, x)| (back ^ x) & 0xFFFF).sum()
            }

            fn differences(input: &Input) -> u64 {
                let both = input.numbers.par_iter().skip(1).zip(&input.numbers);
                let all: Vec<u64> = both.map(|(next, x)| next.abs_diff(*x)).collect();
                black_box(all)[700_000]
            }

            fn thirds(input: &Input) -> u64 {
                let thirds = (0..input.numbers.len()).into_par_iter().step_by(3);
                thirds.map(|i| input.numbers[i] & 0xFFFF).sum()
            }

            fn chain(input: &Input) -> u64 {
                let (left, right) = input.numbers.split_at(300_000);
                let both = right.par_iter().chain(left).map(|x| x ^ 7);
                black_box(both.collect::<Vec<u64>>())[800_000]
            }

            fn try_sum(input: &Input) -> u64 {
                let some = input.numbers.par_iter().map(|x| Some(x & 0xFFFF));
                some.try_reduce(|| 0, |a, b| a.checked_add(b)).unwrap()
            }

            fn bridge(input: &Input) -> u64 {
                let work = |x: &u64| (0..10_000).fold(*x, |x, k| black_box(x ^ k));
                // An iterator of unknown length.
                let some = input.numbers.iter().take(512).filter(|_| true);
                some.par_bridge().map(work).sum()
            }
        }
    };
}

programs!(manycores, manycore::prelude::*);
programs!(rayons, rayon::prelude::*);
