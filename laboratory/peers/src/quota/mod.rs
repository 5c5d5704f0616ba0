//! Loops under a fractional CPU quota: manycore (which follows its allotment), rayon with its
//! default number of threads, and rayon with a thread for each CPU. Each visit is a separate
//! process in its own control group (version 1).

mod group;
mod visit;

use crate::contest::{self, Figures, Options};
use crate::process;
use crate::stats::quantile;
use anyhow::{Context, Result, ensure};
use clap::Args;
use group::Owned;
use serde::Serialize;
use std::process::ExitCode;
use std::time::Duration;
use visit::{Order, PEERS, Visit};

pub use visit::visit;

/// CPU quotas: iterations in a millisecond, and stops by the kernel (7 rounds, quick 1)
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Quotas in CPUs, separated by commas
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "CPUS,...",
        default_value = "1.25,1.5,2"
    )]
    quotas: Vec<f64>,
    /// The number of CPUs that the loops may use
    #[arg(long, default_value = "2", value_parser = contest::threads())]
    cpus: usize,
    /// Measured milliseconds in each visit, after 1500 ms of warm-up
    #[arg(long, default_value = "2000", value_name = "MS", value_parser = contest::count())]
    time: usize,
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

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    for &quota in &arguments.quotas {
        ensure!(
            (0.01..=1e4).contains(&quota),
            "--quotas: {quota} is not a number of CPUs; expected 0.01 to 10000"
        );
    }
    if let Err(why) = Owned::new() {
        eprintln!("skipped: no control group can be made here: {why:#}");
        return Ok(ExitCode::SUCCESS);
    }
    let (rounds, cpus) = (arguments.options.rounds(7, 1), arguments.cpus);
    let line = format!("{cpus} CPUs used; iterations per millisecond");
    let mut contest = arguments.options.begin("quota", rounds, &line)?;
    for &quota in &arguments.quotas {
        let seen = contest.take_turns(&PEERS, Some("rayon"), |peer, _| {
            let group = Owned::new()?;
            group.0.set_quota(quota)?;
            let order = Order {
                group: group.0.clone(),
                cpus,
                time: Duration::from_millis(arguments.time as u64),
            };
            process::visit::<Visit>("quota", PEERS[peer], &order)
                .with_context(|| format!("under a quota of {quota}"))
        })?;
        let speed = |visit: &Visit| vec![visit.iterations_per_ms];
        let speeds = seen
            .iter()
            .map(|(name, visits)| (*name, visits.iter().map(speed).collect()));
        let figures = Figures::of(speeds.collect(), "rayon");
        contest.show(&format!("quota of {quota}"), &figures, "rayon");
        for (it, (_, visits)) in figures.iter().zip(&seen) {
            let stops: Vec<_> = visits.iter().map(|visit| visit.throttled_per_s).collect();
            let row = Row {
                quota,
                peer: it.name,
                threads: &visits[0].threads,
                iterations_per_ms: it.all.median,
                p10: it.all.p10,
                p90: it.all.p90,
                ratio_to_rayon: it.ratio.median,
                ratio_p10: it.ratio.p10,
                ratio_p90: it.ratio.p90,
                throttled_per_s: quantile(&stops, 0.5),
                rounds,
            };
            contest.output.say(&format!(
                "{}: threads: {}; stopped by the quota {:.1} times per second",
                row.peer, row.threads, row.throttled_per_s
            ));
            contest.output.row(&row)?;
        }
    }
    contest.end()
}
