//! The time to suspend a fiber and resume the next, in nanoseconds, by the number of fibers and of stack
//! colours. Also compares used stacks with new ones.
//!
//! Each round visits all variants in turn. Results are medians and minima over the rounds.
//!
//! `cargo bench -p manycore-team --bench fiber [-- ROUNDS]`

use manycore_platform::Native;
use manycore_team::fiber::{Fiber, FiberStack, Progress, Stacks, Suspender};
use std::hint::black_box;
use std::time::{Duration, Instant};

const FIBERS: [usize; 4] = [1, 16, 64, 1024];
const COLOURS: [usize; 4] = [1, 4, 13, 64];
const STACK: usize = 64 << 10;
/// How long each variant is measured in each round.
const TIME: Duration = Duration::from_millis(20);

/// Fibers that suspend themselves without end, some calls deep.
fn fibers(number: usize, colours: usize) -> Vec<Fiber<Native>> {
    let stacks = Stacks::<Native>::with_colours(STACK, colours);
    (0..number)
        .map(|_| {
            let stack = stacks.take().expect("the system has memory");
            let body = |suspender: &Suspender<Native>| {
                loop {
                    // A frame that holds values, as a rank's frame does.
                    let mut locals = black_box([1_u64; 8]);
                    suspender.suspend();
                    locals[0] += 1;
                    black_box(&locals);
                }
            };
            // SAFETY: the body borrows nothing, and the benchmark drops the fibers.
            unsafe { Fiber::new(stack, body) }
        })
        .collect()
}

fn empty(stack: FiberStack<Native>) -> Fiber<Native> {
    // SAFETY: the body borrows nothing, and the benchmark drops the fiber.
    unsafe { Fiber::new(stack, |_| ()) }
}

/// Returns nanoseconds for a resumption and the suspension that ends it.
fn switch(fibers: &mut [Fiber<Native>]) -> f64 {
    let mut switches = 0;
    let start = Instant::now();
    while start.elapsed() < TIME {
        for _ in 0..1024 / fibers.len() {
            for fiber in &mut *fibers {
                let progress = fiber.resume();
                assert!(matches!(progress, Progress::Suspended));
            }
        }
        switches += 1024;
    }
    start.elapsed().as_nanos() as f64 / f64::from(switches)
}

/// Returns nanoseconds for a fiber's life: from a stack to a fiber, one run, and back.
fn life(mut one: impl FnMut()) -> f64 {
    let mut lives = 0;
    let start = Instant::now();
    while start.elapsed() < TIME {
        // Reading the clock costs as much as a life on a used stack.
        for _ in 0..64 {
            one();
        }
        lives += 64;
    }
    start.elapsed().as_nanos() as f64 / f64::from(lives)
}

fn run(mut fiber: Fiber<Native>) -> manycore_team::fiber::FiberStack<Native> {
    let progress = fiber.resume();
    assert!(matches!(progress, Progress::Ended(Ok(()))));
    fiber.into_stack()
}

fn main() {
    let rounds = std::env::args().skip(1).find_map(|word| word.parse().ok());
    let rounds: usize = rounds.unwrap_or(15);
    let mut variants: Vec<(String, Box<dyn FnMut() -> f64>)> = vec![];
    for number in FIBERS {
        for colours in COLOURS {
            let mut fibers = fibers(number, colours);
            let name = format!("switch, {number} fibers, {colours} colours");
            variants.push((name, Box::new(move || switch(&mut fibers))));
        }
    }
    let stacks = Stacks::<Native>::new(STACK);
    variants.push((
        "life on a used stack".into(),
        Box::new(move || {
            life(|| {
                let stack = stacks.take().expect("the system has memory");
                stacks.put(run(empty(stack)));
            })
        }),
    ));
    variants.push((
        "life on a new stack".into(),
        Box::new(|| {
            life(|| {
                let stacks = Stacks::<Native>::new(STACK);
                let stack = stacks.take().expect("the system has memory");
                drop(run(empty(stack)));
            })
        }),
    ));
    let mut samples: Vec<Vec<f64>> = variants.iter().map(|_| vec![]).collect();
    for _ in 0..rounds.max(1) {
        for ((_, variant), samples) in variants.iter_mut().zip(&mut samples) {
            samples.push(variant());
        }
    }
    println!("{:<36} {:>10} {:>10}", "ns", "median", "minimum");
    for ((name, _), samples) in variants.iter().zip(&mut samples) {
        samples.sort_by(f64::total_cmp);
        let (median, minimum) = (samples[samples.len() / 2], samples[0]);
        println!("{name:<36} {median:>10.1} {minimum:>10.1}");
    }
}
