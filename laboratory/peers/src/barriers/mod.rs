//! Barriers side by side: what one episode costs, from everybody's arrival to
//! everybody's departure, again and again. Each visit to a peer is a process of its own.

mod contestant;
mod foreign;
mod native;
mod session;

use crate::contest::{self, Figures, Options, take_turns, takes};
use crate::process;
use anyhow::Result;
use clap::Args;
use contestant::{Contestant, contestants};
use serde::{Deserialize, Serialize};
use session::{Plan, Session};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

/// Barriers: nanoseconds an episode (20 rounds, quick 3)
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Numbers of threads, with commas
    #[arg(long, value_delimiter = ',', value_name = "N,...", default_value = "2,4,8",
          value_parser = contest::threads())]
    threads: Vec<usize>,
    /// Peers, with commas; manycore always runs
    #[arg(long, value_delimiter = ',', value_name = "PEER,...")]
    peers: Vec<String>,
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

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let all = contestants();
    let names: Vec<_> = all.iter().map(|it| it.name).collect();
    contest::all_known("--peers", "peer", &arguments.peers, &names)?;
    let mut output = arguments.options.output("barriers")?;
    let cpus = std::thread::available_parallelism()?.get();
    let rounds = arguments.options.rounds(20, 3);
    output.begin(&format!(
        "{cpus} CPUs, {rounds} rounds; nanoseconds an episode"
    ));
    let asked = |it: &&Contestant| it.name == "manycore" || takes(&arguments.peers, it.name);
    let mut present: Vec<_> = all.iter().filter(asked).collect();
    present.retain(|it| match it.missing() {
        Some(why) => {
            output.say(&format!("skipped: {}: {why}", it.name));
            false
        }
        None => true,
    });

    let (mut random, mut versions) = (fastrand::Rng::with_seed(1), BTreeMap::new());
    for &threads in &arguments.threads {
        let mut names = Vec::new();
        for it in &present {
            if it.only_spins && threads > cpus {
                let why = format!("only spins, and there are {cpus} CPUs for {threads} threads");
                output.say(&format!("skipped: {}: {why}", it.name));
            } else {
                names.push(it.name);
            }
        }
        let seen = take_turns(&names, &["manycore"], rounds, &mut random, |peer, _| {
            let visit: Visit = process::visit("barriers", names[peer], &threads)?;
            versions.extend(visit.version.map(|version| (names[peer], version)));
            Ok(visit.samples)
        })?;
        let figures = Figures::of(seen, "manycore");
        for it in &figures {
            output.row(&Row {
                threads,
                peer: it.name,
                median_ns: it.all.median,
                p10_ns: it.all.p10,
                p90_ns: it.all.p90,
                min_ns: it.least,
                ratio_to_manycore: it.ratio.median,
                ratio_p10: it.ratio.p10,
                ratio_p90: it.ratio.p90,
                samples: it.samples,
                rounds: it.rounds,
            })?;
        }
        Figures::show(&figures, &format!("{threads} threads"), "manycore", &output);
    }
    for (name, version) in versions {
        output.say(&format!("{name}: {version}"));
    }
    output.end()
}

const PLAN: Plan = Plan {
    warm_up: Duration::from_millis(20),
    sampling: Duration::from_millis(60),
    sample: Duration::from_millis(1),
};

/// What a peer's process saw.
#[derive(Serialize, Deserialize)]
pub struct Visit {
    /// If `Cargo.lock` does not name it.
    version: Option<String>,
    /// Nanoseconds an episode, one a sample.
    samples: Vec<f64>,
}

/// What a peer's process does.
pub fn visit(name: &str, threads: usize) -> Result<Visit> {
    let contestant = contestant::find(name)?;
    let session = Session::new(threads, PLAN);
    let version = contestant.run(threads, &|rank, member| session.take_part(rank, member))?;
    let samples = session.into_samples()?;
    Ok(Visit { version, samples })
}
