//! The cost of a pool where it can gain little: loops that are too short for a second thread, and loops of
//! several callers. A plain loop is the reference.
//!
//! * `levels`: breadth-first search from the corner of a grid. Each of the 599 levels is a loop; the loops
//!   have the same body and different lengths. Iterations write cache lines that other iterations write too.
//!   There are two sizes of an iteration.
//! * `server`: one client or three. Each client repeats a loop of some 260 us and a sleep of 2 ms. The
//!   benchmark measures the time from call to end.
//!
//! The serial loop and pools of 1 (only `levels`), 2, 4 and 8 threads alternate in one process.
//!
//! `cargo bench -p manycore --bench levels [-- ROUNDS]`

use manycore::Pool;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// Vertices on each side of the grid.
const SIDE: usize = 300;
/// A request's number of parts, its work, and the time that its client sleeps afterwards.
const PARTS: usize = 130;
const REQUEST: Duration = Duration::from_micros(260);
const PAUSE: Duration = Duration::from_millis(2);
/// How long the clients call in one round.
const ROUND: Duration = Duration::from_millis(300);

fn main() {
    // Cargo passes `--bench`.
    let rounds = std::env::args().skip(1).find(|arg| arg != "--bench");
    let rounds: usize = match rounds.as_deref().map(str::parse).unwrap_or(Ok(12)) {
        Ok(rounds) if rounds > 0 => rounds,
        _ => {
            eprintln!("levels: expected a number of rounds, at least 1");
            std::process::exit(2);
        }
    };
    for (name, work) in [("light", 0), ("some 20 ns", 40)] {
        levels(name, work, rounds);
    }
    for clients in [1, 3] {
        server(clients, rounds.div_ceil(4));
    }
}

/// `None`: the calling thread alone.
fn pool(threads: Option<usize>) -> Option<Pool> {
    let build = |threads| Pool::builder().threads(threads).build();
    threads.map(|threads| build(threads).expect("a pool"))
}

fn run(pool: Option<&Pool>, n: usize, body: impl Fn(usize) + Sync) {
    match pool {
        Some(pool) => pool.parallel_for(0..n, body),
        None => (0..n).for_each(body),
    }
}

fn name(threads: Option<usize>) -> String {
    threads.map_or("serial".into(), |threads| format!("{threads} threads"))
}

struct Grid {
    seen: Vec<AtomicU32>,
    frontiers: [Vec<AtomicU32>; 2],
    /// Steps of work for a vertex.
    work: usize,
}

impl Grid {
    fn new(work: usize) -> Self {
        let words = |count: usize| (0..count).map(|_| AtomicU32::new(0)).collect();
        Self {
            seen: words(SIDE * SIDE),
            frontiers: [words(4 * SIDE), words(4 * SIDE)],
            work,
        }
    }

    /// Visits all vertices from the corner. Returns the number of levels.
    fn search(&self, pool: Option<&Pool>) -> usize {
        self.seen.iter().for_each(|seen| seen.store(0, Relaxed));
        let [mut from, mut to] = [&self.frontiers[0], &self.frontiers[1]];
        from[0].store(0, Relaxed);
        self.seen[0].store(1, Relaxed);
        let (mut frontier, mut levels) = (1, 0);
        while frontier > 0 {
            let next = AtomicUsize::new(0);
            run(pool, frontier, |i| {
                let vertex = from[i].load(Relaxed) as usize;
                let (x, y) = (vertex % SIDE, vertex / SIDE);
                for step in 0..self.work {
                    black_box(step);
                }
                let visit = |other: usize| {
                    let seen = &self.seen[other];
                    if seen.load(Relaxed) == 0 && seen.swap(1, Relaxed) == 0 {
                        to[next.fetch_add(1, Relaxed)].store(other as u32, Relaxed);
                    }
                };
                if x + 1 < SIDE {
                    visit(vertex + 1);
                }
                if y + 1 < SIDE {
                    visit(vertex + SIDE);
                }
                if x > 0 {
                    visit(vertex - 1);
                }
                if y > 0 {
                    visit(vertex - SIDE);
                }
            });
            frontier = next.into_inner();
            levels += 1;
            std::mem::swap(&mut from, &mut to);
        }
        levels
    }
}

fn levels(size: &str, work: usize, rounds: usize) {
    let grid = Grid::new(work);
    let ways = [None, Some(1), Some(2), Some(4), Some(8)];
    let pools = ways.map(pool);
    let mut times = vec![Vec::new(); ways.len()];
    for _ in 0..rounds {
        for (pool, times) in pools.iter().zip(&mut times) {
            let start = Instant::now();
            assert_eq!(grid.search(pool.as_ref()), 2 * SIDE - 1);
            times.push(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    println!(
        "levels, {size} a vertex: us, median (10th to 90th percentile) of {rounds}; of serial"
    );
    let serial = quantile(&mut times[0], 0.5);
    for (way, times) in ways.iter().zip(&mut times) {
        let [low, median, high] = [0.1, 0.5, 0.9].map(|q| quantile(times, q));
        let ratio = median / serial;
        println!(
            "  {:10} {median:6.0} ({low:.0} to {high:.0}) {ratio:.2}",
            name(*way)
        );
    }
}

/// The number of steps of `request` that last as long as a request.
fn steps() -> usize {
    let mut steps = 1_000;
    for _ in 0..8 {
        let start = Instant::now();
        (0..PARTS).for_each(|_| request(steps));
        let ratio = REQUEST.as_secs_f64() / start.elapsed().as_secs_f64();
        steps = ((steps as f64 * ratio) as usize).max(1);
    }
    steps
}

/// A part of a request.
fn request(steps: usize) {
    for step in 0..steps {
        black_box(step);
    }
}

fn server(clients: usize, rounds: usize) {
    let steps = steps();
    let ways = [None, Some(2), Some(4), Some(8)];
    let mut times = vec![Vec::new(); ways.len()];
    for _ in 0..rounds {
        for (&way, times) in ways.iter().zip(&mut times) {
            times.extend(serve(pool(way).as_ref(), clients, steps));
        }
    }
    println!("server, {clients} clients: us a request, median and 99th percentile; of serial");
    let serial = [0.5, 0.99].map(|q| quantile(&mut times[0], q));
    for (way, times) in ways.iter().zip(&mut times) {
        let [median, last] = [0.5, 0.99].map(|q| quantile(times, q));
        let ratios = [median / serial[0], last / serial[1]];
        println!(
            "  {:10} {median:6.0} {last:6.0}  {:.2} {:.2}",
            name(*way),
            ratios[0],
            ratios[1]
        );
    }
}

/// Returns the time of each request in us. Leaves out the first tenth of each client's requests.
fn serve(pool: Option<&Pool>, clients: usize, steps: usize) -> Vec<f64> {
    let over = AtomicBool::new(false);
    let client = &|number: usize| {
        thread::sleep(Duration::from_micros(700 * number as u64));
        let mut times = Vec::new();
        while !over.load(Relaxed) {
            let start = Instant::now();
            run(pool, PARTS, |_| request(steps));
            times.push(start.elapsed().as_secs_f64() * 1e6);
            thread::sleep(PAUSE);
        }
        times.split_off(times.len() / 10)
    };
    thread::scope(|threads| {
        let clients: Vec<_> = (0..clients)
            .map(|number| threads.spawn(move || client(number)))
            .collect();
        thread::sleep(ROUND);
        over.store(true, Relaxed);
        let times = clients.into_iter().map(|client| client.join());
        times.flat_map(|times| times.expect("a client")).collect()
    })
}

fn quantile(values: &mut [f64], q: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * q) as usize]
}
