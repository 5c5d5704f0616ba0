//! Which work-stealing design should a join stand on? Each candidate is one file, and uses the same frame (`frame.rs`).
//! All run in one process, in turn, round by round.
//!
//! ```sh
//! cargo bench -p manycore-programs --bench designs [-- ROUNDS]
//! ```
//!
//! * **empty join**: a recursive tree of 16,383 joins with nothing to do, one
//!   worker; nanoseconds a join.
//! * **fib(32)**: a join at every call, on one worker and on two; milliseconds.
//! * **stolen**: jobs stolen in one such `fib(32)`.
//! * **short tree**: a tree of 1,023 empty joins on two workers, each after 30 us of other work; microseconds a tree.
//!   The tree is over before help can pay, so this measures the cost of an idle thief to the owner.
//! * **taken in a leaf**: the owner pushes two jobs, one inside the other, and then computes for 100 us without a join.
//!   This measures how many of the two jobs a waiting thief takes meanwhile, and how long after the push they start.
//!
//! A sample is dropped if a thread of this process waited for a core. This is fair, because all threads of all designs
//! spin.

mod chase_lev;
mod direct_stack;
mod frame;
mod heartbeat;
mod private_requests;
mod split;

use chase_lev::{Asymmetric, ChaseLev, Fence, Swap};
use direct_stack::DirectStack;
use frame::{Design, barrier, join, run, ticks, ticks_per_us};
use heartbeat::Heartbeat;
use private_requests::PrivateRequests;
use split::Split;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A design, and all its samples.
struct Entry {
    name: &'static str,
    visit: fn(&mut Samples),
    samples: Samples,
}

#[derive(Default)]
struct Samples {
    /// Nanoseconds.
    empty: Vec<f64>,
    /// Milliseconds, on one worker and on two.
    fib: [Vec<f64>; 2],
    /// The stolen jobs in one `fib` on two workers.
    stolen: Vec<f64>,
    /// Microseconds.
    short: Vec<f64>,
    /// Microseconds from the push to the start of the outer job and of the inner one, infinite if the owner ran the job
    /// itself.
    taken: [Vec<f64>; 2],
}

fn entry<D: Design>() -> Option<Entry> {
    D::available().then(|| Entry {
        name: D::NAME,
        visit: visit::<D>,
        samples: Samples::default(),
    })
}

fn main() {
    // `cargo bench` passes `--bench`.
    let rounds = std::env::args().find_map(|argument| argument.parse().ok());
    let rounds: usize = rounds.unwrap_or(20);
    let designs = [
        entry::<ChaseLev<Fence>>(),
        entry::<ChaseLev<Swap>>(),
        entry::<ChaseLev<Asymmetric>>(),
        entry::<PrivateRequests>(),
        entry::<Split>(),
        entry::<Heartbeat<5, 1>>(),
        entry::<Heartbeat<5, 16>>(),
        entry::<Heartbeat<100, 1>>(),
        entry::<DirectStack<false>>(),
        entry::<DirectStack<true>>(),
    ];
    let mut designs: Vec<Entry> = designs.into_iter().flatten().collect();
    let mut serial = Samples::default();
    for round in 0..rounds {
        visit_serial(&mut serial);
        // Each round begins with another design.
        let count = designs.len();
        for k in 0..count {
            let Entry { visit, samples, .. } = &mut designs[(round + k) % count];
            visit(samples);
        }
    }
    println!("{rounds} rounds; least and median");
    println!(
        "{:37} {:>13} {:>11} {:>11} {:>9} {:>13} {:>19} {:>19}",
        "design",
        "empty join ns",
        "fib T=1 ms",
        "fib T=2 ms",
        "stolen",
        "short tree us",
        "outer taken us",
        "inner taken us"
    );
    row("two calls", &serial);
    for Entry { name, samples, .. } in &designs {
        row(name, samples);
    }
    membarrier();
}

fn row(name: &str, samples: &Samples) {
    let pair = |samples: &[f64]| match samples {
        [] => "-".to_owned(),
        _ => format!(
            "{:.2} {:.2}",
            quantile(samples, 0.0),
            quantile(samples, 0.5)
        ),
    };
    let taken = |samples: &[f64]| {
        let taken: Vec<f64> = samples
            .iter()
            .copied()
            .filter(|us| us.is_finite())
            .collect();
        format!("{} ({}/{})", pair(&taken), taken.len(), samples.len())
    };
    println!(
        "{name:37} {:>13} {:>11} {:>11} {:>9} {:>13} {:>19} {:>19}",
        pair(&samples.empty),
        pair(&samples.fib[0]),
        pair(&samples.fib[1]),
        match samples.stolen.as_slice() {
            [] => "-".to_owned(),
            stolen => format!("{:.0}", quantile(stolen, 0.5)),
        },
        pair(&samples.short),
        taken(&samples.taken[0]),
        taken(&samples.taken[1]),
    );
}

fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[(q * (sorted.len() - 1) as f64) as usize]
}

/// Microseconds that `f` takes.
fn time(f: impl FnOnce()) -> f64 {
    let start = ticks();
    f();
    (ticks() - start) as f64 / ticks_per_us() as f64
}

/// Runs `f`. Returns `None` if a thread of this process was ready and waited for a core meanwhile.
fn undisturbed<T>(f: impl FnOnce() -> T) -> Option<T> {
    let delay = run_delay();
    let value = f();
    (run_delay() == delay).then_some(value)
}

/// Nanoseconds that the threads waited for a core, if the system reports them.
fn run_delay() -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    tasks
        .flatten()
        .filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok())
        .filter_map(|line| line.split(' ').nth(1)?.parse::<u64>().ok())
        .sum()
}

