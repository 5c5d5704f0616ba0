//! Programs of the NAS parallel benchmarks: ours, written once for any number of ranks and
//! here run by one thread, beside the same algorithms in plain C.
//!
//! The two take turns; the first turn changes each round. Times are processor time of the
//! thread, without what it takes to make the data, which is made anew for each run; ratios
//! are within a round.

mod foreign;

use anyhow::{Result, ensure};
use clap::Parser;
use foreign::Program;
use manycore_peers::program;
use manycore_peers::stats::{Summary, least};
use manycore_platform::Native;
use manycore_programs::spmd::{Alone, Class, Npb, Ranked, Sums};
use rustix::time::{ClockId, clock_gettime};
use std::num::NonZeroUsize;
use std::process::ExitCode;

/// Runs programs of the NAS parallel benchmarks, in Rust and in C, by one thread.
#[derive(Parser)]
struct Arguments {
    /// Rounds; each program is run once a round and class, in each language
    #[arg(long, default_value = "5")]
    rounds: NonZeroUsize,
    /// Classes, with commas: S, W, A
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "CLASS,...",
        default_value = "S,W,A"
    )]
    classes: Vec<Class>,
    /// Programs, with commas; by default all that there are in C
    #[arg(long, value_delimiter = ',', value_name = "PROGRAM,...")]
    programs: Vec<Npb>,
}

fn main() -> ExitCode {
    program::main(|arguments: Arguments| run(&arguments))
}

fn run(arguments: &Arguments) -> Result<()> {
    println!("C by {}", env!("PEERS_NPB_COMPILER"));
    program::unoptimised()
        .into_iter()
        .for_each(|line| println!("{line}"));
    for class in &arguments.classes {
        ensure!(*class <= Class::A, "--classes: there is no `{class}` in C");
    }
    let mut programs = foreign::programs();
    if !arguments.programs.is_empty() {
        for asked in &arguments.programs {
            let there = programs.iter().any(|(npb, _)| npb == asked);
            ensure!(there, "--programs: there is no `{asked}` in C");
        }
        programs.retain(|(npb, _)| arguments.programs.contains(npb));
    }
    println!(
        "{:9} {:>10} {:>10} {:>10} {:>10}  Rust to C (p10 to p90)",
        "seconds", "Rust", "least", "C", "least"
    );
    for (npb, in_c) in programs {
        for &class in &arguments.classes {
            compare(npb, &in_c, class, arguments.rounds.get())?;
        }
    }
    Ok(())
}

fn compare(npb: Npb, in_c: &Program, class: Class, rounds: usize) -> Result<()> {
    let (mut rust, mut c) = (Vec::new(), Vec::new());
    // The first round warms up.
    for round in 0..=rounds {
        let (own, other);
        if round % 2 == 0 {
            own = in_rust(npb, class)?;
            other = in_c.run(class)?;
        } else {
            other = in_c.run(class)?;
            own = in_rust(npb, class)?;
        }
        if round > 0 {
            rust.push(own);
            c.push(other);
        }
    }
    let ratios: Vec<f64> = rust
        .iter()
        .zip(&c)
        .map(|(own, other)| own / other)
        .collect();
    let ratio = Summary::of(&ratios);
    println!(
        "{:9} {:10.4} {:10.4} {:10.4} {:10.4}  {:.3} ({:.3} to {:.3})",
        format!("{npb} {class}"),
        Summary::of(&rust).median,
        least(rust.iter().copied()),
        Summary::of(&c).median,
        least(c.iter().copied()),
        ratio.median,
        ratio.p10,
        ratio.p90,
    );
    Ok(())
}

/// Seconds that a verified run takes.
fn in_rust(npb: Npb, class: Class) -> Result<f64> {
    let program = npb.program::<Native>(class);
    let (mut alone, sums) = (Alone, Sums::new(program.grains()));
    // SAFETY: a team of one, whose sums nobody else has.
    let mut sharing = unsafe { Ranked::<Native>::new(&mut alone, &sums) };
    let start = processor_seconds();
    // SAFETY: the only rank runs it once, and verifies it afterwards.
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
