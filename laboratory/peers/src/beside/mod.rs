//! Loops beside a *neighbour*, which computes on one CPU for 0, 10, 50 or 100% of the time while a
//! contestant runs short loops. The results are the loops' times, and the share of serial loops.
//!
//! Each contestant is a new process in each round, so the decisions of a runtime in one round do
//! not affect the next.

mod neighbour;

use crate::contest::{self, Options};
use crate::fleet::Fleet;
use crate::load::Load;
use crate::output::Output;
use crate::peer;
use crate::protocol::{Order, Outcome, Pace};
use crate::stats::{Series, Summary, quantile};
use crate::table;
use anyhow::Result;
use clap::Args;
use neighbour::Neighbour;
use std::process::ExitCode;

/// Short loops beside a busy process: latencies, and the share of serial loops (10 rounds, quick 3)
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    options: Options,
    /// The neighbour's load in percent of one CPU, separated by commas [default: 0,10,50,100; quick: 0,50]
    #[arg(long, value_delimiter = ',', value_name = "PERCENT,...",
          value_parser = clap::value_parser!(u32).range(0..=100))]
    neighbours: Vec<u32>,
    /// Loops, separated by commas [default: all]
    #[arg(long, value_delimiter = ',', value_name = "LOOP,...")]
    loops: Vec<String>,
    /// Contestants or runtimes, separated by commas [default: all]; manycore always runs
    #[arg(long, value_delimiter = ',', value_name = "PEER,...")]
    peers: Vec<String>,
    /// The number of threads in each pool
    #[arg(long, default_value = "2", value_parser = contest::threads())]
    threads: usize,
}

/// A loop, and its caller's pause between two calls.
struct Case {
    name: &'static str,
    n: usize,
    ns: u64,
    pace: Pace,
}

const CASES: [Case; 6] = [
    Case {
        name: "2x10-hot",
        n: 2,
        ns: 10_000,
        pace: Pace::Hot,
    },
    Case {
        name: "2x10-gap",
        n: 2,
        ns: 10_000,
        pace: Pace::AfterGap,
    },
    Case {
        name: "2x50-hot",
        n: 2,
        ns: 50_000,
        pace: Pace::Hot,
    },
    Case {
        name: "2x50-gap",
        n: 2,
        ns: 50_000,
        pace: Pace::AfterGap,
    },
    Case {
        name: "29x3-periodic",
        n: 29,
        ns: 3_000,
        pace: Pace::Periodic,
    },
    Case {
        name: "1000x0.2-hot",
        n: 1_000,
        ns: 200,
        pace: Pace::Hot,
    },
];

/// A loop counts as serial if it takes more than this part of the time on one thread.
const SERIAL: f64 = 0.85;

impl Case {
    fn order(&self) -> Order {
        Order::Loops {
            load: Load::Spin {
                n: self.n,
                ns: self.ns,
            },
            pace: self.pace,
            warm_up_ms: 5,
            sampling_ms: 300,
        }
    }

    /// Nanoseconds of the loop on one thread.
    fn serial_ns(&self) -> f64 {
        self.n as f64 * self.ns as f64
    }
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let Arguments { options, .. } = arguments;
    let known = CASES.map(|case| case.name);
    contest::all_known("--loops", "loop", &arguments.loops, &known)?;
    let variants = peer::serving(&arguments.peers)?;
    let rounds = options.rounds(10, 3);
    let neighbours = match (&arguments.neighbours[..], options.quick) {
        ([], true) => vec![0, 50],
        ([], false) => vec![0, 10, 50, 100],
        (asked, _) => asked.to_vec(),
    };
    let line = "2 threads without --threads; NxT is a loop of N iterations of T us; `gap`: 1 ms \
                of serial work before each loop, `periodic`: a loop every 1.1 ms";
    let mut contest = options.begin("beside", rounds, line)?;
    let (fleet, missing) = Fleet::start(&variants, arguments.threads)?;
    fleet.report(&missing, &contest.output);
    let mut present = fleet.present(&variants);
    present.retain(|variant| !variant.only_spins());
    drop(fleet);
    let names: Vec<_> = present.iter().map(|it| it.name.as_str()).collect();
    for percent in neighbours {
        let asked = |case: &&Case| contest::takes(&arguments.loops, case.name);
        for case in CASES.iter().filter(asked) {
            let neighbour = Neighbour::start(percent)?;
            let mut fleet = None;
            let seen = contest.take_turns(&names, Some("manycore"), |peer, round| {
                if fleet.as_ref().is_none_or(|&(of, _)| of != round) {
                    // The old processes end before the new ones begin.
                    drop(fleet.take());
                    fleet = Some((round, Fleet::start(&present, arguments.threads)?.0));
                }
                let (_, fleet) = fleet.as_mut().expect("it was just made");
                fleet.order(&present[peer], case.order())
            })?;
            drop(neighbour);
            report(case, percent, arguments.threads, &seen, &mut contest.output)?;
        }
    }
    contest.end()
}

