//! Several threads call random nested loops in two pools, with random pauses and panics. A failure names its
//! seed.

use crate::partitioners::all;
use crate::pools::pool;
use crate::visits::Visits;
use fastrand::Rng;
use manycore::{Partitioner, Pool};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

struct World {
    pools: [Pool; 2],
    partitioners: Vec<Partitioner>,
}

impl World {
    fn new(a: usize, b: usize) -> Self {
        Self {
            pools: [pool(a), pool(b)],
            partitioners: all(),
        }
    }

    /// Runs one random loop, with random loops in some of its iterations.
    fn run(&self, rng: &mut Rng, depth: usize) {
        let pool = &self.pools[rng.usize(..2)];
        let partitioner = *rng.choice(&self.partitioners).unwrap();
        let loops = pool.with(partitioner);
        let n = match rng.u8(..4) {
            0 => rng.usize(..4),
            1 => rng.usize(..40),
            2 => rng.usize(..400),
            _ => rng.usize(..3_000),
        };
        let what = format!("{partitioner}, {} threads, {n} at {depth}", pool.threads());
        let start = rng.usize(..=usize::MAX - n);
        let range = start..start + n;
        // Each generator is forked before the loop, so that the loops do not depend on who runs them.
        let nested: Vec<(usize, Mutex<Rng>)> = (0..if depth > 0 { rng.usize(..4) } else { 0 })
            .filter(|_| n > 0)
            .map(|_| (start + rng.usize(..n), Mutex::new(rng.fork())))
            .collect();
        // Some loops have enough work for helpers to arrive.
        let pause = match n {
            0..400 => rng.u64(..3) * rng.u64(..3_000),
            _ => rng.u64(..100),
        };
        let inner = |i: usize| {
            let started = Instant::now();
            while started.elapsed() < Duration::from_nanos(pause) {
                std::hint::spin_loop();
            }
            for (_, rng) in nested.iter().filter(|(at, _)| *at == i) {
                self.run(&mut rng.lock().unwrap().clone(), depth - 1);
            }
        };
        match rng.u8(..6) {
            0 => {
                let visits = Visits::new(&range);
                loops.parallel_for_blocks(range, |block| {
                    block.for_each(|i| {
                        inner(i);
                        visits.visit(i);
                    });
                });
                visits.assert_each(1, what);
            }
            1 => {
                let sum = |a: u64, b: u64| a.wrapping_add(b);
                let map = |i: usize| {
                    inner(i);
                    i as u64
                };
                let expected = range.clone().map(|i| i as u64).fold(0, sum);
                let got = match rng.bool() {
                    true => loops.map_reduce(range, || 0, map, sum),
                    false => loops.map_reduce_deterministic(range, || 0, map, sum),
                };
                assert_eq!(got, expected, "{what}");
            }
            2 => {
                let mut items: Vec<u64> = (0..n as u64).collect();
                loops.inclusive_scan(&mut items, |a, b| a + b);
                let triangle = |i: u64| i * (i + 1) / 2;
                assert!(
                    (0..n as u64).all(|i| items[i as usize] == triangle(i)),
                    "{what}"
                );
            }
            3 if n > 0 => {
                let bad = start + rng.usize(..n);
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    loops.parallel_for(range, |i| {
                        inner(i);
                        if i == bad {
                            resume_unwind(Box::new(i));
                        }
                    });
                }));
                let payload = caught.expect_err("the body panics");
                assert_eq!(payload.downcast_ref(), Some(&bad), "{what}");
            }
            _ => {
                let visits = Visits::new(&range);
                loops.parallel_for(range, |i| {
                    inner(i);
                    visits.visit(i);
                });
                visits.assert_each(1, what);
            }
        }
    }
}

/// Runs `loops` random loops on each of `threads` threads.
fn storm(world: &World, seed: u64, threads: u64, loops: usize) {
    thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                let seed = seed * 1_000 + thread;
                let mut rng = Rng::with_seed(seed);
                for turn in 0..loops {
                    let run = || world.run(&mut rng, 3);
                    if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
                        eprintln!("seed {seed}, loop {turn}");
                        resume_unwind(payload);
                    }
                    if rng.u8(..20) == 0 {
                        thread::sleep(Duration::from_micros(rng.u64(..3_000)));
                    }
                }
            });
        }
    });
}

#[test]
fn one_caller() {
    storm(&World::new(2, 3), 1, 1, 2_000);
}

#[test]
fn four_callers() {
    storm(&World::new(2, 4), 2, 4, 500);
}

#[test]
fn many_callers_of_oversubscribed_pools() {
    storm(&World::new(16, 16), 3, 8, 100);
}

#[test]
fn pools_of_one_and_two() {
    storm(&World::new(1, 2), 4, 3, 500);
}
