//! Counts lost wake-ups natively: checks on the machine what the model checkers prove.
//!
//! A pool of two has adopted this thread, which never runs a job. The thread pushes a job, for
//! which worker 1 must get up, and blocks until that has run. The pauses between are chosen so that
//! the worker is just falling asleep at every push. If a job has not run after 300 ms, its wake-up
//! was lost; a later push then wakes the worker.
//!
//! ```text
//! cargo bench -p manycore-programs --bench lost_wakeups -- ITERATIONS [POLICY [MODE]]
//! ```
//!
//! `ITERATIONS`: 100,000 by default. `POLICY`: every sound one by default. `MODE`:
//! `sound` or `as-published`.

use manycore::seam::{BuilderExt, Make, tally};
use manycore::{Native, Pool};
use manycore_programs::sleep::{Mode, policies, policy};
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// After this time without progress, no worker will come.
const LOST: Duration = Duration::from_millis(300);

/// The awaited number of finished jobs.
#[derive(Default)]
struct Ran(AtomicU64);

impl Ran {
    /// Waits for the end of `n` jobs. Returns `false` if they do not end in time.
    fn wait(&self, n: u64) -> bool {
        let begun = Instant::now();
        while self.0.load(Ordering::Acquire) < n {
            if begun.elapsed() > LOST {
                return false;
            }
            // The worker may need this core.
            thread::yield_now();
        }
        true
    }
}

/// What a run found; `lost` counts spawned jobs and joins.
struct Found {
    lost: u64,
    sleeps: u64,
    recovered: u64,
}

/// A pool of two with the sleep policy that `make` makes.
fn look(make: Option<Make<Native>>, iterations: u64) -> Found {
    // A pool adopts a thread for good.
    let run = move || {
        let builder = Pool::builder().threads(2).adopt_current_thread(true);
        let pool = builder.policy(make).build().expect("a pool of two threads");
        let ran = Arc::new(Ran::default());
        let mut lost = 0;
        for i in 0..iterations {
            pause(i);
            let before = ran.0.load(Ordering::Relaxed);
            if !(if i % 2 == 0 {
                spawned(&pool, &ran)
            } else {
                forked(&pool, &ran)
            }) {
                lost += 1;
                // A later push wakes the worker, which also runs the lost job, unless this thread has run it.
                while ran.0.load(Ordering::Acquire) == before {
                    pool.spawn(|| ());
                    thread::sleep(Duration::from_millis(1));
                }
            }
        }
        let tally = tally(&pool);
        Found {
            lost,
            sleeps: tally.sleeps,
            recovered: tally.recovered,
        }
    };
    thread::spawn(run).join().expect("a detector that ends")
}

/// Pauses of 0 to 100 us. A worker without work looks for work for some 60 us, and then falls asleep
/// within a few us.
fn pause(i: u64) {
    // Every pause returns after 1,009 iterations, since the step and 1,009 have no common divisor.
    let time = Duration::from_nanos(i * 37 % 1_009 * 100);
    let begun = Instant::now();
    while begun.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// A detached job.
fn spawned(pool: &Pool, ran: &Arc<Ran>) -> bool {
    let next = ran.0.load(Ordering::Relaxed) + 1;
    let job = Arc::clone(ran);
    pool.spawn(move || _ = job.0.fetch_add(1, Ordering::Release));
    ran.wait(next)
}

/// The second closure of a join. The first closure waits for it.
fn forked(pool: &Pool, ran: &Arc<Ran>) -> bool {
    let next = ran.0.load(Ordering::Relaxed) + 1;
    let count = || _ = ran.0.fetch_add(1, Ordering::Release);
    pool.join(|| ran.wait(next), count).0
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    match detect(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("lost_wakeups: {message}");
            ExitCode::FAILURE
        }
    }
}

fn detect(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let iterations = match arguments.first() {
        None => 100_000,
        Some(text) => (text.parse()).map_err(|_| format!("expected iterations; found {text}"))?,
    };
    let mode = match arguments.get(2) {
        None => Mode::Sound,
        Some(mode) => mode.parse()?,
    };
    let names = match arguments.get(1) {
        Some(name) => vec![name.as_str()],
        None => {
            let in_mode = policies().into_iter().filter(|policy| policy.1 == mode);
            in_mode.map(|(name, _)| name).collect()
        }
    };
    for name in names {
        let begun = Instant::now();
        let make = policy(name, mode)?;
        let found = look(make, iterations);
        println!(
            "{name:24} {mode:12} {} lost of {iterations}, {} sleeps, {} recovered by a watchdog, {:.0} s",
            found.lost,
            found.sleeps,
            found.recovered,
            begun.elapsed().as_secs_f64(),
        );
        if mode == Mode::Sound && found.lost > 0 {
            return Err(format!("{name} loses wake-ups").into());
        }
    }
    Ok(())
}
