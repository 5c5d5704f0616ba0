//! How much longer than the ideal each discipline of work stealing takes for 16 tasks on each core. Between
//! the parts of a task, the core answers requests. Settings change the machine. With a discipline, the
//! example also prints where its cycles went.
//!
//! `cargo run --release -p manycore-chip --example stealing [CYCLES-A-TASK] [PARTS] [CORES] [PRESET] [DISCIPLINE]
//! [KEY=VALUE...]`

#[allow(dead_code, reason = "the tests look at more of it")]
#[path = "../tests/machine/support/stealing.rs"]
mod stealing;

use manycore_chip::config::Config;
use manycore_programs::stealing::disciplines;
use std::error::Error;
use stealing::{Benchmark, Distribution};

fn main() -> Result<(), Box<dyn Error>> {
    let (settings, arguments): (Vec<_>, Vec<_>) =
        (std::env::args().skip(1)).partition(|argument| argument.contains('='));
    let mut arguments = arguments.into_iter();
    let mut number = |what: &str, default: u64| match arguments.next() {
        None => Ok(default),
        Some(text) => (text.parse().ok().filter(|number| *number > 0))
            .ok_or_else(|| format!("{what}: expected a number from 1, not `{text}`")),
    };
    let cycles = number("CYCLES-A-TASK", 120_000)?;
    let parts = number("PARTS", 1)?;
    let cores = number("CORES", 64)? as usize;
    let mut machine = Config::named(&arguments.next().unwrap_or_else(|| "atac-64".into()))?;
    machine.set_all(&settings)?;
    if cores > machine.cores as usize {
        return Err(format!("CORES: {} has {}", machine.name, machine.cores).into());
    }
    let only = arguments.next();
    println!(
        "simulated (preset {}): {cores} cores, {} tasks of {cycles} cycles in {parts} parts; time over ideal\n",
        machine.name,
        16 * cores
    );
    println!(
        "distribution discipline      done    over   least  most  steals attempts    sent received"
    );
    for distribution in Distribution::ALL {
        for name in disciplines() {
            if only.as_ref().is_some_and(|only| only != name) {
                continue;
            }
            let benchmark = Benchmark {
                cores,
                tasks: 16 * cores,
                cycles,
                parts,
                distribution,
                seed: 1,
            };
            let run = benchmark.run(&machine, name)?;
            let outcome = &run.value;
            let ratio = |time: u64| time as f64 / benchmark.ideal();
            println!(
                "{:12} {name:12} {:7.3} {:7.3} {:6} {:6} {:7} {:8} {:7} {:8}",
                distribution.name(),
                ratio(outcome.done),
                ratio(outcome.over),
                outcome.shares.iter().min().unwrap_or(&0),
                outcome.shares.iter().max().unwrap_or(&0),
                outcome.counts.steals,
                outcome.counts.attempts,
                outcome.counts.sent,
                outcome.counts.received,
            );
            if only.is_some() {
                println!("{}", run.statistics.report);
            }
        }
    }
    Ok(())
}
