//! A user's own lock and barrier, on this machine and on simulated ones.
//!
//! Without an argument the program runs on this machine, with a thread for each CPU. With the name of a
//! simulated machine (a preset, or a file FILE.toml) it runs on that machine, with a thread for each core.
//! KEY=VALUE changes the machine: `atac-64 cores=1024`.

use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::{
    Atomic, AtomicInteger, CachePadded, Native,
    Ordering::{Acquire, Relaxed, Release},
    Platform, ThreadSpec,
};
use std::error::Error;
use std::fs::File;
use std::sync::Arc;

/// How often all threads together take the lock, but at least once each.
const ROUNDS: u64 = 2048;

/// A lock on its own cache line. It is 1 while a thread holds it.
struct Lock<P: Platform>(CachePadded<P::Futex>);

impl<P: Platform> Lock<P> {
    fn with<R>(&self, body: impl FnOnce() -> R) -> R {
        while self.0.swap(1, Acquire) == 1 {
            // Polls until the word changes. In simulation this costs the host nothing.
            P::spin_while(&self.0, 1, u64::MAX);
        }
        let value = body();
        self.0.store(0, Release);
        value
    }
}

/// A barrier: the last thread that arrives begins the next episode.
struct Barrier<P: Platform> {
    threads: u32,
    arrived: CachePadded<P::AtomicU32>,
    episode: CachePadded<P::Futex>,
}

impl<P: Platform> Barrier<P> {
    fn wait(&self) {
        let episode = self.episode.load(Relaxed);
        if self.arrived.fetch_add(1, Relaxed) + 1 == self.threads {
            self.arrived.store(0, Relaxed);
            self.episode.store(episode + 1, Release);
        } else {
            P::spin_while(&self.episode, episode, u64::MAX);
            // Pairs with the release above: after the barrier, the thread sees all earlier writes.
            self.episode.load(Acquire);
        }
    }
}

/// The data that the threads share.
struct Shared<P: Platform> {
    lock: Lock<P>,
    barrier: Barrier<P>,
    /// Increased by a load and a store, so the count is right only if the lock is.
    count: CachePadded<P::AtomicU64>,
}

/// The work of each thread: a computation, a step under the lock, a barrier.
fn work<P: Platform>(shared: &Shared<P>, rounds: u64) {
    for _ in 0..rounds {
        P::compute(200);
        shared.lock.with(|| {
            let count = shared.count.load(Relaxed);
            shared.count.store(count + 1, Relaxed);
        });
        shared.barrier.wait();
    }
}

/// Runs `threads` threads on any platform, thread n on the CPUs `place(n)`. If the lock is right, returns the
/// count and the ticks.
fn program<P: Platform>(
    threads: usize,
    place: fn(usize) -> Vec<usize>,
) -> Result<(u64, u64), String> {
    let rounds = (ROUNDS / threads as u64).max(1);
    let shared = Arc::new(Shared::<P> {
        lock: Lock(CachePadded::new(P::Futex::new(0))),
        barrier: Barrier {
            threads: threads as u32,
            arrived: CachePadded::new(P::AtomicU32::new(0)),
            episode: CachePadded::new(P::Futex::new(0)),
        },
        count: CachePadded::new(P::AtomicU64::new(0)),
    });
    // Statistics show these names.
    P::name(&shared.lock.0, "lock");
    P::name(&shared.barrier.arrived, "barrier: arrivals");
    P::name(&shared.barrier.episode, "barrier: episode");
    P::name(&shared.count, "count");
    let start = P::now();
    let spawn = |number| {
        let shared = Arc::clone(&shared);
        let spec = ThreadSpec {
            name: format!("worker {number}"),
            cpus: place(number),
            ..ThreadSpec::default()
        };
        P::spawn(spec, Box::new(move || work(&shared, rounds))).expect("the machine has this CPU")
    };
    let others: Vec<_> = (1..threads).map(spawn).collect();
    work(&shared, rounds);
    others.into_iter().for_each(P::join);
    let ticks = P::now() - start;
    match shared.count.load(Relaxed) {
        count if count == rounds * threads as u64 => Ok((count, ticks)),
        count => Err(format!(
            "the lock is broken: {count} of {} rounds",
            rounds * threads as u64
        )),
    }
}

fn natively() -> Result<(), Box<dyn Error>> {
    let threads = std::thread::available_parallelism()?.get();
    let (count, ticks) = program::<Native>(threads, |_| Vec::new())?;
    let ns = Native::ticks_to_ns(ticks);
    println!("natively, {threads} threads: {count} rounds in {ns:.0} ns");
    Ok(())
}

fn simulated(machine: &str, settings: &[String]) -> Result<(), Box<dyn Error>> {
    let mut machine = Config::named(machine)?;
    machine.set_all(settings)?;
    let threads = machine.cores as usize;
    let run = Simulation::new(&machine)
        .counters()
        .timeline(50_000)
        .run(|| program::<Simulated>(threads, |number| vec![number]))?;
    // A copy, since values in the simulated machine's memory keep all of that memory.
    let ((count, cycles), statistics) = (run.value.clone()?, &run.statistics);
    println!(
        "simulated: {}, {threads} threads: {count} rounds in {cycles} cycles (hash {:016x})\n",
        machine.name, statistics.hash
    );
    if let Some(counters) = &statistics.counters {
        println!("{counters}");
    }
    println!("the lines that changed owner most");
    for line in statistics.report.lines.iter().take(5) {
        let names = line.names.join(", ");
        println!(
            "{:>10} times, {:>12} cycles waited  {names}",
            line.transfers, line.waited
        );
    }
    run.write_timeline(File::create("timeline.json")?)?;
    println!("\nwrote timeline.json; open it at https://ui.perfetto.dev");
    if run.trace.missing() > 0 {
        println!(
            "the timeline is cut: {} later segments are missing",
            run.trace.missing()
        );
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        None => natively(),
        Some((machine, settings)) => simulated(machine, settings),
    }
}
