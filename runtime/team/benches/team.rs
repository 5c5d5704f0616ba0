//! Ranks on two workers of this machine.
//!
//! * The time to switch from one rank to the next on one worker, with state machines and with ranks that have
//!   stacks.
//! * A barrier of 64 ranks on 2 workers, compared with POSIX threads' barrier of 64 threads on as many cores.
//! * 3, 5 and 9 ranks of w on 2 workers by each policy: the time of an interval over max(w, T w/2), where T
//!   is the number of ranks. w is the time of 2 ranks, measured in turn with the others. Ranks compute, with
//!   a preemption point each microsecond.
//!
//! Each round visits all variants in turn. Results are medians and quartiles over the rounds.
//!
//! `cargo bench -p manycore-team --bench team [-- ROUNDS]`

use manycore_cores::elastic::Allotment;

use manycore_cores::topology::Topology;
use manycore_team::{Policy, Rank, Site, Stackful, Step, Team, Turn};
use std::hint::black_box;
use std::sync::{Arc, Barrier};
use std::time::Instant;

const WORKERS: usize = 2;

fn team(workers: usize, policy: Policy) -> Team {
    let cpus = Topology::detect().compact_order();
    let cpus = (0..workers).map(|worker| cpus.get(worker).map_or(vec![], |&cpu| vec![cpu]));
    Team::builder(workers, Allotment::new(workers))
        .policy(policy)
        .cpus(cpus.collect())
        .build()
        .expect("threads")
}

/// Returns nanoseconds an episode of `ranks` ranks without work.
fn empty(team: &mut Team, ranks: usize, episodes: u32) -> f64 {
    let start = Instant::now();
    team.run(ranks, |_| {
        let mut left = episodes;
        move |_: &Turn<'_>| {
            left -= 1;
            if left == 0 {
                Step::Done
            } else {
                Step::Arrived(Site::named("empty"))
            }
        }
    });
    start.elapsed().as_nanos() as f64 / f64::from(episodes)
}

/// The same for ranks with stacks.
fn empty_stackful(team: &mut Team, ranks: usize, episodes: u32) -> f64 {
    let program = |rank: &mut Rank| {
        for _ in 1..episodes {
            rank.barrier_at("empty");
        }
    };
    let start = Instant::now();
    // SAFETY: only a number is on the stack.
    team.run(ranks, |_| unsafe { Stackful::new(program) });
    start.elapsed().as_nanos() as f64 / f64::from(episodes)
}

/// Returns nanoseconds an episode of POSIX threads' barrier.
#[cfg(target_os = "linux")]
fn posix(threads: usize, episodes: u32) -> f64 {
    struct Posix(Box<std::cell::UnsafeCell<libc::pthread_barrier_t>>);
    // SAFETY: several threads may call the barrier's functions.
    unsafe impl Sync for Posix {}
    // SAFETY: the barrier does not move: it is in a box.
    unsafe impl Send for Posix {}
    // SAFETY: the type consists of integers, which the call below sets.
    let barrier = Arc::new(Posix(Box::new(unsafe { std::mem::zeroed() })));
    // SAFETY: memory of the right type, which no thread uses yet.
    let failed =
        unsafe { libc::pthread_barrier_init(barrier.0.get(), std::ptr::null(), threads as u32) };
    assert_eq!(failed, 0);
    let begin = Arc::new(Barrier::new(threads));
    let member = |_| {
        let (barrier, begin) = (Arc::clone(&barrier), Arc::clone(&begin));
        std::thread::spawn(move || {
            begin.wait();
            let start = Instant::now();
            for _ in 0..episodes {
                // SAFETY: the barrier is initialised, for as many threads as wait.
                unsafe { libc::pthread_barrier_wait(barrier.0.get()) };
            }
            start.elapsed().as_nanos() as f64 / f64::from(episodes)
        })
    };
    let all: Vec<_> = (0..threads).map(member).collect();
    let times = all
        .into_iter()
        .map(|thread| thread.join().expect("no panic"));
    times.fold(0.0, f64::max)
}

/// Computes `steps` steps that nothing else slows.
fn spin(steps: u64) {
    let mut x = black_box(1_u64);
    for _ in 0..steps {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    }
    black_box(x);
}

/// Returns the steps in a microsecond: the maximum of ten tries.
fn steps_per_us() -> u64 {
    let attempt = |_| {
        let start = Instant::now();
        spin(1_000_000);
        1_000_000_000 / start.elapsed().as_nanos() as u64
    };
    (0..10).map(attempt).max().unwrap_or(1_000)
}