fn visit_serial(samples: &mut Samples) {
    fn empty(levels: u32) {
        if levels > 0 {
            empty(levels - 1);
            empty(levels - 1);
        } else {
            black_box(());
        }
    }
    fn fib(n: u32) -> u64 {
        if n < 2 {
            n.into()
        } else {
            fib(n - 1) + fib(n - 2)
        }
    }
    let two_calls = || empty(black_box(14));
    samples.empty.extend(times(20, two_calls).map(a_join));
    samples.short.extend(times(50, || empty(black_box(10))));
    let sum = || assert_eq!(fib(black_box(32)), 2_178_309);
    samples.fib[0].extend(times(3, sum).map(|us| us / 1e3));
}

fn visit<D: Design>(samples: &mut Samples) {
    run::<D>(1, || {
        samples
            .empty
            .extend(times(20, || empty::<D>(14)).map(a_join))
    });
    run::<D>(2, || samples.short.extend(times(50, || empty::<D>(10))));
    let sum = || assert_eq!(fib::<D>(32), 2_178_309);
    for threads in [1, 2] {
        for _ in 0..3 {
            let fib = &mut samples.fib[threads - 1];
            let kept = fib.len();
            let stolen = run::<D>(threads, || fib.extend(times(1, sum).map(|us| us / 1e3)));
            if threads == 2 && fib.len() > kept {
                samples.stolen.push(stolen as f64);
            }
        }
    }
    run::<D>(2, || {
        for [outer, inner] in (0..20).filter_map(|_| undisturbed(taken_in_a_leaf::<D>)) {
            samples.taken[0].push(outer);
            samples.taken[1].push(inner);
        }
    });
    // This is not measured. It runs more thieves than cores, and only checks the assertions.
    run::<D>(4, || {
        assert_eq!(fib::<D>(22), 17_711);
        assert_eq!(leaves::<D>(1, 9), (512..1024).sum::<u64>());
    });
}

/// Converts the microseconds of a tree of joins to nanoseconds a join.
fn a_join(us: f64) -> f64 {
    us * 1e3 / 16383.0
}

/// The undisturbed samples of `count`, in microseconds. The caller first computes, so that a thief is already waiting.
fn times(count: usize, f: impl Fn()) -> impl Iterator<Item = f64> {
    (0..count).filter_map(move |_| {
        undisturbed(|| {
            compute(30);
            time(&f)
        })
    })
}

fn empty<D: Design>(levels: u32) {
    if levels == 0 {
        return black_box(());
    }
    join::<D, _, _>(|| empty::<D>(levels - 1), || empty::<D>(levels - 1));
}

fn fib<D: Design>(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = join::<D, _, _>(|| fib::<D>(n - 1), || fib::<D>(n - 2));
    a + b
}

/// A tree with leaves of 0 to 7 us in random order. Returns the sum of the leaves' places.
fn leaves<D: Design>(place: u64, levels: u32) -> u64 {
    if levels == 0 {
        compute(place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61);
        return place;
    }
    let (a, b) = join::<D, _, _>(
        || leaves::<D>(2 * place, levels - 1),
        || leaves::<D>(2 * place + 1, levels - 1),
    );
    a + b
}

fn compute(us: u64) {
    let end = ticks() + us * ticks_per_us();
    while ticks() < end {}
}

fn taken_in_a_leaf<D: Design>() -> [f64; 2] {
    compute(30);
    let started = [AtomicU64::new(0), AtomicU64::new(0)];
    let leaf_over = AtomicBool::new(false);
    // A job that starts after the end of the leaf was not taken during the leaf.
    let note = |i: usize| {
        let over = leaf_over.load(Ordering::Relaxed);
        started[i].store(if over { u64::MAX } else { ticks() }, Ordering::Relaxed);
    };
    let push = ticks();
    let leaf = || {
        compute(100);
        leaf_over.store(true, Ordering::Relaxed);
    };
    join::<D, _, _>(|| join::<D, _, _>(leaf, || note(1)), || note(0));
    started.map(|ticks| match ticks.into_inner() {
        u64::MAX => f64::INFINITY,
        start => start.saturating_sub(push) as f64 / ticks_per_us() as f64,
    })
}

/// The cost of a fence on all threads, for the thief and for the others.
fn membarrier() {
    if !barrier::available() {
        return println!("no membarrier here");
    }
    let calls = || -> Vec<f64> { (0..2000).map(|_| time(barrier::everywhere)).collect() };
    let alone = calls();
    let stop = &AtomicBool::new(false);
    let (beside, steps) = std::thread::scope(|scope| {
        // The lengths of the interruptions of this thread.
        let victim = scope.spawn(move || {
            let mut gaps = Vec::new();
            let mut last = ticks();
            while !stop.load(Ordering::Relaxed) {
                let now = ticks();
                let gap = (now - last) as f64 / ticks_per_us() as f64;
                if gap > 0.3 {
                    gaps.push(gap);
                }
                last = now;
            }
            gaps
        });
        compute(1000);
        let beside = calls();
        stop.store(true, Ordering::Relaxed);
        (beside, victim.join().expect("it only counts"))
    });
    for (what, samples) in [("alone", &alone), ("beside one running thread", &beside)] {
        let [least, median, p90] = [0.0, 0.5, 0.9].map(|q| quantile(samples, q));
        println!("membarrier {what}: {least:.2} {median:.2} us (p90 {p90:.2})");
    }
    if !steps.is_empty() {
        let (count, median) = (steps.len(), quantile(&steps, 0.5));
        println!("the other thread was away {count} times in 2,000 calls, {median:.2} us");
    }
}
