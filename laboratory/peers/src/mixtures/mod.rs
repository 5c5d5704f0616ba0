//! Mixtures: programs of loops, joins, scopes, spawns, broadcasts and installs, random or
//! hand-made. Each runs on manycore and rayon alternately.
//!
//! Each visit is a separate process, with a time limit.

mod generate;
mod interpret;
mod meeting;
mod random;
mod shapes;
mod step;
pub mod visit;

use crate::contest::{self, Options};
use anyhow::{Result, ensure};
use clap::Args;
use serde::Serialize;
use std::process::ExitCode;

/// Random and named mixtures of all calls, on manycore and rayon (3 rounds, quick 1)
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    options: Options,
    /// The number of seeds, which begin at 0 [default: 200; quick: 25]
    #[arg(long, value_name = "N", value_parser = contest::count())]
    seeds: Option<usize>,
    /// Runs only this seed, and prints its program
    #[arg(long, value_name = "N", conflicts_with_all = ["seeds", "only"])]
    seed: Option<u64>,
    /// Numbers of threads in the pools for seeds, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "N,...", default_value = "2,4",
          value_parser = contest::threads())]
    threads: Vec<usize>,
    /// Mixtures, separated by commas: random, deaf, spawn, bimodal, starve1, starve2
    #[arg(long, value_delimiter = ',', value_name = "MIXTURE,...")]
    only: Vec<String>,
}

/// A row of mixtures.csv: one figure on both runtimes.
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
    /// The median over the rounds of the ratio within a round; empty if it is not finite.
    pub ratio: Option<f64>,
    pub rounds: usize,
}

/// Runs the contest. The status is 1 if a visit failed: a wrong result, a hang, a crash.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let Arguments { options, .. } = arguments;
    let known: Vec<_> = std::iter::once("random").chain(shapes::ALL).collect();
    contest::all_known("--only", "mixture", &arguments.only, &known)?;
    let seeds = match arguments.seed {
        Some(seed) => seed..seed.saturating_add(1),
        None => {
            let default = if options.quick { 25 } else { 200 };
            0..arguments.seeds.unwrap_or(default) as u64
        }
    };
    ensure!(!seeds.is_empty(), "--seed: expected less than 2^64 - 1");
    let rounds = options.rounds(3, 1);
    let asked = |name: &str| match arguments.seed {
        Some(_) => name == "random",
        None => contest::takes(&arguments.only, name),
    };

    let mut contest = options.begin("mixtures", rounds, "manycore and rayon")?;
    if asked("random") {
        if let Some(seed) = arguments.seed {
            for &threads in &arguments.threads {
                random::tell(seed, threads, &contest.output);
            }
        }
        random::measure(seeds, &arguments.threads, &mut contest)?;
    }
    let named: Vec<_> = shapes::ALL.into_iter().filter(|name| asked(name)).collect();
    shapes::report::measure(&named, !options.quick, &mut contest)?;
    contest.end()
}
