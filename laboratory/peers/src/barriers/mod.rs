//! Compares barriers by the mean time of an episode, in which all members arrive and leave. Each
//! visit to a peer is a separate process.

mod contestant;
mod foreign;
mod native;
mod session;

use crate::contest::{self, Column, Options, takes};
use crate::process;
use anyhow::Result;
use clap::Args;
use contestant::contestants;
use serde::{Deserialize, Serialize};
use session::{Plan, Session};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

/// Barriers: nanoseconds for each episode (20 rounds, quick 3)
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Numbers of threads, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "N,...", default_value = "2,4,8",
          value_parser = contest::threads())]
    threads: Vec<usize>,
    /// Peers, separated by commas [default: all]; manycore always runs
    #[arg(long, value_delimiter = ',', value_name = "PEER,...")]
    peers: Vec<String>,
}

const COLUMNS: [Column; 9] = [
    ("median_ns", |it| it.all.median.into()),
    ("p10_ns", |it| it.all.p10.into()),
    ("p90_ns", |it| it.all.p90.into()),
    ("min_ns", |it| it.least.into()),
    ("ratio_to_manycore", |it| it.ratio.median.into()),
    ("ratio_p10", |it| it.ratio.p10.into()),
    ("ratio_p90", |it| it.ratio.p90.into()),
    ("samples", |it| it.samples.into()),
    ("rounds", |it| it.rounds.into()),
];

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let all = contestants();
    let mut names: Vec<_> = all.iter().map(|it| it.name).collect();
    contest::all_known("--peers", "peer", &arguments.peers, &names)?;
    let rounds = arguments.options.rounds(20, 3);
    let mut contest =
        arguments
            .options
            .begin("barriers", rounds, "nanoseconds per wait at the barrier")?;
    names.retain(|name| *name == "manycore" || takes(&arguments.peers, name));
    let named = |name: &str| all.iter().find(|it| it.name == name);
    contest.skip(&mut names, |name| named(name)?.missing());

    let (cpus, mut versions) = (std::thread::available_parallelism()?.get(), BTreeMap::new());
    for &threads in &arguments.threads {
        let mut names = names.clone();
        contest.skip(&mut names, |name| {
            let alone = threads > cpus && named(name)?.only_spins;
            alone.then(|| {
                format!(
                    "its threads only spin, and there are only {cpus} CPUs for {threads} threads"
                )
            })
        });
        let title = format!("{threads} threads");
        let case = [("threads", threads.into())];
        contest.compare(&title, &case, &names, "manycore", &COLUMNS, |peer, _| {
            let visit: Visit = process::visit("barriers", names[peer], &threads)?;
            versions.extend(visit.version.map(|version| (names[peer], version)));
            Ok(visit.samples)
        })?;
    }
    for (name, version) in versions {
        contest.output.say(&format!("{name}: {version}"));
    }
    contest.end()
}

const PLAN: Plan = Plan {
    warm_up: Duration::from_millis(20),
    sampling: Duration::from_millis(60),
    sample: Duration::from_millis(1),
};

/// The samples of one process.
#[derive(Serialize, Deserialize)]
pub struct Visit {
    /// The library's version, if `Cargo.lock` does not name it.
    version: Option<String>,
    /// Nanoseconds an episode, one number for each sample.
    samples: Vec<f64>,
}

/// Measures a barrier in this process.
pub fn visit(name: &str, threads: usize) -> Result<Visit> {
    let contestant = contestant::find(name)?;
    let session = Session::new(threads, PLAN);
    let version = contestant.run(threads, &|rank, member| session.take_part(rank, member))?;
    let samples = session.into_samples()?;
    Ok(Visit { version, samples })
}
