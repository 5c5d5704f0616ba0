//! Broadcast channels side by side: what a message costs from one sender to one
//! receiver and to many, and how long a word takes there and back.
//!
//! All in one process: a channel, its threads and its messages are made anew for each
//! sample, and only the messages are timed. Peers take turns, in an order shuffled anew
//! each round; ratios are taken within a round.

mod contestant;
mod contestants;
mod timing;

use anyhow::Result;
use clap::Parser;
use contestant::Waiting;
use manycore_peers::program;
use manycore_peers::stats::{Series, quantile};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use timing::{Case, Entry};

/// Sends words through manycore's channels and others, and prints what one costs.
#[derive(Parser)]
struct Arguments {
    /// Rounds; each peer is measured once a round and case
    #[arg(long, default_value_t = 20)]
    rounds: usize,
    /// Numbers of receivers, with commas [default: 1, the cores but one, 3]
    #[arg(long, value_delimiter = ',', value_name = "N,...")]
    receivers: Vec<usize>,
    /// Peers, with commas; manycore always runs
    #[arg(long, value_delimiter = ',', value_name = "PEER,...")]
    peers: Vec<String>,
    /// The folder for channels.csv
    #[arg(long, default_value = "out", value_name = "DIR")]
    out: PathBuf,
}

fn main() -> ExitCode {
    program::main(run)
}

fn run(arguments: Arguments) -> Result<()> {
    let cores = std::thread::available_parallelism()?.get();
    let mut receivers = arguments.receivers;
    if receivers.is_empty() {
        receivers = vec![1, cores - 1, 3];
    }
    receivers.retain(|&receivers| receivers > 0);
    receivers.sort_unstable();
    receivers.dedup();
    let entries = timing::entries();
    let mut known: Vec<_> = entries.iter().map(|entry| entry.name).collect();
    known.dedup();
    program::all_known("--peers", "peer", &arguments.peers, &known)?;
    let mut cases: Vec<_> = receivers.into_iter().map(Case::Stream).collect();
    cases.push(Case::RoundTrip);
    let mut random = fastrand::Rng::with_seed(1);
    let mut csv = String::from("case,waiting,peer,median_ns,min_ns,ratio_to_manycore\n");
    println!(
        "{cores} cores, {} rounds; nanoseconds a message or a round trip",
        arguments.rounds
    );
    for waiting in [Waiting::Spins, Waiting::Sleeps] {
        for case in &cases {
            // Threads that spin and have no core of their own measure the scheduler.
            if waiting == Waiting::Spins && case.threads() > cores {
                continue;
            }
            let takes_part = |entry: &&Entry| {
                entry.waiting == waiting
                    && (arguments.peers.is_empty()
                        || entry.name == "manycore"
                        || arguments.peers.iter().any(|peer| peer == entry.name))
            };
            let entries: Vec<_> = entries.iter().filter(takes_part).collect();
            let measured = measure(&entries, *case, arguments.rounds, &mut random);
            println!("\n{case}; who waits {waiting}");
            let own = entries.iter().position(|entry| entry.name == "manycore");
            let own = &measured[own.expect("manycore always runs")];
            for (entry, series) in entries.iter().zip(&measured) {
                let all = series.pooled();
                let median = quantile(&all, 0.5);
                let least = quantile(&all, 0.0);
                let ratio = quantile(&series.ratios_to(own), 0.5);
                println!(
                    "  {:16} {median:10.1} least {least:10.1} ratio {ratio:7.2}",
                    entry.name
                );
                let name = entry.name;
                writeln!(
                    csv,
                    "{case},{waiting},{name},{median:.2},{least:.2},{ratio:.3}"
                )?;
            }
        }
    }
    std::fs::create_dir_all(&arguments.out)?;
    let path = arguments.out.join("channels.csv");
    std::fs::write(&path, csv)?;
    println!("\nwritten: {}", path.display());
    Ok(())
}

fn measure(
    entries: &[&Entry],
    case: Case,
    rounds: usize,
    random: &mut fastrand::Rng,
) -> Vec<Series> {
    let mut series = vec![Series::default(); entries.len()];
    let mut order: Vec<_> = (0..entries.len()).collect();
    for _ in 0..rounds {
        random.shuffle(&mut order);
        for &i in &order {
            series[i].rounds.push(vec![(entries[i].measure)(case)]);
        }
    }
    series
}
