//! `manycore run --orders N`: runs a program under several orders of events (seeds of random delays: `study/order.rs`),
//! side by side on the host's cores.

mod summary;

use super::run::{program, simulation};
use crate::cli::RunArgs;
use crate::failure::{Interrupted, bad_input};
use crate::measure::student::Mean;
use crate::measure::{interrupt, side_by_side};
use crate::streams::{Captured, SharedInput};
use crate::study::order::{self, Orders};
use anyhow::{Context, anyhow};
use manycore_chip::config::Config;
use manycore_riscv::{Outcome, Region, RunError};
use serde::Serialize;
use std::io::{self, Write};
use std::process::ExitCode;

/// With `until:N`, no more orders run once the interval of the mean is narrower than this fraction of the mean.
const NARROW: f64 = 0.01;

/// With fewer runs `until:N` does not stop, and it stops only if the interval has been narrow twice in succession. The
/// first narrow interval of very few runs is often narrow by chance.
const FEWEST: usize = 6;

/// The run of one order: an entry of the JSON file, and a line of the CSV file, which lacks the cycles of the regions.
#[derive(Debug, Serialize)]
struct OrderRun {
    order: u64,
    /// The exit status of the program.
    status: i32,
    /// Whether output and status equal those of the first order.
    same_output: bool,
    instructions: u64,
    threads: u64,
    cycles: u64,
    hash: String,
    /// For each name, the cycles of all regions of interest with that name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    regions: Vec<(String, u64)>,
    #[serde(skip)]
    message: Option<String>,
    #[serde(skip)]
    streams: [Vec<u8>; 2],
}

/// Runs the program once in each order.
pub(super) fn run(args: &RunArgs, machine: &Config, orders: Orders) -> anyhow::Result<ExitCode> {
    let file = match &args.stats {
        None => None,
        Some(None) => {
            return Err(bad_input(
                "--stats: with --orders the statistics are a file with a row for each order; \
                expected --stats=FILE.csv, .json or .txt",
            ));
        }
        Some(Some(file)) => Some(file),
    };
    let machines = machines(machine, orders)?;
    let (mut runs, failed) = simulate(args, &machines, orders.until)?;
    let Some((first, others)) = runs.split_first_mut() else {
        return Err(failed.unwrap_or_else(|| anyhow!("no order")));
    };
    for other in &mut *others {
        other.same_output = (&other.streams, other.status) == (&first.streams, first.status);
    }
    // A closed pipe is not an error of the program.
    let _ = io::stdout()
        .write_all(&first.streams[0])
        .and_then(|()| io::stdout().flush());
    let _ = io::stderr().write_all(&first.streams[1]);
    let text = summary::text(&runs, machine);
    if !args.quiet {
        eprint!("{text}");
    }
    let name = &args.program[0];
    if let Some(difference) = summary::difference(&runs) {
        eprintln!("manycore: {name}: {difference}");
    }
    if let Some(message) = &runs[0].message {
        eprintln!("manycore: {name}: {message}");
    }
    if let Some(file) = file {
        summary::write(file, args, machine, &runs, &text)?;
    }
    match failed {
        Some(error) => Err(error),
        None => Ok(ExitCode::from(runs[0].status as u8)),
    }
}

/// Returns the machine under each order.
fn machines(machine: &Config, orders: Orders) -> anyhow::Result<Vec<(u64, Config)>> {
    let all = orders.first..=orders.last;
    all.map(|order| Ok((order, order::required(machine, order)?)))
        .collect()
}

/// Returns the runs in their order, and the error that ended them early. With `until`, makes as many runs as suffice.
/// The number of runs does not depend on the host.
fn simulate(
    args: &RunArgs,
    machines: &[(u64, Config)],
    until: bool,
) -> anyhow::Result<(Vec<OrderRun>, Option<anyhow::Error>)> {
    let host = side_by_side::host()?;
    let input = SharedInput::new(io::stdin());
    let mut runs = Vec::new();
    let at_once = if until {
        host.threads()
    } else {
        machines.len()
    };
    for some in machines.chunks(at_once.max(1)) {
        let found = side_by_side::side_by_side(host, some.len(), |at| {
            let (order, machine) = &some[at];
            one(args, machine, *order, &input)
        });
        let (done, failed) = keep(&mut runs, found, |done| until && cut_when_narrow(done));
        if done || failed.is_some() {
            return Ok((runs, failed));
        }
    }
    Ok((runs, None))
}

