//! Work stealing side by side: tasks that lie unevenly at first, and how long it takes the workers
//! to spread and run them.
//!
//! Each visit to a peer is a process of its own. Peers take turns, in an order shuffled anew each
//! round.

mod contestants;
mod foreign;
mod piles;
mod visit;

use anyhow::{Context, Result};
use clap::Parser;
use manycore_peers::output::{Format, Output};
use manycore_peers::stats::{Series, Summary};
use manycore_peers::{program, traffic};
use manycore_programs::stealing::Distribution;
use serde::Serialize;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::process::ExitCode;
use visit::Cell;

/// Runs tasks that lie in few workers' piles, and prints the time over the ideal
#[derive(Parser)]
struct Arguments {
    /// Rounds; each peer is visited once a round and table
    #[arg(long, default_value = "10")]
    rounds: NonZeroUsize,
    /// Numbers of threads, with commas [default: the CPUs]
    #[arg(long, value_delimiter = ',', value_name = "N,...")]
    threads: Vec<NonZeroUsize>,
    /// Tasks a thread, on average
    #[arg(long, default_value = "16")]
    tasks: NonZeroUsize,
    /// Lengths of a task in nanoseconds, with commas
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NS,...",
        default_value = "120000,12000,1200"
    )]
    lengths: Vec<NonZeroU64>,
    /// Peers, with commas
    #[arg(long, value_delimiter = ',', value_name = "PEER,...")]
    peers: Vec<String>,
    /// The folder for stealing.csv
    #[arg(long, default_value = "out", value_name = "DIR")]
    out: PathBuf,
    /// What a peer's process is started with
    #[arg(long, hide = true, requires = "cell")]
    child: Option<String>,
    #[arg(long, hide = true)]
    cell: Option<String>,
}

#[derive(Serialize)]
struct Row<'a> {
    threads: usize,
    task_ns: u64,
    distribution: Distribution,
    peer: &'a str,
    ratio_to_ideal: f64,
    ratio_p10: f64,
    ratio_p90: f64,
    samples: usize,
    rounds: usize,
}

fn main() -> ExitCode {
    program::main(|arguments: Arguments| run(&arguments))
}

fn run(arguments: &Arguments) -> Result<()> {
    if let (Some(name), Some(cell)) = (&arguments.child, &arguments.cell) {
        return visit::answer(name, cell);
    }
    let names = peers(&arguments.peers)?;
    let mut output = Output::new(&arguments.out, "stealing", Format::Text)?;
    let cpus = std::thread::available_parallelism()?.get();
    let rounds = arguments.rounds.get();
    output.begin(&format!(
        "{cpus} CPUs, {rounds} rounds; time over the ideal, median (p10 to p90)"
    ));
    let threads = match arguments.threads.as_slice() {
        [] => vec![cpus],
        threads => threads.iter().map(|threads| threads.get()).collect(),
    };
    let mut random = fastrand::Rng::with_seed(1);
    for threads in threads {
        for length in &arguments.lengths {
            println!("\n{threads} threads, tasks of {length} ns");
            let steps = traffic::steps_for(length.get());
            for shape in shapes(threads, arguments.tasks.get()) {
                let cell = Cell {
                    threads,
                    shape,
                    tasks: arguments.tasks.get(),
                    steps,
                };
                for (peer, series) in measure(&names, cell, rounds, &mut random)? {
                    let all = series.pooled();
                    let of_all = Summary::of(&all);
                    println!(
                        "  {shape:12} {peer:14} {:.3} ({:.3} to {:.3})",
                        of_all.median, of_all.p10, of_all.p90
                    );
                    output.row(&Row {
                        threads,
                        task_ns: length.get(),
                        distribution: shape,
                        peer,
                        ratio_to_ideal: of_all.median,
                        ratio_p10: of_all.p10,
                        ratio_p90: of_all.p90,
                        samples: all.len(),
                        rounds,
                    })?;
                }
            }
        }
    }
    output.end()
}

/// Those asked for, or all that are here.
fn peers(asked: &[String]) -> Result<Vec<&'static str>> {
    let known = contestants::names();
    program::all_known("--peers", "peer", asked, &known)?;
    let mut names = known;
    names.retain(|&name| asked.is_empty() || asked.iter().any(|one| one == name));
    names.retain(|name| match contestants::missing(name) {
        Some(why) => {
            println!("skipped: {name}: {why}");
            false
        }
        None => true,
    });
    Ok(names)
}

/// The thesis's distributions. On few threads some are the same; they are measured once.
fn shapes(threads: usize, tasks: usize) -> Vec<Distribution> {
    let shares = |shape: Distribution| shape.shares(threads * tasks, threads, 1);
    let mut different: Vec<Distribution> = Vec::new();
    for shape in Distribution::ALL {
        match different
            .iter()
            .find(|&&other| shares(other) == shares(shape))
        {
            Some(other) => println!("  {shape} is {other} on {threads} threads"),
            None => different.push(shape),
        }
    }
    different
}

/// Visits all, round by round.
fn measure<'a>(
    names: &[&'a str],
    cell: Cell,
    rounds: usize,
    random: &mut fastrand::Rng,
) -> Result<Vec<(&'a str, Series)>> {
    let mut measured: Vec<_> = names
        .iter()
        .map(|&name| (name, Series::default()))
        .collect();
    let mut order: Vec<_> = (0..measured.len()).collect();
    for _ in 0..rounds {
        random.shuffle(&mut order);
        for &i in &order {
            let (name, series) = &mut measured[i];
            let ratios = visit::visit(name, cell).with_context(|| (*name).to_owned())?;
            series.rounds.push(ratios);
        }
    }
    Ok(measured)
}
