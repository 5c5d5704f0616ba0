//! Programs over parallel iterators: manycore's beside rayon's, in one process, in turn.

mod programs;

use crate::contest::{self, Figures, Options, take_turns};
use crate::peer::{Manycore, Rayon};
use crate::runtime::Runtime;
use crate::stats::geometric_mean;
use anyhow::{Result, ensure};
use clap::Args;
use programs::{Input, manycores, rayons};
use serde::Serialize;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Parallel iterators: microseconds a program over manycore's and rayon's (31 rounds, quick 3)
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Threads of the pools, with commas
    #[arg(long, value_delimiter = ',', value_name = "N,...", default_value = "2",
          value_parser = contest::threads())]
    threads: Vec<usize>,
}

#[derive(Serialize)]
struct Row<'a> {
    program: &'a str,
    threads: usize,
    peer: &'a str,
    p10_us: f64,
    p50_us: f64,
    p90_us: f64,
}

/// The time that `run` takes in microseconds, and what it returns; after a gap of `gap`.
fn timed(gap: Duration, run: impl FnOnce() -> u64) -> (f64, u64) {
    std::thread::sleep(gap);
    let begin = Instant::now();
    let result = run();
    (begin.elapsed().as_nanos() as f64 / 1e3, result)
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut output = arguments.options.output("iterators")?;
    let rounds = arguments.options.rounds(31, 3);
    output.begin(&format!("{rounds} rounds; microseconds"));
    let (input, mut random) = (Input::new(), fastrand::Rng::with_seed(1));
    for &threads in &arguments.threads {
        let (ours, theirs) = (Manycore::new(threads)?, Rayon::new(threads)?);
        output.say(&format!("\n{threads} threads"));
        let mut ratios = Vec::new();
        for ((program, our), (_, their)) in manycores::ALL.into_iter().zip(rayons::ALL) {
            // A server's bursts come after a gap.
            let gap = Duration::from_millis(u64::from(program.starts_with("a burst")));
            let mut expected = None;
            let names = ["manycore", "rayon"];
            let seen = take_turns(&names, &names, rounds, &mut random, |peer, _| {
                let (time, result) = match peer {
                    0 => timed(gap, || ours.install(|| our(&input))),
                    _ => timed(gap, || theirs.install(|| their(&input))),
                };
                let same = *expected.get_or_insert(result) == result;
                ensure!(same, "{program}: the results differ");
                Ok(vec![time])
            })?;
            let figures = Figures::of(seen, "rayon");
            for it in &figures {
                output.row(&Row {
                    program,
                    threads,
                    peer: it.name,
                    p10_us: it.all.p10,
                    p50_us: it.all.median,
                    p90_us: it.all.p90,
                })?;
            }
            ratios.push(figures[0].ratio.median);
            Figures::show(&figures, program, "rayon", &output);
        }
        let mean = geometric_mean(&ratios);
        output.say(&format!("\ngeometric mean of the ratios: {mean:.3}"));
    }
    output.end()
}
