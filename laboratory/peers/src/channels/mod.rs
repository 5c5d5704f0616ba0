//! Broadcast channels side by side: what a message costs from one sender to one
//! receiver and to many, and how long a word takes there and back.
//!
//! All in one process: a channel, its threads and its messages are made anew for each
//! sample, and only the messages are timed.

mod contestant;
mod contestants;
mod timing;

use crate::contest::{self, Figures, Options, take_turns, takes};
use anyhow::Result;
use clap::Args;
use contestant::Waiting;
use serde::Serialize;
use std::process::ExitCode;
use timing::{Case, Entry};

/// Broadcast channels: nanoseconds a message and a round trip (20 rounds, quick 3)
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Numbers of receivers, with commas [default: 1, the cores but one, 3]
    #[arg(long, value_delimiter = ',', value_name = "N,...", value_parser = contest::threads())]
    receivers: Vec<usize>,
    /// Peers, with commas; manycore always runs
    #[arg(long, value_delimiter = ',', value_name = "PEER,...")]
    peers: Vec<String>,
}

#[derive(Serialize)]
struct Row<'a> {
    case: String,
    waiting: String,
    peer: &'a str,
    median_ns: f64,
    min_ns: f64,
    ratio_to_manycore: f64,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let cores = std::thread::available_parallelism()?.get();
    let mut receivers = arguments.receivers.clone();
    if receivers.is_empty() {
        receivers = vec![1, (cores - 1).max(1), 3];
    }
    receivers.sort_unstable();
    receivers.dedup();
    let entries = timing::entries();
    let mut known: Vec<_> = entries.iter().map(|entry| entry.name).collect();
    known.sort_unstable();
    known.dedup();
    contest::all_known("--peers", "peer", &arguments.peers, &known)?;
    let mut cases: Vec<_> = receivers.into_iter().map(Case::Stream).collect();
    cases.push(Case::RoundTrip);
    let mut output = arguments.options.output("channels")?;
    let rounds = arguments.options.rounds(20, 3);
    output.begin(&format!(
        "{cores} cores, {rounds} rounds; nanoseconds a message or a round trip"
    ));
    let mut random = fastrand::Rng::with_seed(1);
    for waiting in [Waiting::Spins, Waiting::Sleeps] {
        let asked = |it: &&Entry| {
            it.waiting == waiting && (it.name == "manycore" || takes(&arguments.peers, it.name))
        };
        let entries: Vec<_> = entries.iter().filter(asked).collect();
        let names: Vec<_> = entries.iter().map(|entry| entry.name).collect();
        for &case in &cases {
            // Threads that spin and have no core of their own measure the scheduler.
            if waiting == Waiting::Spins && case.threads() > cores {
                continue;
            }
            let seen = take_turns(&names, &[], rounds, &mut random, |peer, _| {
                Ok(vec![(entries[peer].measure)(case)])
            })?;
            let figures = Figures::of(seen, "manycore");
            for it in &figures {
                output.row(&Row {
                    case: case.to_string(),
                    waiting: waiting.to_string(),
                    peer: it.name,
                    median_ns: it.all.median,
                    min_ns: it.least,
                    ratio_to_manycore: it.ratio.median,
                })?;
            }
            let title = format!("{case}; the receiver {waiting}");
            Figures::show(&figures, &title, "manycore", &output);
        }
    }
    output.end()
}
