//! Loops under a CPU quota that is no whole number: manycore following its allotment,
//! beside rayon with the threads that it makes by itself and with one for each CPU.
//!
//! Each visit is a process of its own in a control group of its own (version 1). Peers
//! take turns, in an order shuffled anew each round; ratios are taken within a round.

mod group;
mod visit;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use group::Group;
use manycore_peers::output::{Format, Output};
use manycore_peers::program;
use manycore_peers::stats::{Series, Summary};
use serde::Serialize;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use visit::PEERS;

/// Runs the same loops under a quota on manycore and on rayon, and prints how many
/// iterations each gets done and how often the kernel stopped it.
#[derive(Parser)]
struct Arguments {
    /// Rounds; each peer is visited once a round and quota
    #[arg(long, default_value = "7")]
    rounds: NonZeroUsize,
    /// Quotas in CPUs, with commas
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "CPUS,...",
        default_value = "1.25,1.5,2"
    )]
    quotas: Vec<f64>,
    /// CPUs that the loops may use
    #[arg(long, default_value = "2")]
    cpus: NonZeroUsize,
    /// Milliseconds that are measured in each visit, after 1500 to warm up
    #[arg(long, default_value = "2000", value_name = "MS")]
    time: NonZeroUsize,
    /// The folder for quota.csv
    #[arg(long, default_value = "out", value_name = "DIR")]
    out: PathBuf,
    /// What a peer's process is started with
    #[arg(long, hide = true)]
    child: Option<String>,
}

#[derive(Serialize)]
struct Row<'a> {
    quota: f64,
    peer: &'a str,
    threads: &'a str,
    iterations_per_ms: f64,
    p10: f64,
    p90: f64,
    ratio_to_rayon: f64,
    ratio_p10: f64,
    ratio_p90: f64,
    throttled_per_s: f64,
    rounds: usize,
}

fn main() -> ExitCode {
    program::main(|arguments: Arguments| run(&arguments))
}

fn run(arguments: &Arguments) -> Result<()> {
    let time = Duration::from_millis(arguments.time.get() as u64);
    if let Some(name) = &arguments.child {
        return visit::answer(name, arguments.cpus.get(), time);
    }
    for &quota in &arguments.quotas {
        ensure!(
            (0.01..=1e4).contains(&quota),
            "--quotas: {quota} is no number of CPUs; expected 0.01 to 10000"
        );
    }
    if let Err(why) = Group::new() {
        println!("skipped: no control group can be made here: {why:#}");
        return Ok(());
    }
    let mut output = Output::new(&arguments.out, "quota", Format::Text)?;
    let (rounds, cpus) = (arguments.rounds.get(), arguments.cpus.get());
    output.begin(&format!(
        "{cpus} CPUs, {rounds} rounds; iterations a millisecond"
    ));
    let mut random = fastrand::Rng::with_seed(1);
    for &quota in &arguments.quotas {
        println!("\nquota of {quota} CPUs");
        let mut speeds = vec![Series::default(); PEERS.len()];
        let mut throttled = vec![Series::default(); PEERS.len()];
        let mut threads = vec![String::new(); PEERS.len()];
        let mut order: Vec<_> = (0..PEERS.len()).collect();
        for _ in 0..rounds {
            random.shuffle(&mut order);
            for &i in &order {
                let visit = visit::visit(PEERS[i], quota, cpus, time)
                    .with_context(|| format!("{} under a quota of {quota}", PEERS[i]))?;
                speeds[i].rounds.push(vec![visit.iterations_per_ms]);
                throttled[i].rounds.push(vec![visit.throttled_per_s]);
                threads[i] = visit.threads;
            }
        }
        println!(
            "  {:12} {:>8} {:>9} {:>9} {:>9}  {:24} {:>11}",
            "", "threads", "median", "p10", "p90", "to rayon (p10 to p90)", "throttled/s"
        );
        let rayon = PEERS.iter().position(|name| *name == "rayon");
        let rayon = &speeds[rayon.expect("it is one of them")];
        for (i, name) in PEERS.iter().enumerate() {
            let speed = Summary::of(&speeds[i].pooled());
            let ratio = Summary::of(&speeds[i].ratios_to(rayon));
            let row = Row {
                quota,
                peer: name,
                threads: &threads[i],
                iterations_per_ms: speed.median,
                p10: speed.p10,
                p90: speed.p90,
                ratio_to_rayon: ratio.median,
                ratio_p10: ratio.p10,
                ratio_p90: ratio.p90,
                throttled_per_s: Summary::of(&throttled[i].pooled()).median,
                rounds,
            };
            println!(
                "  {name:12} {:>8} {:9.1} {:9.1} {:9.1}  {:24} {:11.1}",
                row.threads,
                row.iterations_per_ms,
                row.p10,
                row.p90,
                format!("{:.3} ({:.3} to {:.3})", ratio.median, ratio.p10, ratio.p90),
                row.throttled_per_s
            );
            output.row(&row)?;
        }
    }
    output.end()
}
