//! A server: clients that each ask for one short parallel loop every 2 ms, all of one
//! pool. What a request takes from its scheduled arrival to its answer, and the
//! processor time it costs, on manycore and on other runtimes.
//!
//! Each contestant is a process of its own. They take turns, in an order shuffled anew
//! each round; ratios are taken within a round.

mod contestants;
mod report;

use anyhow::{Result, bail};
use clap::Parser;
use contestants::contestants;
use manycore_peers::fleet::Fleet;
use manycore_peers::output::{Format, Output};
use manycore_peers::peer::Variant;
use manycore_peers::protocol::Order;
use manycore_peers::traffic::{self, Traffic};
use manycore_peers::{child, program};
use report::{Cell, Visits};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Lets clients ask for short parallel loops on a schedule; prints median, p99 and p99.9
/// of a request's latency and the processor time it takes, and writes server.csv.
#[derive(Parser)]
struct Arguments {
    /// Two short rounds of the first load only
    #[arg(long)]
    quick: bool,
    /// Rounds; each contestant is visited once a round and cell [default: 5, quick 2]
    #[arg(long)]
    rounds: Option<NonZeroUsize>,
    /// Numbers of clients, with commas
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "N,...",
        default_value = "1,3,8"
    )]
    clients: Vec<NonZeroUsize>,
    /// Numbers of threads of the pools, with commas
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "N,...",
        default_value = "2,4,8"
    )]
    threads: Vec<NonZeroUsize>,
    /// What a request is, with commas: 64x3, 8x25, 64x3-jittered [default: all, quick 64x3]
    #[arg(long, value_delimiter = ',', value_name = "LOAD,...")]
    loads: Vec<String>,
    /// Contestants or runtimes, with commas; manycore always runs
    #[arg(long, value_delimiter = ',', value_name = "PEER,...")]
    peers: Vec<String>,
    /// Tables for people, or all rows as JSON
    #[arg(long, default_value = "text")]
    format: Format,
    /// The folder for server.csv
    #[arg(long, default_value = "out", value_name = "DIR")]
    out: PathBuf,
    /// What a contestant's process is started with
    #[arg(long, hide = true)]
    child: Option<String>,
}

/// A request: so many iterations of so many nanoseconds, 200 us together.
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
    // Nobody can learn when the next one comes.
    Load {
        name: "64x3-jittered",
        iterations: 64,
        ns: 3_125,
        jitter_us: 500,
    },
];

fn main() -> ExitCode {
    program::main(|arguments: Arguments| run(&arguments))
}

fn run(arguments: &Arguments) -> Result<()> {
    if let Some(runtime) = &arguments.child {
        let &[threads] = arguments.threads.as_slice() else {
            bail!("--child needs one --threads")
        };
        return child::serve(runtime, threads.get());
    }
    let loads = loads(arguments)?;
    let variants = contestants(&arguments.peers)?;
    let rounds = arguments
        .rounds
        .map_or(if arguments.quick { 2 } else { 5 }, NonZeroUsize::get);
    let (warm_up, counted) = if arguments.quick {
        (30, 120)
    } else {
        (100, 1000)
    };

    let mut output = Output::new(&arguments.out, "server", arguments.format)?;
    output.begin(&format!(
        "{} CPUs, {rounds} rounds of {counted} requests a client; a request is 200 us of work, \
         each client's arrive every 2 ms",
        std::thread::available_parallelism()?
    ));
    let mut random = fastrand::Rng::with_seed(1);
    for (i, threads) in arguments.threads.iter().map(|it| it.get()).enumerate() {
        let (mut fleet, missing) = Fleet::start(&variants, threads)?;
        if i == 0 {
            let versions = fleet.versions();
            versions.iter().for_each(|version| output.say(version));
            let skipped = missing.iter().map(|why| format!("skipped: {why}"));
            skipped.for_each(|line| output.say(&line));
        }
        for load in &loads {
            let steps = traffic::steps_for(load.ns);
            for clients in arguments.clients.iter().map(|it| it.get()) {
                let traffic = Traffic {
                    clients,
                    iterations: load.iterations,
                    steps,
                    jitter_us: load.jitter_us,
                    seed: 0,
                    warm_up,
                    counted,
                };
                let cell = Cell {
                    load: load.name,
                    clients,
                    threads,
                };
                let visits = measure(&mut fleet, &variants, traffic, rounds, &mut random)?;
                report::add(&cell, &visits, &mut output)?;
            }
        }
    }
    output.end()
}

fn loads(arguments: &Arguments) -> Result<Vec<&'static Load>> {
    let known = LOADS.map(|load| load.name);
    program::all_known("--loads", "load", &arguments.loads, &known)?;
    let asked = |load: &&Load| match arguments.loads.is_empty() {
        true => !arguments.quick || load.name == LOADS[0].name,
        false => arguments.loads.iter().any(|name| name == load.name),
    };
    Ok(LOADS.iter().filter(asked).collect())
}

/// Visits all, round by round. One that fails is told of and left out.
fn measure<'a>(
    fleet: &mut Fleet,
    variants: &'a [Variant],
    traffic: Traffic,
    rounds: usize,
    random: &mut fastrand::Rng,
) -> Result<Vec<Visits<'a>>> {
    let mut all: Vec<_> = variants
        .iter()
        .filter(|variant| fleet.has(variant))
        .map(|variant| (variant, Visits::of(&variant.name)))
        .collect();
    let mut order: Vec<_> = (0..all.len()).collect();
    for round in 0..rounds {
        random.shuffle(&mut order);
        // Other phases in each round, the same for all.
        let traffic = Traffic {
            seed: round as u64,
            ..traffic
        };
        for &i in &order {
            let (variant, visits) = &mut all[i];
            if visits.failed {
                continue;
            }
            match fleet.order(variant, Order::Serve(traffic)) {
                Ok(outcome) => visits.add(&outcome),
                Err(error) if variant.runtime == "manycore" => return Err(error),
                Err(error) => {
                    eprintln!("left out: {error:#}");
                    visits.failed = true;
                }
            }
        }
    }
    Ok(all
        .into_iter()
        .map(|(_, visits)| visits)
        .filter(|visits| !visits.failed)
        .collect())
}