/// Adds the runs that have ended, and returns the first error. Returns `true` if the runs before that error suffice: a
/// host with fewer threads would not have begun the later runs.
fn keep<T>(
    runs: &mut Vec<T>,
    found: impl IntoIterator<Item = anyhow::Result<T>>,
    suffice: impl Fn(&mut Vec<T>) -> bool,
) -> (bool, Option<anyhow::Error>) {
    let mut found = found.into_iter();
    let mut failed = None;
    for one in found.by_ref() {
        match one {
            Ok(run) => runs.push(run),
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
    }
    if suffice(runs) {
        return (true, None);
    }
    runs.extend(found.filter_map(Result::ok));
    (false, failed)
}

/// Keeps as many of the first runs as suffice, and drops the others. Returns whether the runs suffice.
fn cut_when_narrow(runs: &mut Vec<OrderRun>) -> bool {
    let narrow = |count: usize| is_narrow(&runs[..count]);
    let enough = (FEWEST..=runs.len()).find(|&count| narrow(count) && narrow(count - 1));
    enough.inspect(|&count| runs.truncate(count)).is_some()
}

fn one(
    args: &RunArgs,
    machine: &Config,
    order: u64,
    input: &SharedInput,
) -> anyhow::Result<OrderRun> {
    let [output, error] = [(); 2].map(|()| Captured::default());
    let program = program(args)
        .input(input.clone())
        .streams(output.clone(), error.clone());
    let outcome = match program.run(simulation(args, machine)) {
        Ok(outcome) => outcome,
        Err(error @ RunError::Program { .. }) => return Err(bad_input(error.to_string())),
        Err(error) if interrupt::asked() => {
            return Err(Interrupted(format!("interrupted: order {order}: {error}")).into());
        }
        Err(error) => return Err(anyhow!("order {order}: {error}")),
    };
    let Outcome {
        status,
        message,
        instructions,
        timing,
        ..
    } = outcome;
    let timing = timing.context(
        "nothing was timed, so orders cannot differ: the program began no region of interest",
    )?;
    let statistics = &timing.run.statistics;
    Ok(OrderRun {
        order,
        status,
        same_output: true,
        instructions,
        threads: statistics.threads as u64,
        cycles: statistics.cycles,
        hash: format!("{:016x}", statistics.hash),
        regions: regions(&timing.regions),
        message,
        streams: [output.take(), error.take()],
    })
}

/// Returns the cycles of the regions of each name.
fn regions(all: &[Region]) -> Vec<(String, u64)> {
    let mut sums: Vec<(String, u64)> = Vec::new();
    for region in all {
        let (name, cycles) = (super::run_stats::name(region), region.to - region.from);
        match sums.iter_mut().find(|sum| sum.0 == name) {
            Some(sum) => sum.1 += cycles,
            None => sums.push((name, cycles)),
        }
    }
    sums
}

/// Whether the interval of the mean of the first region's cycles is narrow enough. Without a region, all cycles count.
fn is_narrow(runs: &[OrderRun]) -> bool {
    let timed = summary::timed(runs);
    let first = timed.get(1).or(timed.first());
    first
        .and_then(|(_, cycles)| Mean::of(cycles))
        .is_some_and(|mean| {
            let half = mean.half.unwrap_or(f64::INFINITY);
            2.0 * half <= NARROW * mean.mean
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runs_that_have_ended_are_kept_when_one_fails() {
        let mut runs = vec![1];
        let (done, failed) = keep(&mut runs, [Ok(2)], |_| false);
        assert!(!done && failed.is_none());
        let found = [Ok(3), Err(anyhow!("first")), Ok(5), Err(anyhow!("second"))];
        let error = keep(&mut runs, found, |_| false).1.unwrap();
        assert_eq!(
            (runs, error.to_string()),
            (vec![1, 2, 3, 5], "first".into())
        );
    }

    #[test]
    fn a_run_after_those_that_suffice_may_fail() {
        let mut runs = vec![1];
        let found = [Ok(2), Ok(3), Err(anyhow!("a later order")), Ok(5)];
        let (done, failed) = keep(&mut runs, found, |runs| runs.len() >= 3);
        assert!(done && failed.is_none());
        assert_eq!(runs, [1, 2, 3]);
    }

    fn run_of(cycles: u64) -> OrderRun {
        OrderRun {
            order: 1,
            status: 0,
            same_output: true,
            instructions: 1,
            threads: 1,
            cycles,
            hash: String::new(),
            regions: Vec::new(),
            message: None,
            streams: [Vec::new(), Vec::new()],
        }
    }

    /// If runs stop as soon as the interval is narrow, the interval contains the true mean nearly as often as the
    /// interval of a fixed number of runs.
    #[test]
    fn intervals_at_the_stop_contain_the_mean_in_93_percent() {
        const MEAN: f64 = 1e9;
        let mut random = fastrand::Rng::with_seed(7);
        let mut held = 0;
        for _ in 0..2_000 {
            let mut runs = Vec::new();
            while !cut_when_narrow(&mut runs) {
                let normal = (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
                runs.push(run_of((MEAN * (1.0 + 0.004 * normal)) as u64));
            }
            let cycles: Vec<f64> = runs.iter().map(|run| run.cycles as f64).collect();
            let [low, high] = Mean::of(&cycles).unwrap().interval().unwrap();
            held += usize::from((low..=high).contains(&MEAN));
        }
        assert!(held >= 1_860, "{held}");
    }
}