/// The visits of one contestant, with one value for each process.
#[derive(Default)]
struct Visits {
    p50: Series,
    p90: Series,
    p99: Series,
    serial: Series,
    cores: Series,
}

impl Visits {
    fn of(case: &Case, outcomes: &[Outcome]) -> Self {
        let mut visits = Self::default();
        for outcome in outcomes {
            let us = |q| vec![quantile(&outcome.latencies, q) / 1e3];
            visits.p50.rounds.push(us(0.5));
            visits.p90.rounds.push(us(0.9));
            visits.p99.rounds.push(us(0.99));
            let serial = (outcome.latencies.iter())
                .filter(|&&ns| ns > SERIAL * case.serial_ns())
                .count();
            let percent = 100.0 * serial as f64 / outcome.latencies.len().max(1) as f64;
            visits.serial.rounds.push(vec![percent]);
            visits.cores.rounds.push(vec![outcome.cores]);
        }
        visits
    }
}

fn report(
    case: &Case,
    percent: u32,
    threads: usize,
    seen: &[(&str, Vec<Outcome>)],
    output: &mut Output,
) -> Result<()> {
    output.say(&format!(
        "\n{} us, {threads} threads, neighbour {percent}%; us: median over the processes (p10 to \
         p90); serial: share of calls that took {SERIAL} of the time of one thread",
        case.name
    ));
    let header = ["", "p50", "p90", "p99", "serial, %", "cores", "p90 ratio"];
    let mut table = table::table(header.map(str::to_owned).into());
    // The first is manycore: as the leader it cannot be left out.
    let own = Visits::of(case, &seen[0].1);
    for (name, outcomes) in seen {
        let peer = Visits::of(case, outcomes);
        let of = |series: &Series| Summary::of(&series.pooled());
        let ratio = Summary::of(&peer.p90.ratios_to(&own.p90));
        let figures = [&peer.p50, &peer.p90, &peer.p99, &peer.serial, &peer.cores].map(of);
        let mut cells = vec![(*name).to_owned()];
        let text = |s: Summary| format!("{:.1} ({:.1} to {:.1})", s.median, s.p10, s.p90);
        cells.extend(figures.map(text));
        cells.push(table::spread(ratio));
        table.add_row(cells);
        let mut row = vec![
            ("loop".to_owned(), case.name.into()),
            ("neighbour_percent".to_owned(), percent.into()),
            ("threads".to_owned(), threads.into()),
            ("peer".to_owned(), (*name).into()),
        ];
        let names = [
            "p50_us",
            "p90_us",
            "p99_us",
            "serial_percent",
            "cores",
            "p90_ratio",
        ];
        let [p50, p90, p99, serial, cores] = figures;
        for (name, Summary { median, p10, p90 }) in
            names.into_iter().zip([p50, p90, p99, serial, cores, ratio])
        {
            row.push((name.to_owned(), median.into()));
            row.push((format!("{name}_p10"), p10.into()));
            row.push((format!("{name}_p90"), p90.into()));
        }
        row.push(("processes".to_owned(), outcomes.len().into()));
        output.cells(&row)?;
    }
    output.say(&table.to_string());
    Ok(())
}
