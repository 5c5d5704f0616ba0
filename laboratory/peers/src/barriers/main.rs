//! Barriers side by side: what one episode costs, from everybody's arrival to
//! everybody's departure, again and again.
//!
//! Each visit to a peer is a process of its own. Peers take turns, in an order shuffled
//! anew each round; ratios are taken within a round.

mod contestant;
mod foreign;
mod native;
mod session;
mod visit;

use anyhow::{Result, bail};
use clap::Parser;
use contestant::{Contestant, contestants};
use manycore_peers::output::{Format, Output};
use manycore_peers::program;
use manycore_peers::stats::{Series, Summary, least};
use serde::Serialize;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Goes through manycore's barrier and others, and prints what an episode costs.
#[derive(Parser)]
struct Arguments {
    /// Rounds; each peer is visited once a round and number of threads
    #[arg(long, default_value = "20")]
    rounds: NonZeroUsize,
    /// Numbers of threads, with commas
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "N,...",
        default_value = "2,4,8"
    )]
    threads: Vec<NonZeroUsize>,
    /// Peers, with commas; manycore always runs
    #[arg(long, value_delimiter = ',', value_name = "PEER,...")]
    peers: Vec<String>,
    /// The folder for barriers.csv
    #[arg(long, default_value = "out", value_name = "DIR")]
    out: PathBuf,
    /// What a peer's process is started with
    #[arg(long, hide = true)]
    child: Option<String>,
}

#[derive(Serialize)]
struct Row<'a> {
    threads: usize,
    peer: &'a str,
    median_ns: f64,
    p10_ns: f64,
    p90_ns: f64,
    min_ns: f64,
    ratio_to_manycore: f64,
    ratio_p10: f64,
    ratio_p90: f64,
    samples: usize,
    rounds: usize,
}

fn main() -> ExitCode {
    program::main(|arguments: Arguments| run(&arguments))
}

fn run(arguments: &Arguments) -> Result<()> {
    if let Some(name) = &arguments.child {
        let &[threads] = arguments.threads.as_slice() else {
            bail!("--child needs one --threads")
        };
        return visit::answer(name, threads.get());
    }
    for name in &arguments.peers {
        contestant::find(name)?;
    }
    let mut output = Output::new(&arguments.out, "barriers", Format::Text)?;
    let cpus = std::thread::available_parallelism()?.get();
    let rounds = arguments.rounds.get();
    output.begin(&format!(
        "{cpus} CPUs, {rounds} rounds; nanoseconds an episode"
    ));
    let mut entries = contestants();
    entries.retain(|it| {
        let asked = arguments.peers.is_empty() || arguments.peers.iter().any(|p| p == it.name);
        it.name == "manycore" || asked
    });
    entries.retain(|it| match it.missing() {
        Some(why) => {
            println!("skipped: {}: {why}", it.name);
            false
        }
        None => true,
    });

    let (mut random, mut versions) = (fastrand::Rng::with_seed(1), BTreeMap::new());
    for threads in arguments.threads.iter().map(|threads| threads.get()) {
        println!("\n{threads} threads");
        let mut taking_part: Vec<_> = entries.iter().collect();
        taking_part.retain(|it| {
            let spins_alone = it.only_spins && threads > cpus;
            if spins_alone {
                println!(
                    "  skipped: {}: only spins, and there are {cpus} CPUs",
                    it.name
                );
            }
            !spins_alone
        });
        let measured = measure(&taking_part, threads, rounds, &mut random, &mut versions)?;
        report(&measured, threads, &mut output)?;
    }
    println!();
    for (name, version) in versions {
        println!("{name}: {version}");
    }
    output.end()
}

/// Prints a table and adds its rows to the file.
fn report(measured: &[(&str, Series)], threads: usize, output: &mut Output) -> Result<()> {
    println!(
        "  {:16} {:>11} {:>11} {:>11} {:>11}  ratio (p10 to p90 over the rounds)",
        "", "median", "p10", "p90", "least"
    );
    // Manycore's is the first, or nothing would have come back.
    let own = &measured[0].1;
    for (name, series) in measured {
        let all = series.pooled();
        let (of_all, ratio) = (Summary::of(&all), Summary::of(&series.ratios_to(own)));
        let row = Row {
            threads,
            peer: name,
            median_ns: of_all.median,
            p10_ns: of_all.p10,
            p90_ns: of_all.p90,
            min_ns: least(all.iter().copied()),
            ratio_to_manycore: ratio.median,
            ratio_p10: ratio.p10,
            ratio_p90: ratio.p90,
            samples: all.len(),
            rounds: series.rounds.len(),
        };
        println!(
            "  {name:16} {:11.1} {:11.1} {:11.1} {:11.1}  {:.3} ({:.3} to {:.3})",
            row.median_ns, row.p10_ns, row.p90_ns, row.min_ns, ratio.median, ratio.p10, ratio.p90
        );
        output.row(&row)?;
    }
    Ok(())
}

/// Visits all, round by round. One that fails is told of and left out, as what ran
/// in some rounds only cannot be compared within a round.
///
/// # Errors
///
/// When manycore's fails.
fn measure<'a>(
    taking_part: &[&'a Contestant],
    threads: usize,
    rounds: usize,
    random: &mut fastrand::Rng,
    versions: &mut BTreeMap<&'a str, String>,
) -> Result<Vec<(&'a str, Series)>> {
    let mut measured: Vec<_> = taking_part
        .iter()
        .map(|it| (it.name, Some(Series::default())))
        .collect();
    let mut order: Vec<_> = (0..measured.len()).collect();
    for _ in 0..rounds {
        random.shuffle(&mut order);
        for &i in &order {
            let (name, series) = &mut measured[i];
            let Some(rounds) = series else { continue };
            match visit::visit(name, threads) {
                Ok(visit) => {
                    rounds.rounds.push(visit.samples);
                    versions.extend(visit.version.map(|version| (*name, version)));
                }
                Err(error) if *name == "manycore" => {
                    return Err(error.context(format!("manycore with {threads} threads")));
                }
                Err(error) => {
                    println!("  left out: {name}: {error:#}");
                    *series = None;
                }
            }
        }
    }
    let whole = |(name, series): (_, Option<Series>)| Some((name, series?));
    Ok(measured.into_iter().filter_map(whole).collect())
}
