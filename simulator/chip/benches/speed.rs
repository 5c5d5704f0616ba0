//! How fast the host simulates: `cargo bench -p manycore-chip --bench speed`.
//!
//! Each figure is the median of several runs on one host thread, with the least and the greatest;
//! other work on the host makes them worse, never better. `--quick` runs each once, `--counters`
//! counts what the machine's parts do; a word selects the benchmarks with that word in their names.
//! `--small` does a tenth of the work: for counting the host's instructions (`valgrind
//! --tool=cachegrind --cache-sim=no`), which other work does not change.

use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::{
    Atomic, AtomicInteger, CachePadded, Ordering::Relaxed, Platform, ThreadSpec,
};
use std::sync::Arc;
use std::time::Instant;

type U64 = <Simulated as Platform>::AtomicU64;
type Word = <Simulated as Platform>::Futex;

/// One benchmark: a program, and the unit of its work.
struct Speed {
    name: &'static str,
    cores: u32,
    unit: &'static str,
    /// Runs the program; returns how many units it did.
    run: fn(&Config) -> u64,
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
        name: "sense-reversing barriers",
        cores: 64,
        unit: "barriers",
        run: barriers,
    },
    Speed {
        name: "sense-reversing barriers",
        cores: 1024,
        unit: "barriers",
        run: barriers,
    },
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let filter = arguments.iter().find(|argument| !argument.starts_with('-'));
    let rounds = if quick { 1 } else { 5 };
    println!("simulated: preset atac-64 (cores as given), one host thread, {rounds} run(s)");
    println!(
        "{:<36} {:>5} {:>13} {:>10} {:>20} {:>9}",
        "program", "cores", "unit", "a second", "least .. greatest", "seconds"
    );
    for speed in SPEEDS
        .iter()
        .filter(|speed| filter.is_none_or(|filter| speed.name.contains(filter)))
    {
        let mut config = Config::preset("atac-64").expect("a preset");
        config
            .set(&format!("cores={}", speed.cores))
            .expect("a size of the preset");
        let mut units = 0;
        let mut seconds: Vec<f64> = (0..rounds)
            .map(|_| {
                let start = Instant::now();
                units = (speed.run)(&config);
                start.elapsed().as_secs_f64()
            })
            .collect();
        seconds.sort_by(f64::total_cmp);
        let rate = |seconds: f64| readable(units as f64 / seconds);
        let median = seconds[seconds.len() / 2];
        println!(
            "{:<36} {:>5} {:>13} {:>10} {:>9} .. {:>7} {:>9.2}",
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
        "published, instructions a second of one host core: gem5 timing 0.3 M, gem5 atomic 3 M, \
         R2VM lockstep with MESI 26 to 28 M (R2VM, figure 5); Sniper \"several\" M on a multicore \
         host (its README)"
    );
}

/// A number with its unit.
fn readable(rate: f64) -> String {
    match rate {
        1e6.. => format!("{:.1} M", rate / 1e6),
        1e3.. => format!("{:.1} k", rate / 1e3),
        _ => format!("{rate:.0}"),
    }
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

fn simulate(config: &Config, program: impl FnOnce()) {
    let simulation = match std::env::args().any(|argument| argument == "--counters") {
        true => Simulation::new(config).counters(),
        false => Simulation::new(config),
    };
    simulation.run(program).expect("the program ends");
}

/// `times`, or a tenth of it with `--small`.
fn part_of(times: u64) -> u64 {
    match std::env::args().any(|argument| argument == "--small") {
        true => times / 10,
        false => times,
    }
}

fn hits(config: &Config) -> u64 {
    let each = part_of(500_000);
    let cores = config.cores;
    simulate(config, || {
        team(cores, move |_| {
            let word = Box::new(CachePadded::new(U64::new(0)));
            for value in 0..each / 2 {
                word.store(value, Relaxed);
                word.load(Relaxed);
            }
        });
    });
    u64::from(cores) * each
}

fn shared_hits(config: &Config) -> u64 {
    let each = part_of(500_000);
    let cores = config.cores;
    simulate(config, || {
        let words: Arc<Vec<_>> = Arc::new((0..16).map(|_| CachePadded::new(U64::new(0))).collect());
        team(cores, move |core| {
            for round in 0..each as usize {
                words[(core + round) % 16].load(Relaxed);
            }
        });
    });
    u64::from(cores) * each
}

fn contended(config: &Config) -> u64 {
    let each = part_of(40_000);
    let cores = config.cores;
    simulate(config, || {
        let word = Arc::new(CachePadded::new(U64::new(0)));
        team(cores, move |_| {
            for _ in 0..each {
                word.fetch_add(1, Relaxed);
            }
        });
    });
    u64::from(cores) * each
}

fn instructions(config: &Config) -> u64 {
    let each = part_of(500_000);
    let cores = config.cores;
    simulate(config, || {
        team(cores, move |_| {
            let word = Box::new(CachePadded::new(U64::new(0)));
            for _ in 0..each / 2 {
                Simulated::compute(1);
                word.load(Relaxed);
            }
        });
    });
    u64::from(cores) * each
}

fn barriers(config: &Config) -> u64 {
    let episodes = part_of(1_000) as u32;
    let cores = config.cores;
    simulate(config, || {
        let count = Arc::new(CachePadded::new(U64::new(0)));
        let sense = Arc::new(CachePadded::new(Word::new(0)));
        team(cores, move |_| {
            for episode in 0..episodes {
                if count.fetch_add(1, Relaxed) + 1 == u64::from(cores) {
                    count.store(0, Relaxed);
                    sense.store(episode + 1, Relaxed);
                } else {
                    Simulated::spin_while(&sense, episode, u64::MAX);
                }
            }
        });
    });
    episodes.into()
}

/// The most memory this process has had, in MiB.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024)
}
