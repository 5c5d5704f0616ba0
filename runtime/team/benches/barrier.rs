//! The time of an episode of each barrier on this machine, in nanoseconds, with 2, 4 and 8 threads. The rows
//! are our default; every barrier by name; three hand-spun barriers that never sleep (count and sense on two
//! lines, count and sense on one, count and generation on one); a barrier that spins 200 times and then
//! yields; and those of the standard library and POSIX threads.
//!
//! Each round visits all barriers in a new random order. A sample is one member's mean of ten episodes. If
//! each thread has a core, it is bound to that core. A hand-spun barrier with more threads than cores needs
//! milliseconds for an episode, and is left out. The last columns are ratios: each round's median over that
//! of the hand-spun barrier with count and generation on one line. They show the quartiles and the median
//! over the rounds.
//!
//! `cargo bench -p manycore-team --bench barrier [-- ROUNDS [NAME...]]`

use manycore_team::barrier::{Placement, TeamBarrier};

use manycore_platform::{CachePadded, Native, Platform, ThreadSpec};
use manycore_programs::barrier::{Barrier, BarrierVisitor, barriers, with_barrier};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const BATCH: u32 = 10;
/// How long each barrier is measured in each round.
const TIME: Duration = Duration::from_millis(30);

/// Returns samples in nanoseconds an episode, one for each batch. Calls `member` once on each thread.
fn measure<W: FnMut() + 'static>(
    threads: usize,
    member: impl Fn(usize) -> W + Send + Sync + 'static,
) -> Vec<f64> {
    let cpus = manycore_cores::topology::Topology::detect().compact_order();
    let (member, samples) = (Arc::new(member), Arc::new(Mutex::new(vec![])));
    let over = Arc::new(AtomicU32::new(u32::MAX));
    let team: Vec<_> = (0..threads)
        .map(|rank| {
            let (member, samples) = (Arc::clone(&member), Arc::clone(&samples));
            let over = Arc::clone(&over);
            let spec = ThreadSpec {
                cpus: if threads <= cpus.len() {
                    vec![cpus[rank]]
                } else {
                    vec![]
                },
                ..ThreadSpec::default()
            };
            let body = move || {
                let mut wait = member(rank);
                let (mut mine, mut batch) = (vec![], 0);
                for _ in 0..BATCH {
                    wait();
                }
                let start = Instant::now();
                // The first member chooses the last batch two batches in advance. All members see the choice
                // in time, since the barrier keeps them together.
                while batch <= over.load(Ordering::Acquire) {
                    let before = Native::now();
                    for _ in 0..BATCH {
                        wait();
                    }
                    mine.push(Native::ticks_to_ns(Native::now() - before) / f64::from(BATCH));
                    if rank == 0 && start.elapsed() > TIME {
                        let last = over.load(Ordering::Relaxed).min(batch + 2);
                        over.store(last, Ordering::Release);
                    }
                    batch += 1;
                }
                if rank == 0 {
                    *samples.lock().unwrap() = mine;
                }
            };
            Native::spawn(spec, Box::new(body)).expect("a thread")
        })
        .collect();
    team.into_iter().for_each(Native::join);
    std::mem::take(&mut *samples.lock().unwrap())
}

struct Named(Placement);

impl BarrierVisitor<Native> for Named {
    type Output = Vec<f64>;

    fn visit<B: Barrier<Native>>(self) -> Vec<f64> {
        let barrier = Arc::new(B::new(&self.0));
        measure(self.0.members(), move |rank| {
            let (barrier, mut member) = (Arc::clone(&barrier), barrier.member(rank));
            move || barrier.wait(&mut member)
        })
    }
}

/// The row to which the others are compared.
const BASELINE: &str = "hand-spun, one line";

/// Count and generation on one line: the last member to arrive reads both at once, and so do waiting members.
#[repr(align(128))]
struct OneLine {
    arrived: AtomicU32,
    generation: AtomicU32,
    threads: u32,
}

impl OneLine {
    fn measure(threads: usize) -> Vec<f64> {
        let barrier = Arc::new(Self {
            arrived: AtomicU32::new(0),
            generation: AtomicU32::new(0),
            threads: threads as u32,
        });
        measure(threads, move |_| {
            let barrier = Arc::clone(&barrier);
            move || {
                let generation = barrier.generation.load(Ordering::Relaxed);
                if barrier.arrived.fetch_add(1, Ordering::AcqRel) + 1 == barrier.threads {
                    barrier.arrived.store(0, Ordering::Relaxed);
                    let next = generation.wrapping_add(1);
                    barrier.generation.store(next, Ordering::Release);
                } else {
                    while barrier.generation.load(Ordering::Acquire) == generation {
                        std::hint::spin_loop();
                    }
                }
            }
        })
    }
}

/// The usual hand-written barrier: count and sense, each on a line of its own.
struct HandSpun {
    missing: CachePadded<AtomicU32>,
    sense: CachePadded<AtomicU32>,
    threads: u32,
}

impl HandSpun {
    fn measure(threads: usize, pause: fn(u32)) -> Vec<f64> {
        let barrier = Arc::new(Self {
            missing: CachePadded::new(AtomicU32::new(threads as u32)),
            sense: CachePadded::new(AtomicU32::new(0)),
            threads: threads as u32,
        });
        measure(threads, move |_| {
            let (barrier, mut sense) = (Arc::clone(&barrier), 0);
            move || {
                sense = 1 - sense;
                if barrier.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
                    barrier.missing.store(barrier.threads, Ordering::Relaxed);
                    barrier.sense.store(sense, Ordering::Release);
                } else {
                    let mut spins = 0;
                    while barrier.sense.load(Ordering::Acquire) != sense {
                        pause(spins);
                        spins += 1;
                    }
                }
            }
        })
    }
}

