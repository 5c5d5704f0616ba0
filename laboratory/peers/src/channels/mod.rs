//! Compares broadcast channels: the time of a message from one sender to one receiver and to
//! several, and the time of a round trip.
//!
//! All run in one process. Each sample makes a new channel and threads, and times only the
//! messages.

mod contestant;
mod contestants;
mod timing;

use crate::contest::{self, Column, Options, takes};
use anyhow::Result;
use clap::Args;
use contestant::Waiting;
use std::process::ExitCode;
use timing::{Case, Entry};

/// Broadcast channels: nanoseconds for a message and for a round trip (20 rounds, quick 3)
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Numbers of receivers, separated by commas [default: 1, all cores but one, 3]
    #[arg(long, value_delimiter = ',', value_name = "N,...", value_parser = contest::threads())]
    receivers: Vec<usize>,
    /// Peers, separated by commas [default: all]; manycore always runs
    #[arg(long, value_delimiter = ',', value_name = "PEER,...")]
    peers: Vec<String>,
}

const COLUMNS: [Column; 3] = [
    ("median_ns", |it| it.all.median.into()),
    ("min_ns", |it| it.least.into()),
    ("ratio_to_manycore", |it| it.ratio.median.into()),
];

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
    let rounds = arguments.options.rounds(20, 3);
    let line = "nanoseconds per message or per round trip";
    let mut contest = arguments.options.begin("channels", rounds, line)?;
    for waiting in Waiting::ALL {
        let asked = |it: &&Entry| {
            it.waiting == waiting && (it.name == "manycore" || takes(&arguments.peers, it.name))
        };
        let entries: Vec<_> = entries.iter().filter(asked).collect();
        let names: Vec<_> = entries.iter().map(|entry| entry.name).collect();
        for &case in &cases {
            // With more spinning threads than cores, times are the scheduler's.
            if waiting == Waiting::Spins && case.threads() > cores {
                continue;
            }
            let title = format!("{case}; the receiver {waiting}");
            let of = [
                ("case", case.to_string().into()),
                ("waiting", waiting.to_string().into()),
            ];
            contest.compare(&title, &of, &names, "manycore", &COLUMNS, |peer, _| {
                Ok(vec![(entries[peer].measure)(case)])
            })?;
        }
    }
    contest.end()
}
