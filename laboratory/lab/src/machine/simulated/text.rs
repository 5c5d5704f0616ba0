//! The report as text.

use super::published::{Compared, Errors};
use super::{Operation, SimulatedReport};
use crate::machine::text::{prices, section};
use crate::report::grid::Grid;
use std::fmt;

impl fmt::Display for SimulatedReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (preset, hash) = (&self.preset, &self.hash);
        writeln!(f, "simulated (preset {preset}, hash {hash})")?;
        let (title, cores, groups, ghz) = (&self.title, self.cores, self.groups, self.ghz);
        writeln!(f, "{title}; {cores} cores, groups: {groups}, {ghz} GHz")?;
        writeln!(
            f,
            "Every value of the machine, and its source: --format json\n"
        )?;
        self.write_latencies(f)?;
        self.write_contended(f)?;
        self.write_handovers(f)?;
        self.write_bandwidths(f)?;
        self.write_system(f)?;
        prices(f, self.prices.as_ref())?;
        self.notes
            .iter()
            .try_for_each(|note| writeln!(f, "Note: {note}."))?;
        summary(f, "rows that no fit has seen", self.unseen_errors)?;
        summary(
            f,
            "load, store, CAS, FAA on M, E, S, I lines",
            self.latency_errors,
        )?;
        summary(f, "contended increments", self.contended_errors)
    }
}

impl SimulatedReport {
    fn write_latencies(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Grid::new(&[
            "operation",
            "state",
            "distance",
            "simulated",
            "published",
            "error",
            "fit",
        ]);
        for cost in &self.local {
            table.add_row(row(["load", cost.level, "local"], &cost.cycles));
        }
        for cost in &self.latencies {
            let kind = [cost.operation.name(), cost.state.name(), &cost.distance];
            table.add_row(row(kind, &cost.cycles));
        }
        section(
            f,
            "One access, by state of the line and distance: cycles",
            &table,
        )
    }

    fn write_contended(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Grid::new(&[
            "operation",
            "threads",
            "simulated",
            "published",
            "error",
            "fit",
        ]);
        for cost in &self.contended {
            let operation = match cost.operation {
                Operation::Cas => "compare-and-swap loop",
                _ => "fetch-and-add",
            };
            table.add_row(row([operation, &cost.threads.to_string()], &cost.ns));
        }
        section(
            f,
            "Threads that increment one counter: ns an increment for each of them",
            &table,
        )
    }

    fn write_handovers(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Grid::new(&[
            "distance",
            "cores",
            "simulated",
            "published",
            "error",
            "fit",
        ]);
        for cost in &self.handovers {
            let [a, b] = cost.cores;
            table.add_row(row([&cost.distance, &format!("{a}+{b}")], &cost.ns));
        }
        section(
            f,
            "A word handed from core to core by compare-and-swap: ns",
            &table,
        )
    }

    fn write_bandwidths(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.bandwidths.is_empty() {
            return Ok(());
        }
        let mut table = Grid::new(&["kernel", "cores", "simulated", "published", "error", "fit"]);
        for cost in &self.bandwidths {
            let what = [cost.kernel.name(), &cost.cores.to_string()];
            table.add_row(row(what, &cost.gb_per_s));
        }
        section(
            f,
            "Cores that walk through arrays of their own, as STREAM does: GB/s of all",
            &table,
        )
    }

    fn write_system(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Grid::new(&["what", "threads", "ns"]);
        for cost in &self.launches {
            let what = "loop of 10 us a thread, less 10 us";
            table.add_row([what.into(), cost.threads.to_string(), number(cost.ns)]);
        }
        for cost in &self.wakes {
            let what = format!("wake-up (futex) after {} us", cost.asleep_us);
            table.add_row([what, String::new(), number(cost.ns)]);
        }
        section(
            f,
            "Loops on manycore's pool, one after the other, and wake-up",
            &table,
        )
    }
}

fn row<const N: usize>(what: [&str; N], cost: &Compared) -> Vec<String> {
    let none = || "-".to_owned();
    let numbers = [
        number(cost.simulated),
        cost.published.map_or_else(none, number),
        cost.error
            .map_or_else(none, |error| format!("{:+.1}%", 100.0 * error)),
        cost.fitted.map_or_else(none, |fitted| {
            if fitted { "fitted" } else { "not seen" }.to_owned()
        }),
    ];
    what.into_iter().map(str::to_owned).chain(numbers).collect()
}

fn number(value: f64) -> String {
    match value {
        ..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn summary(f: &mut fmt::Formatter<'_>, what: &str, errors: Option<Errors>) -> fmt::Result {
    let Some(errors) = errors else {
        return Ok(());
    };
    let Errors {
        compared,
        median,
        worst,
    } = errors;
    let (median, worst) = (100.0 * median, 100.0 * worst);
    writeln!(
        f,
        "Error over {what}: median {median:.1}%, worst {worst:.1}% ({compared} published)"
    )
}
