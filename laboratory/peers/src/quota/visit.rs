//! One visit to a peer: a process in a group with a quota, which runs loops.

use crate::group::Group;
use anyhow::{Context, Result, bail, ensure};
use manycore::Pool;
use manycore::elastic::Watch;
use rayon::prelude::*;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// rayon has as many threads as it makes by itself, or one for each CPU.
pub const PEERS: [&str; 3] = ["manycore", "rayon", "rayon-cpus"];

/// Before anything is measured: the quota and the pace have settled.
const WARM_UP: Duration = Duration::from_millis(1_500);
/// Iterations of one loop, of about 100 ns each.
const ITERATIONS: usize = 20_000;

pub struct Visit {
    pub iterations_per_ms: f64,
    pub throttled_per_s: f64,
    pub threads: String,
}

/// Measures in a process of its own.
///
/// # Errors
///
/// What that process says, or that it died, or that it cannot be confined.
pub fn visit(name: &str, quota: f64, cpus: usize, time: Duration) -> Result<Visit> {
    let group = Group::new()?;
    group.set_quota(quota)?;
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--child", name, "--cpus", &cpus.to_string()])
        .args(["--time", &time.as_millis().to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start the process of {name}"))?;
    group.add(child.id())?;
    let mut to = child.stdin.take().context("it has no input")?;
    writeln!(to, "go")?;
    let mut lines = BufReader::new(child.stdout.take().context("it has no output")?).lines();
    let mut line = || {
        lines
            .next()
            .context("it ended early")?
            .context("its output")
    };
    let threads = line()?;
    let before = group.throttled()?;
    let iterations_per_ms = line()?.parse()?;
    let throttled = group.throttled()? - before;
    let status = child.wait()?;
    ensure!(status.success(), "it ended with {status}");
    Ok(Visit {
        iterations_per_ms,
        throttled_per_s: throttled as f64 / time.as_secs_f64(),
        threads,
    })
}

/// What that process does.
///
/// # Errors
///
/// When there are too few CPUs, or a pool cannot be made.
pub fn answer(name: &str, cpus: usize, time: Duration) -> Result<()> {
    // The group first: what a pool sees of it when it is made counts.
    std::io::stdin().lines().next().context("no input")??;
    confine(cpus)?;
    match name {
        "manycore" => {
            let watch = Watch::start()?;
            let pool = Pool::builder()
                .threads(cpus)
                .follow(watch.allotment())
                .build()?;
            measure("follows", time, || {
                pool.parallel_for(0..ITERATIONS, |i| {
                    black_box(iteration(i));
                });
            });
        }
        "rayon" | "rayon-cpus" => {
            let builder = rayon::ThreadPoolBuilder::new();
            let pool = match name {
                "rayon" => builder,
                _ => builder.num_threads(cpus),
            };
            let pool = pool.build()?;
            let threads = pool.current_num_threads().to_string();
            // Inside, so that the loops are its threads' own.
            pool.install(|| {
                measure(&threads, time, || {
                    (0..ITERATIONS).into_par_iter().for_each(|i| {
                        black_box(iteration(i));
                    });
                });
            });
        }
        _ => bail!("no peer `{name}`; expected one of {}", PEERS.join(", ")),
    }
    Ok(())
}

/// Leaves this process the first `cpus` of its CPUs.
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

/// Says how many `threads` there are, runs loops for `time`, and says how many
/// iterations a millisecond that were.
fn measure(threads: &str, time: Duration, mut run: impl FnMut()) {
    let start = Instant::now();
    while start.elapsed() < WARM_UP {
        run();
    }
    println!("{threads}");
    let (start, mut loops) = (Instant::now(), 0);
    while start.elapsed() < time {
        run();
        loops += 1;
    }
    let ms = start.elapsed().as_secs_f64() * 1e3;
    println!("{}", (loops * ITERATIONS) as f64 / ms);
}

/// A hundred nanoseconds or so of arithmetic, one step after the other.
fn iteration(i: usize) -> u64 {
    let mut x = i as u64 | 1;
    for _ in 0..60 {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    x
}
