//! Compares work stealing: the time that workers need to spread and run tasks from uneven piles.
//! Each visit to a peer is a separate process.

mod contestants;
mod foreign;
mod piles;

use crate::contest::{self, Column, Options, takes};
use crate::output::Output;
use crate::{process, traffic};
use anyhow::Result;
use clap::Args;
use clap::builder::RangedU64ValueParser;
use manycore_programs::stealing::Distribution;
use piles::Piles;
use serde::{Deserialize, Serialize};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Work stealing: time to finish uneven piles of tasks, divided by the ideal time (10 rounds, quick 2)
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Numbers of threads, separated by commas [default: the number of CPUs]
    #[arg(long, value_delimiter = ',', value_name = "N,...", value_parser = contest::threads())]
    threads: Vec<usize>,
    /// The mean number of tasks for each thread
    #[arg(long, default_value = "16", value_parser = contest::count())]
    tasks: usize,
    /// Durations of a task in nanoseconds, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "NS,...",
          default_value = "120000,12000,1200",
          value_parser = RangedU64ValueParser::<u64>::new().range(1..=1_000_000_000))]
    lengths: Vec<u64>,
    /// Peers, separated by commas [default: all]
    #[arg(long, value_delimiter = ',', value_name = "PEER,...")]
    peers: Vec<String>,
}

const COLUMNS: [Column; 5] = [
    ("ratio_to_ideal", |it| it.all.median.into()),
    ("ratio_p10", |it| it.all.p10.into()),
    ("ratio_p90", |it| it.all.p90.into()),
    ("samples", |it| it.samples.into()),
    ("rounds", |it| it.rounds.into()),
];

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut names = contestants::names();
    contest::all_known("--peers", "peer", &arguments.peers, &names)?;
    let rounds = arguments.options.rounds(10, 2);
    let mut contest =
        arguments
            .options
            .begin("stealing", rounds, "time divided by the ideal time")?;
    names.retain(|name| takes(&arguments.peers, name));
    contest.skip(&mut names, contestants::missing);
    let Some(&leader) = names.first() else {
        return contest.end();
    };
    let threads = match arguments.threads.as_slice() {
        [] => vec![std::thread::available_parallelism()?.get()],
        threads => threads.to_vec(),
    };
    for threads in threads {
        for &task_ns in &arguments.lengths {
            let title = format!("\n{threads} threads, tasks of {task_ns} ns");
            contest.output.say(&title);
            let steps = traffic::steps_for(task_ns);
            for shape in shapes(threads, arguments.tasks, &contest.output) {
                let cell = Cell {
                    threads,
                    shape,
                    tasks: arguments.tasks,
                    steps,
                };
                let case = [
                    ("threads", threads.into()),
                    ("task_ns", task_ns.into()),
                    ("distribution", shape.to_string().into()),
                ];
                let title = shape.to_string();
                contest.compare(&title, &case, &names, leader, &COLUMNS, |peer, _| {
                    process::visit("stealing", names[peer], &cell)
                })?;
            }
        }
    }
    contest.end()
}

/// The distributions of Park's thesis. On few threads some are equal; equal distributions are
/// measured once.
fn shapes(threads: usize, tasks: usize, output: &Output) -> Vec<Distribution> {
    let shares = |shape: Distribution| shape.shares(threads * tasks, threads, 1);
    let mut different: Vec<Distribution> = Vec::new();
    for shape in Distribution::ALL {
        match different
            .iter()
            .find(|&&other| shares(other) == shares(shape))
        {
            Some(other) => output.say(&format!(
                "{shape} is the same as {other} on {threads} threads"
            )),
            None => different.push(shape),
        }
    }
    different
}

/// The duration of a measurement, and its least number of runs.
const SAMPLING: Duration = Duration::from_millis(100);
const FEWEST: usize = 5;
/// The number of runs before the counted runs.
const WARM_UP: usize = 3;

/// The measured case.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Cell {
    threads: usize,
    shape: Distribution,
    /// The mean number of tasks for each thread.
    tasks: usize,
    /// Dependent multiplications of a task.
    steps: u32,
}

/// Measures one peer in this process. Returns each run's time divided by the ideal time.
pub fn visit(name: &str, cell: Cell) -> Result<Vec<f64>> {
    let mut contestant = contestants::open(name, cell.threads)?;
    let mut piles = Piles::new(cell.shape, cell.threads, cell.tasks, cell.steps);
    let cpus = std::thread::available_parallelism()?.get();
    let cores = cell.threads.min(cpus) as f64;
    let mut ratios = Vec::new();
    let end = Instant::now() + SAMPLING;
    while ratios.len() < WARM_UP + FEWEST || Instant::now() < end {
        // Measured just before the run, so that the machine has the same speed.
        let ideal = piles.serial() / cores;
        contestant.run(&piles)?;
        ratios.push(piles.outcome()? / ideal);
    }
    Ok(ratios.split_off(WARM_UP))
}
