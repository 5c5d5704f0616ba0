//! The same parallel loops on manycore and on other runtimes, side by side.
//!
//! The process that measures starts one process a runtime, keeps all of them
//! stopped but one, and visits them round by round; see `README.md`.

use anyhow::{Result, bail};
use clap::Parser;
use manycore_peers::bench::{self, Bench, Effort};
use manycore_peers::fleet::Fleet;
use manycore_peers::peer::{self, Variant};
use manycore_peers::record::Record;
use manycore_peers::{child, measure, program, table, tasks};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs the same parallel loops on manycore and on other runtimes; prints
/// tables of ratios and writes peers.csv.
#[derive(Parser)]
struct Arguments {
    /// Few rounds and cells; this is what happens without --full
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Many rounds, the whole grid
    #[arg(long)]
    full: bool,
    /// Only show that every peer runs every index exactly once and joins right
    #[arg(long, conflicts_with_all = ["quick", "full", "only", "out"])]
    check: bool,
    /// Benchmarks, with commas: launch, periodic, idle, grid, irregular, tiny, levels, join, fib, tree
    #[arg(long, value_delimiter = ',', value_name = "BENCH,...")]
    only: Vec<String>,
    /// Peers or runtimes, with commas; the serial loop always runs
    #[arg(long, value_delimiter = ',', value_name = "PEER,...")]
    peers: Vec<String>,
    /// Numbers of threads, with commas [default: 1, the cores, twice the cores]
    #[arg(long, value_delimiter = ',', value_name = "N,...")]
    threads: Vec<NonZeroUsize>,
    /// The folder for peers.csv
    #[arg(long, default_value = "out", value_name = "DIR")]
    out: PathBuf,
    /// What a peer's process is started with
    #[arg(long, hide = true)]
    child: Option<String>,
}

fn main() -> ExitCode {
    program::main(run)
}

fn run(arguments: Arguments) -> Result<ExitCode> {
    let mut threads: Vec<_> = arguments
        .threads
        .iter()
        .map(|threads| threads.get())
        .collect();
    if let Some(runtime) = &arguments.child {
        let &[threads] = threads.as_slice() else {
            bail!("--child needs one --threads")
        };
        child::serve(runtime, threads)?;
        return Ok(ExitCode::SUCCESS);
    }
    if threads.is_empty() {
        let cores = std::thread::available_parallelism()?.get();
        threads = vec![1, cores, 2 * cores];
        threads.dedup();
    }
    let variants = peer::select(&arguments.peers)?;
    if arguments.check {
        return check(&variants, &threads);
    }
    let effort = if arguments.full {
        Effort::Full
    } else {
        Effort::Quick
    };
    let benches = bench::select(&arguments.only, effort)?;
    run_all(&variants, &threads, &benches, Record::new(&arguments.out)?)?;
    Ok(ExitCode::SUCCESS)
}

fn check(variants: &[Variant], threads: &[usize]) -> Result<ExitCode> {
    let mut all_sound = true;
    for &threads in threads {
        let (mut fleet, missing) = Fleet::start(variants, threads)?;
        report_start(&fleet, &missing);
        let present = present_in(&fleet, variants);
        let joining = Variant::joining(&present);
        let (sound, complaints) = measure::check(&mut fleet, present);
        for variant in sound {
            println!("{}, threads {threads}: every index once", variant.name);
        }
        let (sound, more_complaints) = measure::check_joins(&mut fleet, joining);
        for variant in sound {
            println!("{}, threads {threads}: every join right", variant.name);
        }
        for complaint in complaints.into_iter().chain(more_complaints) {
            all_sound = false;
            println!("threads {threads}: {complaint}");
        }
    }
    Ok(if all_sound {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn run_all(
    variants: &[Variant],
    threads: &[usize],
    benches: &[Bench],
    mut record: Record,
) -> Result<()> {
    let cores = std::thread::available_parallelism()?;
    println!(
        "{cores} cores; {:.3} ticks a nanosecond",
        tasks::ticks_per_ns()
    );
    if cfg!(debug_assertions) {
        println!("built without --release: the Rust peers' figures mean little");
    }
    let mut random = fastrand::Rng::with_seed(1);
    for (i, &threads) in threads.iter().enumerate() {
        let (mut fleet, missing) = Fleet::start(variants, threads)?;
        if i == 0 {
            report_start(&fleet, &missing);
        }
        let mut present = present_in(&fleet, variants);
        if threads > cores.get() && present.iter().any(Variant::only_spins) {
            println!("\nthreads: {threads}; skipped: forkunion, whose threads only spin");
            present.retain(|variant| !variant.only_spins());
        }
        let (sound, complaints) = measure::check(&mut fleet, present);
        for complaint in complaints {
            println!("not measured: {complaint}");
        }
        for bench in benches {
            let observed = measure::run(bench, &mut fleet, &sound, threads, &mut random)?;
            println!("\n{}", table::render(record.add(observed)?));
        }
    }
    println!("\nwritten: {}", record.path().display());
    Ok(())
}

/// Those of `variants` whose runtime has started.
fn present_in(fleet: &Fleet, variants: &[Variant]) -> Vec<Variant> {
    let present = variants.iter().filter(|variant| fleet.has(variant));
    present.cloned().collect()
}

fn report_start(fleet: &Fleet, missing: &[String]) {
    for version in fleet.versions() {
        println!("{version}");
    }
    for missing in missing {
        println!("skipped: {missing}");
    }
}
