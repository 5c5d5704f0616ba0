//! The time until a sleeping pool begins a job, compared with the time to wake a thread from a futex; and the
//! cost of a pool at rest.
//!
//! Both times are measured in turn, each after the sleeper has slept for 1 ms: from just before the call to
//! the first instruction of the woken thread. The cost at rest leaves out the first 100 ms.
//!
//! `cargo bench -p manycore --bench wake [-- ROUNDS]`

use manycore_platform::{Atomic, Futex, Native, Ordering, Platform};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::thread;
use std::time::{Duration, Instant};

/// A thread that sleeps on a futex and notes when it woke.
struct Sleeper {
    word: AtomicU32,
    woke: AtomicU64,
}

const ASLEEP: u32 = 0;
const WOKEN: u32 = 1;
const ENDED: u32 = 2;

fn main() {
    // Cargo passes `--bench`.
    let rounds = std::env::args().skip(1).find(|arg| arg != "--bench");
    let rounds: usize = match rounds.as_deref().map(str::parse).unwrap_or(Ok(300)) {
        Ok(rounds) if rounds > 0 => rounds,
        _ => {
            eprintln!("wake: expected a number of rounds, at least 1");
            std::process::exit(2);
        }
    };
    let pool = manycore::Pool::builder()
        .threads(2)
        .build()
        .expect("a pool of two threads");
    let sleeper = Arc::new(Sleeper {
        word: AtomicU32::new(ASLEEP),
        woke: AtomicU64::new(0),
    });
    let thread = {
        let sleeper = Arc::clone(&sleeper);
        thread::spawn(move || {
            loop {
                sleeper.word.wait(ASLEEP, None);
                match sleeper.word.load(Ordering::Acquire) {
                    ENDED => return,
                    WOKEN => {
                        sleeper.woke.store(Native::now(), Ordering::Relaxed);
                        sleeper.word.store(ASLEEP, Ordering::Release);
                    }
                    _ => {}
                }
            }
        })
    };
    let (mut by_futex, mut by_spawn) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        thread::sleep(Duration::from_millis(1));
        let start = Native::now();
        Atomic::store(&sleeper.word, WOKEN, Ordering::Release);
        sleeper.word.wake(1);
        while sleeper.word.load(Ordering::Acquire) != ASLEEP {
            thread::yield_now();
        }
        let woke = sleeper.woke.load(Ordering::Relaxed);
        by_futex.push(Native::ticks_to_ns(woke.saturating_sub(start)) / 1e3);

        thread::sleep(Duration::from_millis(1));
        let began = Arc::new(AtomicU64::new(0));
        let start = Native::now();
        pool.spawn({
            let began = Arc::clone(&began);
            move || began.store(Native::now(), Ordering::Release)
        });
        while began.load(Ordering::Acquire) == 0 {
            thread::yield_now();
        }
        let began = began.load(Ordering::Relaxed);
        by_spawn.push(Native::ticks_to_ns(began.saturating_sub(start)) / 1e3);
    }
    Atomic::store(&sleeper.word, ENDED, Ordering::Release);
    sleeper.word.wake(1);
    thread.join().expect("the sleeper ends");
    let ratio = median(&mut by_spawn) / median(&mut by_futex);
    println!("us, median (10th to 90th percentile) of {rounds}:");
    print("futex: wake to awake", &mut by_futex);
    print("spawn: call to begun", &mut by_spawn);
    println!("ratio of the medians  {ratio:.2}");

    thread::sleep(Duration::from_millis(100));
    let (start, before) = (Instant::now(), cpu_time());
    thread::sleep(Duration::from_secs(2));
    match (before, cpu_time()) {
        (Some(before), Some(after)) => {
            let share = (after - before).as_secs_f64() / start.elapsed().as_secs_f64();
            println!("at rest               {:.4}% of a core", 100.0 * share);
        }
        _ => println!("at rest               unknown: no /proc/self/schedstat"),
    }
}

fn quantile(values: &mut [f64], q: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * q) as usize]
}

fn median(values: &mut [f64]) -> f64 {
    quantile(values, 0.5)
}

fn print(what: &str, values: &mut [f64]) {
    let (low, high) = (quantile(values, 0.1), quantile(values, 0.9));
    println!("{what}  {:.1} ({low:.1} to {high:.1})", median(values));
}

/// Returns the processor time of all threads so far, as the kernel's scheduler counts it.
fn cpu_time() -> Option<Duration> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    let of = |task: std::io::Result<std::fs::DirEntry>| {
        let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    };
    tasks.map(of).sum::<Option<u64>>().map(Duration::from_nanos)
}
