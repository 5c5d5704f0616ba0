//! How fast the host simulates: `cargo bench -p manycore-chip --bench speed`.
//!
//! Each figure is the median of several runs on one host thread, with the
//! least and the greatest; other work on the host makes them worse, never
//! better. `--quick` runs each once.

use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::{
    Atomic, AtomicInteger, CachePadded, Ordering::Relaxed, Platform, ThreadSpec,
};
use std::sync::Arc;
use std::time::Instant;

type U64 = <Simulated as Platform>::AtomicU64;
type Word = <Simulated as Platform>::Futex;

/// One benchmark: a program, and what it does how often.
struct Speed {
    name: &'static str,
    cores: u32,
    unit: &'static str,
    /// Units, and seconds, of one run.
    run: fn(&Config) -> (u64, u64),
}

const SPEEDS: [Speed; 6] = [
    Speed {
        name: "L1 hits, each core its own line",
        cores: 64,
        unit: "accesses",
        run: hits,
    },
    Speed {
        name: "L1 hits, lines shared for reading",
        cores: 64,
        unit: "accesses",
        run: shared_hits,
    },
    Speed {
        name: "fetch-and-add, all on one word",
        cores: 64,
        unit: "accesses",
        run: contended,
    },
    Speed {
        name: "compute(1) and L1 hits, alternating",
        cores: 64,
        unit: "instructions",
        run: instructions,
    },
    Speed {
        name: "sense-reversing barriers (1000)",
        cores: 64,
        unit: "barriers",
        run: barriers,
    },
    Speed {
        name: "sense-reversing barriers (1000)",
        cores: 1024,
        unit: "barriers",
        run: barriers,
    },
];

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let rounds = if quick { 1 } else { 5 };
    println!("simulated: preset atac-64 (cores as given), one host thread, {rounds} run(s)");
    println!(
        "{:<38} {:>5} {:>14} {:>12} {:>19} {:>14}",
        "program", "cores", "unit", "M units/s", "least .. greatest", "median seconds"
    );
    let only = std::env::var("ONLY").unwrap_or_default();
    for speed in SPEEDS.iter().filter(|speed| speed.name.contains(&only)) {
        let mut config = Config::preset("atac-64").expect("a preset");
        config
            .set(&format!("cores={}", speed.cores))
            .expect("a size of the preset");
        let mut seconds = Vec::new();
        let mut units = 0;
        for _ in 0..rounds {
            let start = Instant::now();
            units = (speed.run)(&config).0;
            seconds.push(start.elapsed().as_secs_f64());
        }
        seconds.sort_by(f64::total_cmp);
        let rate = |seconds: f64| units as f64 / seconds / 1e6;
        let median = seconds[seconds.len() / 2];
        println!(
            "{:<38} {:>5} {:>14} {:>12.3} {:>8.3} .. {:>7.3} {:>14.2}",
            speed.name,
            speed.cores,
            speed.unit,
            rate(median),
            rate(seconds[seconds.len() - 1]),
            rate(seconds[0]),
            median,
        );
    }
    if let Some(peak) = peak_memory() {
        println!("peak memory of all: {peak} MiB");
    }
    println!(
        "published, million instructions a second of one host core: gem5 timing with Ruby 0.3, gem5 \
         atomic 3, R2VM lockstep with MESI 26 to 28 (R2VM, figure 5); Sniper \"several\" on a \
         multicore host (its README)"
    );
}

/// One pinned thread a core runs `body` with the core's number; all are joined.
fn team(cores: u32, body: impl Fn(usize) + Clone + Send + 'static) {
    let threads: Vec<_> = (1..cores as usize)
        .map(|core| {
            let body = body.clone();
            let spec = ThreadSpec {
                cpus: vec![core],
                ..ThreadSpec::default()
            };
            Simulated::spawn(spec, Box::new(move || body(core))).expect("the core exists")
        })
        .collect();
    body(0);
    threads.into_iter().for_each(Simulated::join);
}

fn simulate(config: &Config, program: impl FnOnce()) -> u64 {
    let run = Simulation::new(config)
        .run(program)
        .expect("the program ends");
    run.statistics.cycles
}

fn hits(config: &Config) -> (u64, u64) {
    const EACH: u64 = 500_000;
    let cores = config.cores;
    let cycles = simulate(config, || {
        team(cores, |_| {
            let word = Box::new(CachePadded::new(U64::new(0)));
            for value in 0..EACH / 2 {
                word.store(value, Relaxed);
                word.load(Relaxed);
            }
        });
    });
    (u64::from(cores) * EACH, cycles)
}

fn shared_hits(config: &Config) -> (u64, u64) {
    const EACH: u64 = 500_000;
    let cores = config.cores;
    let cycles = simulate(config, || {
        let words: Arc<Vec<_>> = Arc::new((0..16).map(|_| CachePadded::new(U64::new(0))).collect());
        team(cores, move |core| {
            for round in 0..EACH as usize {
                words[(core + round) % 16].load(Relaxed);
            }
        });
    });
    (u64::from(cores) * EACH, cycles)
}

fn contended(config: &Config) -> (u64, u64) {
    const EACH: u64 = 40_000;
    let cores = config.cores;
    let cycles = simulate(config, || {
        let word = Arc::new(CachePadded::new(U64::new(0)));
        team(cores, move |_| {
            for _ in 0..EACH {
                word.fetch_add(1, Relaxed);
            }
        });
    });
    (u64::from(cores) * EACH, cycles)
}

fn instructions(config: &Config) -> (u64, u64) {
    const EACH: u64 = 500_000;
    let cores = config.cores;
    let cycles = simulate(config, || {
        team(cores, |_| {
            let word = Box::new(CachePadded::new(U64::new(0)));
            for _ in 0..EACH / 2 {
                Simulated::compute(1);
                word.load(Relaxed);
            }
        });
    });
    (u64::from(cores) * EACH, cycles)
}

fn barriers(config: &Config) -> (u64, u64) {
    const EPISODES: u32 = 1000;
    let cores = config.cores;
    let cycles = simulate(config, || {
        let count = Arc::new(CachePadded::new(U64::new(0)));
        let sense = Arc::new(CachePadded::new(Word::new(0)));
        team(cores, move |_| {
            for episode in 0..EPISODES {
                if count.fetch_add(1, Relaxed) + 1 == u64::from(cores) {
                    count.store(0, Relaxed);
                    sense.store(episode + 1, Relaxed);
                } else {
                    Simulated::spin_while(&sense, episode, u64::MAX);
                }
            }
        });
    });
    (EPISODES.into(), cycles)
}

/// The most memory this process has had, in MiB.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024)
}
