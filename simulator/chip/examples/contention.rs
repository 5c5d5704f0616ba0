//! The cycles, by activity, of 16 cores that count on one word and wait at a barrier: `cargo run --release -p
//! manycore-chip --example contention [PRESET] [TIMELINE.json]`.

use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::{
    Atomic, AtomicInteger, CachePadded, Ordering::SeqCst, Platform, ThreadSpec,
};
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::sync::Arc;

type Futex = <Simulated as Platform>::Futex;
type U64 = <Simulated as Platform>::AtomicU64;

/// A sense-reversing barrier and a counter, each on a line of its own.
struct Shared {
    counter: CachePadded<U64>,
    arrived: CachePadded<U64>,
    episode: CachePadded<Futex>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let machine = Config::named(&arguments.next().unwrap_or_else(|| "westmere-ex".into()))?;
    let threads = machine.cores.min(16) as usize;
    let run = Simulation::new(&machine)
        .timeline(100_000)
        .run(|| program(threads))?;
    println!(
        "simulated (preset {}): {} cycles, hash {:016x}\n\n{}",
        machine.name, run.statistics.cycles, run.statistics.hash, run.statistics.report
    );
    if let Some(path) = arguments.next() {
        run.write_timeline(BufWriter::new(File::create(&path)?))?;
        println!("wrote {path}; open it at https://ui.perfetto.dev");
    }
    Ok(())
}

fn program(threads: usize) {
    let shared = Arc::new(Shared {
        counter: CachePadded::new(U64::new(0)),
        arrived: CachePadded::new(U64::new(0)),
        episode: CachePadded::new(Futex::new(0)),
    });
    Simulated::name(&shared.counter, "counter");
    Simulated::name(&shared.arrived, "barrier: arrivals");
    Simulated::name(&shared.episode, "barrier: episode");
    let work = move |shared: &Shared| {
        for episode in 0..20 {
            for _ in 0..10 {
                Simulated::compute(200);
                shared.counter.fetch_add(1, SeqCst);
            }
            if shared.arrived.fetch_add(1, SeqCst) + 1 == threads as u64 {
                shared.arrived.store(0, SeqCst);
                shared.episode.store(episode + 1, SeqCst);
            } else {
                Simulated::spin_while(&shared.episode, episode, u64::MAX);
            }
        }
    };
    let team: Vec<_> = (1..threads)
        .map(|core| {
            let shared = Arc::clone(&shared);
            let spec = ThreadSpec {
                cpus: vec![core],
                ..ThreadSpec::default()
            };
            Simulated::spawn(spec, Box::new(move || work(&shared))).expect("the core exists")
        })
        .collect();
    work(&shared);
    team.into_iter().for_each(Simulated::join);
}
