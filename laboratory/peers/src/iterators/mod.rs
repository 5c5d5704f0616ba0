//! Compares programs over manycore's and rayon's parallel iterators, which alternate in one process.

mod programs;

use crate::contest::{self, Column, Options};
use crate::peer::{Manycore, Rayon};
use crate::runtime::Runtime;
use crate::stats::geometric_mean;
use anyhow::{Result, ensure};
use clap::Args;
use programs::{Input, manycores, rayons};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Parallel iterators of manycore and rayon: microseconds for each program (31 rounds, quick 3)
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Numbers of threads in each pool, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "N,...", default_value = "2",
          value_parser = contest::threads())]
    threads: Vec<usize>,
}

const COLUMNS: [Column; 3] = [
    ("p10_us", |it| it.all.p10.into()),
    ("p50_us", |it| it.all.median.into()),
    ("p90_us", |it| it.all.p90.into()),
];

/// Sleeps for `gap` and calls `run`. Returns the microseconds of the call, and its result.
fn timed(gap: Duration, run: impl FnOnce() -> u64) -> (f64, u64) {
    std::thread::sleep(gap);
    let begin = Instant::now();
    let result = run();
    (begin.elapsed().as_nanos() as f64 / 1e3, result)
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let rounds = arguments.options.rounds(31, 3);
    let mut contest = arguments
        .options
        .begin("iterators", rounds, "microseconds")?;
    let input = Input::new();
    for &threads in &arguments.threads {
        let (ours, theirs) = (Manycore::new(threads)?, Rayon::new(threads)?);
        let mut ratios = Vec::new();
        for ((program, our), (_, their)) in manycores::ALL.into_iter().zip(rayons::ALL) {
            // A server has gaps between bursts.
            let gap = Duration::from_millis(u64::from(program.starts_with("a burst")));
            let mut expected = None;
            let names = ["manycore", "rayon"];
            let title = format!("{program}, {threads} threads");
            let case = [("program", program.into()), ("threads", threads.into())];
            let figures =
                contest.compare(&title, &case, &names, "rayon", &COLUMNS, |peer, _| {
                    let (time, result) = match peer {
                        0 => timed(gap, || ours.install(|| our(&input))),
                        _ => timed(gap, || theirs.install(|| their(&input))),
                    };
                    let same = *expected.get_or_insert(result) == result;
                    ensure!(same, "{program}: the results differ");
                    Ok(vec![time])
                })?;
            ratios.push(figures[0].ratio.median);
        }
        let mean = geometric_mean(&ratios);
        contest
            .output
            .say(&format!("\ngeometric mean of the ratios: {mean:.3}"));
    }
    contest.end()
}
