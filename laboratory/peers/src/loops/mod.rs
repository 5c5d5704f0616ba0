//! Compares parallel loops and joins on manycore and other runtimes.
//!
//! The measuring process starts one process for each runtime and visits them round by round. All
//! but the visited process are stopped.

mod bench;
mod measure;
mod record;
mod report;

use crate::contest::{self, Options};
use crate::fleet::Fleet;
use crate::peer::{self, Variant};
use crate::tasks;
use anyhow::Result;
use bench::{Bench, Effort};
use clap::Args;
use std::process::ExitCode;

/// Parallel loops and recursive joins: nanoseconds in many benchmarks, each with its own rounds
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Runs many rounds and the whole grid. Without this flag, the contest runs as with --quick
    #[arg(long, conflicts_with = "quick")]
    full: bool,
    /// Only checks that every peer runs every index exactly once and joins correctly
    #[arg(long, conflicts_with_all = ["quick", "full", "only", "out", "rounds", "format"])]
    check: bool,
    /// Benchmarks, separated by commas: launch, periodic, idle, grid, irregular, tiny, levels, join, fib, tree
    #[arg(long, value_delimiter = ',', value_name = "BENCH,...")]
    only: Vec<String>,
    /// Peers or runtimes, separated by commas; the serial loop always runs
    #[arg(long, value_delimiter = ',', value_name = "PEER,...")]
    peers: Vec<String>,
    /// Numbers of threads, separated by commas [default: 1, the number of cores, twice that number]
    #[arg(long, value_delimiter = ',', value_name = "N,...", value_parser = contest::threads())]
    threads: Vec<usize>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut threads = arguments.threads.clone();
    if threads.is_empty() {
        let cores = std::thread::available_parallelism()?.get();
        threads = vec![1, cores, 2 * cores];
        threads.dedup();
    }
    let variants = peer::compared(&arguments.peers)?;
    if arguments.check {
        return check(&variants, &threads);
    }
    let effort = if arguments.full {
        Effort::Full
    } else {
        Effort::Quick
    };
    let mut benches = bench::select(&arguments.only, effort)?;
    for bench in &mut benches {
        bench.rounds = arguments.options.rounds(bench.rounds, bench.rounds);
    }
    run_all(arguments, &variants, &threads, &benches)
}

fn check(variants: &[Variant], threads: &[usize]) -> Result<ExitCode> {
    let mut all_sound = true;
    for &threads in threads {
        let (mut fleet, missing) = Fleet::start(variants, threads)?;
        for missing in missing {
            println!("skipped: {missing}");
        }
        let present = fleet.present(variants);
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
    arguments: &Arguments,
    variants: &[Variant],
    threads: &[usize],
    benches: &[Bench],
) -> Result<ExitCode> {
    let cores = std::thread::available_parallelism()?;
    let line = format!("{:.3} ticks a nanosecond", tasks::ticks_per_ns());
    let most = benches.iter().map(|bench| bench.rounds).max().unwrap_or(0);
    let mut contest = arguments.options.begin("peers", most, &line)?;
    for (i, &threads) in threads.iter().enumerate() {
        let (mut fleet, missing) = Fleet::start(variants, threads)?;
        if i == 0 {
            fleet.report(&missing, &contest.output);
        }
        let mut present = fleet.present(variants);
        if threads > cores.get() && present.iter().any(Variant::only_spins) {
            let why = "skipped: forkunion (its threads only spin)";
            contest.output.say(&format!("\nthreads: {threads}; {why}"));
            present.retain(|variant| !variant.only_spins());
        }
        let (sound, complaints) = measure::check(&mut fleet, present);
        for complaint in complaints {
            contest.output.say(&format!("not measured: {complaint}"));
        }
        for bench in benches {
            let observed = measure::run(bench, &mut fleet, &sound, threads, &mut contest.random)?;
            contest.failed += observed.failed;
            record::write(&observed, &mut contest.output)?;
            contest
                .output
                .say(&format!("\n{}", report::render(&observed)));
        }
    }
    contest.end()
}
