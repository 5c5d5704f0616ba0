//! `manycore run`.

use super::{run_orders, run_stats};
use crate::cli::RunArgs;
use crate::failure::{Interrupted, bad_input};
use crate::measure::interrupt;
use crate::world::World;
use anyhow::Context;
use manycore_chip::Simulation;
use manycore_chip::config::Config;
use manycore_riscv::{Outcome, Program, RunError};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::io::BufWriter;
use std::process::ExitCode;

/// The most segments of a timeline. They make some hundred MB of JSON.
const SEGMENTS: usize = 2_000_000;

/// Runs the program. Messages about the run go to standard error, so that standard output has only the program's
/// output.
pub(crate) fn run(args: RunArgs) -> anyhow::Result<ExitCode> {
    let machine = match World::new(&args.on, &args.set, &[])? {
        (World::Simulated(machine), _) => machine,
        (World::Native, _) => {
            return Err(bad_input(
                "--on native: the program is for RISC-V; expected a simulated machine, or \
                 --functional",
            ));
        }
    };
    if let Some(root) = &args.root
        && !root.is_dir()
    {
        let root = root.display();
        return Err(bad_input(format!(
            "--root {root}: no such folder; expected the folder with the program's libraries"
        )));
    }
    if let Some(cpus) = args.cpus.filter(|&cpus| cpus > machine.cores) {
        let cores = machine.cores;
        return Err(bad_input(format!(
            "--cpus {cpus}: expected 1 to {cores}, the cores of the machine"
        )));
    }
    let wrong = args
        .env
        .iter()
        .find(|pair| pair.split_once('=').is_none_or(|(name, _)| name.is_empty()));
    if let Some(pair) = wrong {
        return Err(bad_input(format!("--env {pair}: expected NAME=VALUE")));
    }
    if let Some(Some(file)) = &args.stats {
        run_stats::check(file)?;
    }
    if let Some(path) = &args.timeline {
        let file = File::options().append(true).create(true).open(path);
        file.map_err(|error| bad_input(format!("--timeline {}: {error}", path.display())))?;
    }
    interrupt::watch();
    if let Some(orders) = args.orders {
        return run_orders::run(&args, &machine, orders);
    }
    match execute(&args, &machine) {
        Ok(outcome) => {
            tell(&outcome, &machine, &args)?;
            Ok(ExitCode::from(outcome.status as u8))
        }
        Err(error @ RunError::Program { .. }) => Err(bad_input(error.to_string())),
        Err(error) => {
            if let Some(outcome) = error.outcome() {
                tell(outcome, &machine, &args)?;
            }
            if interrupt::asked() {
                return Err(Interrupted(format!("interrupted: {error}")).into());
            }
            Err(error.into())
        }
    }
}

/// Prints the statistics of a run, and then the cause of its end.
fn tell(outcome: &Outcome, machine: &Config, args: &RunArgs) -> anyhow::Result<()> {
    let summary = summary(outcome, machine, args);
    let to_file = matches!(&args.stats, Some(Some(_)));
    if !args.quiet || args.stats.is_some() && !to_file {
        eprint!("{summary}");
    }
    match &args.stats {
        Some(Some(file)) => run_stats::write(file, outcome, machine, &summary)?,
        Some(None) => eprint!("{}", run_stats::text(outcome, machine)),
        None => {}
    }
    if let (Some(path), Some(timing)) = (&args.timeline, &outcome.timing) {
        let write = || {
            timing
                .run
                .write_timeline(BufWriter::new(File::create(path)?))
        };
        write().with_context(|| format!("--timeline {}", path.display()))?;
    }
    let program = &args.program[0];
    if !args.quiet && !outcome.absent.is_empty() {
        eprintln!("manycore: {program}: {}", line_of_absent(&outcome.absent));
    }
    if let Some(message) = &outcome.message {
        eprintln!("manycore: {program}: {message}");
    }
    Ok(())
}

/// Names the system calls that do not exist, in at most 200 letters. Adds their places if these fit, or if there is
/// only one call.
fn line_of_absent(absent: &BTreeMap<String, String>) -> String {
    const LETTERS: usize = 200;
    let line = |calls: Vec<String>| {
        let calls = calls.join(", ");
        format!("the program made system calls that do not exist here (ENOSYS): {calls}")
    };
    let whole = absent
        .iter()
        .map(|(name, place)| format!("{name} at {place}"));
    let mut text = line(whole.collect());
    if text.chars().count() > LETTERS && absent.len() > 1 {
        text = line(absent.keys().cloned().collect());
    }
    if text.chars().count() > LETTERS {
        text = text
            .chars()
            .take(LETTERS - 3)
            .chain("...".chars())
            .collect();
    }
    text
}

fn execute(args: &RunArgs, machine: &Config) -> Result<Outcome, RunError> {
    if args.functional {
        program(args)
            .limit(args.limit.unwrap_or(u64::MAX))
            .run_functionally(machine.cores)
    } else {
        let mut simulation = simulation(args, machine);
        if args.stats.is_some() {
            simulation = simulation.counters();
        }
        if args.timeline.is_some() {
            simulation = simulation.timeline(SEGMENTS);
        }
        program(args).run(simulation)
    }
}

/// Returns the program with its arguments and environment.
pub(super) fn program(args: &RunArgs) -> Program {
    let mut program = Program::new(&args.program[0])
        .seed(args.seed)
        .memory(args.memory << 20)
        .stop_when(interrupt::asked);
    for text in &args.program[1..] {
        program = program.argument(text);
    }
    for pair in &args.env {
        program = program.environment(pair);
    }
    if let Some(root) = &args.root {
        program = program.root(root);
    }
    if let Some(cpus) = args.cpus {
        program = program.cpus(cpus);
    }
    if args.stats.is_some() {
        program = program.counts();
    }
    if let Some(instructions) = args.fast_forward {
        program = program.fast_forward(instructions);
    }
    program
}

/// The machine with the user's limit.
pub(super) fn simulation(args: &RunArgs, machine: &Config) -> Simulation {
    let simulation = Simulation::new(machine);
    match args.limit {
        Some(cycles) => simulation.limit(cycles),
        None => simulation,
    }
}

fn summary(outcome: &Outcome, machine: &Config, args: &RunArgs) -> String {
    let mut text = format!("instructions {}\n", outcome.instructions);
    let Some(timing) = &outcome.timing else {
        if args.fast_forward.is_some() {
            text.push_str("nothing was timed: the program began no region of interest\n");
        }
        return text;
    };
    let statistics = &timing.run.statistics;
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "cycles       {} on {}, {} cores ({:.3} ms at {} GHz)",
        statistics.cycles,
        machine.name,
        machine.cores,
        statistics.cycles as f64 / machine.ghz / 1e6,
        machine.ghz,
    );
    if timing.forwarded > 0 {
        let _ = writeln!(text, "before it    {} instructions", timing.forwarded);
    }
    text.push_str(&run_stats::regions(timing));
    let _ = writeln!(text, "threads      {}", statistics.threads);
    let _ = writeln!(text, "hash         {:016x}", statistics.hash);
    text
}
