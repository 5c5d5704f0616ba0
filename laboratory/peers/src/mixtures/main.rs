//! Mixtures: programs of loops, joins, scopes, spawns, broadcasts and installs, drawn from
//! seeds or shaped by hand, on manycore and on rayon in turn.
//!
//! Each visit is a process of its own. The two take turns, in an order drawn anew each
//! time; ratios are taken within a round.

mod generate;
mod interpret;
mod meeting;
mod random;
mod runtime;
mod shapes;
mod step;
mod visit;

use anyhow::{Result, ensure};
use clap::Parser;
use manycore_peers::output::{Format, Output};
use manycore_peers::program;
use serde::Serialize;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs programs that mix all calls, from seeds, and named mixtures on manycore and on
/// rayon; prints ratios and the longest waits, and writes mixtures.csv.
#[derive(Parser)]
struct Arguments {
    /// 25 seeds, one round, short named mixtures
    #[arg(long)]
    quick: bool,
    /// Seeds, counted from 0 [default: 200, quick 25]
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,
    /// Only this seed, and what its program is
    #[arg(long, value_name = "N", conflicts_with_all = ["seeds", "only"])]
    seed: Option<u64>,
    /// Rounds; each runtime is visited once a round [default: 3, quick 1]
    #[arg(long)]
    rounds: Option<NonZeroUsize>,
    /// Numbers of threads of the pools that seeds run on, with commas
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "N,...",
        default_value = "2,4"
    )]
    threads: Vec<NonZeroUsize>,
    /// Mixtures, with commas: random, deaf, spawn, bimodal, starve1, starve2
    #[arg(long, value_delimiter = ',', value_name = "MIXTURE,...")]
    only: Vec<String>,
    /// Tables for people, or all rows as JSON
    #[arg(long, default_value = "text")]
    format: Format,
    /// The folder for mixtures.csv
    #[arg(long, default_value = "out", value_name = "DIR")]
    out: PathBuf,
    /// The runtime that a process is started for
    #[arg(long, hide = true, requires = "order")]
    child: Option<String>,
    /// What that process does
    #[arg(long, hide = true)]
    order: Option<String>,
}

/// A row of mixtures.csv: one figure on both.
#[derive(Serialize)]
pub struct Row<'a> {
    pub mixture: &'a str,
    pub case: &'a str,
    pub threads: usize,
    pub figure: &'a str,
    pub unit: &'a str,
    /// Medians over the rounds.
    pub manycore: f64,
    pub rayon: f64,
    /// Median over the rounds of the ratio within one; empty where rayon's figure is 0.
    pub ratio: Option<f64>,
    pub rounds: usize,
}

fn main() -> ExitCode {
    program::main(|arguments: Arguments| {
        Ok(match run(&arguments)? {
            0 => ExitCode::SUCCESS,
            failed => {
                eprintln!("{failed} visits failed");
                ExitCode::FAILURE
            }
        })
    })
}

/// How many visits failed: a wrong result, a hang, a crash.
fn run(arguments: &Arguments) -> Result<usize> {
    if let (Some(runtime), Some(order)) = (&arguments.child, &arguments.order) {
        visit::answer(runtime, order)?;
        return Ok(0);
    }
    let known: Vec<_> = std::iter::once("random").chain(shapes::ALL).collect();
    program::all_known("--only", "mixture", &arguments.only, &known)?;
    let seeds = match arguments.seed {
        Some(seed) => seed..seed.saturating_add(1),
        None => {
            0..arguments
                .seeds
                .unwrap_or(if arguments.quick { 25 } else { 200 })
        }
    };
    ensure!(!seeds.is_empty(), "--seeds: at least one is needed");
    let default_rounds = if arguments.quick { 1 } else { 3 };
    let rounds = arguments.rounds.map_or(default_rounds, NonZeroUsize::get);
    let threads: Vec<_> = arguments.threads.iter().map(|it| it.get()).collect();
    let asked = |name: &str| match arguments.seed {
        Some(_) => name == "random",
        None => arguments.only.is_empty() || arguments.only.iter().any(|it| it == name),
    };

    let mut output = Output::new(&arguments.out, "mixtures", arguments.format)?;
    let cpus = std::thread::available_parallelism()?;
    output.begin(&format!("{cpus} CPUs, {rounds} rounds"));
    let mut failed = 0;
    if asked("random") {
        if let Some(seed) = arguments.seed {
            threads
                .iter()
                .for_each(|&threads| random::tell(seed, threads, &output));
        }
        failed += random::measure(seeds, &threads, rounds, &mut output)?;
    }
    let named: Vec<_> = shapes::ALL.into_iter().filter(|name| asked(name)).collect();
    failed += shapes::report::measure(&named, !arguments.quick, rounds, &mut output)?;
    output.end()?;
    Ok(failed)
}
