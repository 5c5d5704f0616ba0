//! A server with one pool: each client requests one short parallel loop every 2 ms. The results are
//! the latency of a request, from its scheduled arrival to its answer, and its processor time.
//!
//! Each contestant is a separate process. Contestants take turns, in a new random order each round.
//! Ratios are within a round.

mod report;

use crate::contest::{self, Options};
use crate::fleet::Fleet;
use crate::peer;
use crate::protocol::Order;
use crate::traffic::{self, Traffic};
use anyhow::Result;
use clap::Args;
use report::Cell;
use std::process::ExitCode;

/// Servers: latency of the short loops that clients request (5 rounds, quick 2 of one load)
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Numbers of clients, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "N,...", default_value = "1,3,8",
          value_parser = contest::threads())]
    clients: Vec<usize>,
    /// Numbers of threads in each pool, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "N,...", default_value = "2,4,8",
          value_parser = contest::threads())]
    threads: Vec<usize>,
    /// Kinds of requests, separated by commas: 64x3, 8x25, 64x3-jittered [default: all; quick: 64x3]
    #[arg(long, value_delimiter = ',', value_name = "LOAD,...")]
    loads: Vec<String>,
    /// Contestants or runtimes, separated by commas [default: all]; manycore always runs
    #[arg(long, value_delimiter = ',', value_name = "PEER,...")]
    peers: Vec<String>,
}

/// A request: iterations of equal length, 200 us together.
struct Load {
    name: &'static str,
    iterations: usize,
    ns: u64,
    jitter_us: u64,
}

const LOADS: [Load; 3] = [
    Load {
        name: "64x3",
        iterations: 64,
        ns: 3_125,
        jitter_us: 0,
    },
    Load {
        name: "8x25",
        iterations: 8,
        ns: 25_000,
        jitter_us: 0,
    },
    // The server cannot predict the time of the next request.
    Load {
        name: "64x3-jittered",
        iterations: 64,
        ns: 3_125,
        jitter_us: 500,
    },
];

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let Arguments { options, .. } = arguments;
    let loads = loads(arguments)?;
    let variants = peer::serving(&arguments.peers)?;
    let rounds = options.rounds(5, 2);
    let (warm_up, counted) = if options.quick {
        (30, 120)
    } else {
        (100, 1000)
    };

    let mut contest = options.begin(
        "server",
        rounds,
        &format!(
            "{counted} requests of each client in each round; a request is 200 us of work, and a \
             client makes one every 2 ms"
        ),
    )?;
    for (i, &threads) in arguments.threads.iter().enumerate() {
        let (mut fleet, missing) = Fleet::start(&variants, threads)?;
        if i == 0 {
            fleet.report(&missing, &contest.output);
        }
        let present = fleet.present(&variants);
        let names: Vec<_> = present.iter().map(|it| it.name.as_str()).collect();
        for load in &loads {
            let steps = traffic::steps_for(load.ns);
            for &clients in &arguments.clients {
                let cell = Cell {
                    load: load.name,
                    clients,
                    threads,
                };
                let seen = contest.take_turns(&names, Some("manycore"), |peer, round| {
                    let traffic = Traffic {
                        clients,
                        iterations: load.iterations,
                        steps,
                        jitter_us: load.jitter_us,
                        // The phases differ between rounds and are the same for all contestants.
                        seed: round as u64,
                        warm_up,
                        counted,
                    };
                    fleet.order(&present[peer], Order::Serve(traffic))
                })?;
                report::add(&cell, &seen, &mut contest.output)?;
            }
        }
    }
    contest.end()
}

fn loads(arguments: &Arguments) -> Result<Vec<&'static Load>> {
    let known = LOADS.map(|load| load.name);
    contest::all_known("--loads", "load", &arguments.loads, &known)?;
    let asked = |load: &&Load| match arguments.loads.is_empty() {
        true => !arguments.options.quick || load.name == LOADS[0].name,
        false => arguments.loads.iter().any(|name| name == load.name),
    };
    Ok(LOADS.iter().filter(asked).collect())
}
