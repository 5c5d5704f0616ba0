//! Compares NAS parallel benchmarks in Rust with the same algorithms in C. The programs in Rust
//! are for any number of ranks, but run on one thread here.
//!
//! Times are processor time of the thread. Each run gets new data; making them does not count.

mod foreign;

use crate::contest::{Column, Options};
use anyhow::{Result, ensure};
use clap::Args;
use manycore_platform::Native;
use manycore_programs::spmd::{Alone, Class, Npb, Ranked, Sums};
use rustix::time::{ClockId, clock_gettime};
use std::process::ExitCode;

/// NAS parallel benchmarks on one thread: milliseconds in Rust and in C (5 rounds, quick 1)
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Classes, separated by commas [default: S, W, A; quick: S]
    #[arg(long, value_delimiter = ',', value_name = "CLASS,...")]
    classes: Vec<Class>,
    /// Programs, separated by commas [default: all that exist in C]
    #[arg(long, value_delimiter = ',', value_name = "PROGRAM,...")]
    programs: Vec<Npb>,
}

const COLUMNS: [Column; 6] = [
    ("median_ms", |it| it.all.median.into()),
    ("min_ms", |it| it.least.into()),
    ("ratio_to_c", |it| it.ratio.median.into()),
    ("ratio_p10", |it| it.ratio.p10.into()),
    ("ratio_p90", |it| it.ratio.p90.into()),
    ("rounds", |it| it.rounds.into()),
];

const LANGUAGES: [&str; 2] = ["rust", "c"];

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let classes = match arguments.classes.as_slice() {
        [] if arguments.options.quick => vec![Class::S],
        [] => vec![Class::S, Class::W, Class::A],
        classes => classes.to_vec(),
    };
    for class in &classes {
        ensure!(
            *class <= Class::A,
            "--classes: there is no class `{class}` in C"
        );
    }
    let mut programs = foreign::programs();
    if !arguments.programs.is_empty() {
        for asked in &arguments.programs {
            let there = programs.iter().any(|(npb, _)| npb == asked);
            ensure!(there, "--programs: there is no program `{asked}` in C");
        }
        programs.retain(|(npb, _)| arguments.programs.contains(npb));
    }
    let rounds = arguments.options.rounds(5, 1);
    let line = format!("C by {}; ms", env!("PEERS_NPB_COMPILER"));
    let mut contest = arguments.options.begin("npb", rounds, &line)?;
    for (npb, in_c) in programs {
        for &class in &classes {
            let time = |peer, _: usize| {
                let seconds = match peer {
                    0 => in_rust(npb, class)?,
                    _ => in_c.run(class)?,
                };
                Ok(vec![seconds * 1e3])
            };
            // One untimed run of each, to warm up.
            time(0, 0)?;
            time(1, 0)?;
            let title = format!("{npb} {class}");
            let case = [
                ("program", npb.to_string().into()),
                ("class", class.to_string().into()),
            ];
            contest.compare(&title, &case, &LANGUAGES, "c", &COLUMNS, time)?;
        }
    }
    contest.end()
}

/// Runs and verifies the program. Returns the seconds of the run.
fn in_rust(npb: Npb, class: Class) -> Result<f64> {
    let program = npb.program::<Native>(class);
    let (mut alone, sums) = (Alone, Sums::new(program.grains()));
    // SAFETY: a team of one rank, with its own sums.
    let mut sharing = unsafe { Ranked::<Native>::new(&mut alone, &sums) };
    let start = processor_seconds();
    // SAFETY: the only rank runs the program once, and verifies it afterwards.
    unsafe { program.run(&mut sharing) };
    let time = processor_seconds() - start;
    program.verify()?;
    Ok(time)
}

/// CPU time of this thread.
fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