fn standard(threads: usize) -> Vec<f64> {
    let barrier = Arc::new(std::sync::Barrier::new(threads));
    measure(threads, move |_| {
        let barrier = Arc::clone(&barrier);
        move || {
            barrier.wait();
        }
    })
}

/// `pthread_barrier_t`, which is opaque outside the C library.
#[cfg(target_os = "linux")]
struct Posix(Box<std::cell::UnsafeCell<libc::pthread_barrier_t>>);

// SAFETY: several threads may call the barrier's functions.
#[cfg(target_os = "linux")]
unsafe impl Sync for Posix {}
// SAFETY: the barrier does not move: it is in a box.
#[cfg(target_os = "linux")]
unsafe impl Send for Posix {}

#[cfg(target_os = "linux")]
impl Posix {
    fn measure(threads: usize) -> Vec<f64> {
        // SAFETY: the type consists of integers, which the call below sets.
        let barrier = Box::new(unsafe { std::mem::zeroed() });
        // SAFETY: memory of the right type, which no thread uses yet.
        let failed = unsafe {
            libc::pthread_barrier_init(
                std::cell::UnsafeCell::raw_get(&raw const *barrier),
                std::ptr::null(),
                threads as u32,
            )
        };
        assert_eq!(failed, 0, "pthread_barrier_init");
        let barrier = Arc::new(Self(barrier));
        measure(threads, move |_| {
            let barrier = Arc::clone(&barrier);
            move || {
                // SAFETY: initialised above, and as long-lived as this value.
                unsafe { libc::pthread_barrier_wait(barrier.0.get()) };
            }
        })
    }
}

/// A barrier in the comparison.
struct Row {
    name: String,
    measure: Box<dyn Fn(usize) -> Vec<f64>>,
    /// Whether it also runs with more threads than cores.
    shares: bool,
}

fn rows(cores: usize) -> Vec<Row> {
    let row = |name: &str, shares, measure: Box<dyn Fn(usize) -> Vec<f64>>| Row {
        name: name.into(),
        measure,
        shares,
    };
    let mut rows = vec![
        row(
            "manycore",
            true,
            Box::new(|threads| {
                let barrier = TeamBarrier::new(threads);
                measure(threads, move |_| {
                    let mut member = barrier.member();
                    move || {
                        member.wait();
                    }
                })
            }),
        ),
        row(
            "hand-spun",
            false,
            Box::new(|threads| HandSpun::measure(threads, |_| std::hint::spin_loop())),
        ),
        row(BASELINE, false, Box::new(OneLine::measure)),
        row(
            "hand-spun, yields",
            true,
            Box::new(|threads| {
                HandSpun::measure(threads, |spins| match spins {
                    0..200 => std::hint::spin_loop(),
                    _ => std::thread::yield_now(),
                })
            }),
        ),
        row("std", true, Box::new(standard)),
        #[cfg(target_os = "linux")]
        row("pthread", true, Box::new(Posix::measure)),
    ];
    for name in barriers() {
        let measure = move |threads| {
            let placement = Placement::flat(threads).on_cores(cores);
            with_barrier(name, Named(placement)).expect("the name is in the list")
        };
        rows.push(row(name, true, Box::new(measure)));
    }
    rows
}

fn at(samples: &[f64], share: f64) -> f64 {
    samples[(share * (samples.len() - 1) as f64) as usize]
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|it| it != "--bench");
    let rounds = arguments.next();
    let rounds: usize = match rounds.as_deref().map(str::parse).unwrap_or(Ok(10)) {
        Ok(rounds) if rounds > 0 => rounds,
        _ => {
            eprintln!("barrier: expected a number of rounds, at least 1");
            std::process::exit(2);
        }
    };
    let wanted: Vec<_> = arguments.collect();
    let cores = manycore_cores::topology::Topology::detect().default_threads();
    let mut rows = rows(cores);
    rows.retain(|row| wanted.is_empty() || wanted.contains(&row.name));
    println!("{cores} cores; ns an episode");
    for threads in [2, 4, 8] {
        let takes_part = |row: &&Row| threads <= cores || row.shares;
        let mut samples = vec![vec![]; rows.len()];
        // The median of each round.
        let mut medians = vec![vec![]; rows.len()];
        let mut order: Vec<_> = (0..rows.len()).collect();
        for _ in 0..rounds {
            fastrand::shuffle(&mut order);
            for &row in &order {
                if takes_part(&&rows[row]) {
                    let mut round = (rows[row].measure)(threads);
                    round.sort_by(f64::total_cmp);
                    medians[row].push(at(&round, 0.5));
                    samples[row].append(&mut round);
                }
            }
        }
        println!(
            "\n{threads} threads{:>24}{:>12}{:>12}{:>28}",
            "p10", "median", "p90", "of one line"
        );
        let baseline = rows.iter().position(|row| row.name == BASELINE);
        let baseline = baseline.map_or(vec![], |row| medians[row].clone());
        for (row, (samples, medians)) in rows.iter().zip(samples.iter_mut().zip(&medians)) {
            if samples.is_empty() {
                continue;
            }
            samples.sort_by(f64::total_cmp);
            let (p10, median, p90) = (at(samples, 0.1), at(samples, 0.5), at(samples, 0.9));
            print!("{:<21}{p10:>12.0}{median:>12.0}{p90:>12.0}", row.name);
            let mut ratios: Vec<_> = medians.iter().zip(&baseline).map(|(a, b)| a / b).collect();
            ratios.sort_by(f64::total_cmp);
            if !ratios.is_empty() {
                let of = |share| at(&ratios, share);
                print!("{:>12.3} ({:.3} to {:.3})", of(0.5), of(0.25), of(0.75));
            }
            println!();
        }
    }
}
