//! One visit to a peer: a process that runs loops in a group with a quota.

use super::group::Group;
use anyhow::{Result, bail, ensure};
use manycore::Pool;
use manycore::elastic::Watch;
use rayon::prelude::*;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// `rayon` has its default number of threads, `rayon-cpus` one for each CPU.
pub const PEERS: [&str; 3] = ["manycore", "rayon", "rayon-cpus"];

/// The time before measurements: quota and pace settle.
const WARM_UP: Duration = Duration::from_millis(1_500);
/// Iterations of a loop, about 100 ns each.
const ITERATIONS: usize = 20_000;

/// The measured case.
#[derive(Serialize, Deserialize)]
pub struct Order {
    pub group: Group,
    pub cpus: usize,
    pub time: Duration,
}

#[derive(Serialize, Deserialize)]
pub struct Visit {
    pub iterations_per_ms: f64,
    pub throttled_per_s: f64,
    pub threads: String,
}

/// Runs the loops of `name` in this process.
///
/// # Errors
///
/// If there are too few CPUs, a pool cannot be made, or this process cannot be confined.
pub fn visit(name: &str, order: Order) -> Result<Visit> {
    // Joins the group first, since a pool reads the quota when it is made.
    order.group.join()?;
    confine(order.cpus)?;
    match name {
        "manycore" => {
            let watch = Watch::start()?;
            let pool = Pool::builder()
                .threads(order.cpus)
                .follow(watch.allotment())
                .build()?;
            measure("follows", &order, || {
                pool.parallel_for(0..ITERATIONS, |i| {
                    black_box(iteration(i));
                });
            })
        }
        "rayon" | "rayon-cpus" => {
            let builder = rayon::ThreadPoolBuilder::new();
            let pool = match name {
                "rayon" => builder,
                _ => builder.num_threads(order.cpus),
            };
            let pool = pool.build()?;
            let threads = pool.current_num_threads().to_string();
            // Inside the pool, so that its threads call the loops.
            pool.install(|| {
                measure(&threads, &order, || {
                    (0..ITERATIONS).into_par_iter().for_each(|i| {
                        black_box(iteration(i));
                    });
                })
            })
        }
        _ => bail!("no peer `{name}`; expected one of {}", PEERS.join(", ")),
    }
}

/// Confines this process to the first `cpus` of its CPUs.
fn confine(cpus: usize) -> Result<()> {
    let all = sched_getaffinity(None)?;
    let mut some = CpuSet::new();
    let ids = (0..CpuSet::MAX_CPU).filter(|&cpu| all.is_set(cpu));
    ids.take(cpus).for_each(|cpu| some.set(cpu));
    ensure!(
        some.count() as usize == cpus,
        "--cpus: there are only {} CPUs",
        some.count()
    );
    Ok(sched_setaffinity(None, &some)?)
}

/// Runs loops to warm up, and then for the time of `order`.
fn measure(threads: &str, order: &Order, mut run: impl FnMut()) -> Result<Visit> {
    let start = Instant::now();
    while start.elapsed() < WARM_UP {
        run();
    }
    let before = order.group.throttled()?;
    let (start, mut loops) = (Instant::now(), 0);
    while start.elapsed() < order.time {
        run();
        loops += 1;
    }
    let passed = start.elapsed().as_secs_f64();
    let throttled = order.group.throttled()? - before;
    Ok(Visit {
        iterations_per_ms: (loops * ITERATIONS) as f64 / (passed * 1e3),
        throttled_per_s: throttled as f64 / passed,
        threads: threads.to_owned(),
    })
}

/// About 100 ns of dependent arithmetic.
fn iteration(i: usize) -> u64 {
    let mut x = i as u64 | 1;
    for _ in 0..60 {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    x
}