/// Returns microseconds an interval of `ranks` ranks that each compute for `micros`.
fn interval(team: &mut Team, ranks: usize, micros: u64, steps: u64, episodes: u64) -> f64 {
    let start = Instant::now();
    team.run(ranks, |_| {
        let (mut left, mut episode) = (micros, 0);
        move |turn: &Turn<'_>| {
            while left > 0 {
                spin(steps);
                left -= 1;
                if left > 0 && turn.is_over() {
                    return Step::Preempted;
                }
            }
            (left, episode) = (micros, episode + 1);
            if episode == episodes {
                Step::Done
            } else {
                Step::Arrived(Site::named("interval"))
            }
        }
    });
    start.elapsed().as_nanos() as f64 / 1e3 / episodes as f64
}

/// Returns the minimum, lower quartile, median and upper quartile.
fn quartiles(samples: &mut [f64]) -> [f64; 4] {
    samples.sort_by(f64::total_cmp);
    [0, 1, 2, 3].map(|quarter| samples[quarter * (samples.len() - 1) / 4])
}

fn switches(rounds: usize) {
    let (mut alone, mut both) = (team(1, Policy::Wrap), team(WORKERS, Policy::Wrap));
    let mut samples: [Vec<f64>; 6] = Default::default();
    for _ in 0..rounds {
        let [a, b, c, d, e, f] = &mut samples;
        // Runs are short, so that another process that takes the core spoils only one.
        for _ in 0..20 {
            a.push(empty(&mut alone, 64, 200) / 64.0);
            b.push(empty_stackful(&mut alone, 64, 200) / 64.0);
            c.push(empty(&mut both, 64, 200));
            d.push(empty_stackful(&mut both, 64, 200));
            f.push(empty_stackful(&mut both, WORKERS, 500));
        }
        #[cfg(target_os = "linux")]
        e.push(posix(64, 50));
    }
    let names = [
        "a switch, state machines, 64 on 1 worker",
        "a switch, stacks, 64 on 1 worker",
        "a barrier, state machines, 64 on 2 workers",
        "a barrier, stacks, 64 on 2 workers",
        "a barrier, POSIX, 64 threads",
        "a barrier, stacks, 2 on 2 workers",
    ];
    println!(
        "{:45} {:>8} {:>8} {:>8} {:>8}  ns",
        "", "least", "quartile", "median", "quartile"
    );
    for (name, samples) in names.into_iter().zip(&mut samples) {
        if !samples.is_empty() {
            let [least, low, median, high] = quartiles(samples);
            println!("{name:45} {least:8.0} {low:8.0} {median:8.0} {high:8.0}");
        }
    }
}

fn ratios(rounds: usize) {
    const POLICIES: [(&str, Policy); 3] = [
        ("fifo", Policy::Fifo),
        ("turns", Policy::RoundRobin),
        ("wrap", Policy::Wrap),
    ];
    let steps = steps_per_us();
    let mut teams = POLICIES.map(|(_, policy)| team(WORKERS, policy));
    println!(
        "\n{:>8} {:>5}  {:>24} {:>24} {:>24}  of the ideal",
        "w", "T", "fifo", "turns", "wrap"
    );
    for micros in [20, 50, 100, 300, 1_000] {
        let episodes = (20_000 / micros).max(30);
        for ranks in [3, 5, 9] {
            let mut samples: [Vec<f64>; 3] = Default::default();
            for _ in 0..rounds {
                let base = interval(&mut teams[0], WORKERS, micros, steps, episodes);
                for (team, samples) in teams.iter_mut().zip(&mut samples) {
                    let took = interval(team, ranks, micros, steps, episodes);
                    samples.push(took / (base * ranks as f64 / WORKERS as f64));
                }
            }
            let cells = samples.each_mut().map(|samples| {
                let [_, low, median, high] = quartiles(samples);
                format!("{median:.3} ({low:.3}-{high:.3})")
            });
            let [fifo, turns, wrap] = cells;
            println!("{micros:5} us {ranks:5}  {fifo:>24} {turns:>24} {wrap:>24}");
        }
    }
}

fn main() {
    let argument = std::env::args()
        .skip(1)
        .find(|argument| argument != "--bench");
    let rounds = match argument.as_deref().map(str::parse) {
        None => 11,
        Some(Ok(rounds)) if rounds > 0 => rounds,
        Some(_) => {
            eprintln!("ROUNDS, the number of rounds, must be a whole number from 1");
            std::process::exit(2);
        }
    };
    println!("{rounds} rounds");
    switches(rounds);
    ratios(rounds);
}
