//! The report as text: the picture, then tables.

use super::atomics::CounterOperation;
use super::distance;
use super::launch::Before;
use super::summary::Summary;
use super::{MachinePrices, MachineReport};
use crate::report::grid::Grid;
use std::fmt;

impl fmt::Display for MachineReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}, {}, {} usable CPU{}; {} rounds; median (10%..90%)\n\n{}",
            self.world,
            self.machine,
            self.usable_cpus,
            if self.usable_cpus == 1 { "" } else { "s" },
            self.rounds,
            self.picture,
        )?;
        self.write_atomics(f)?;
        self.write_distances(f)?;
        self.write_launches(f)?;
        self.write_wake(f)?;
        prices(f, self.prices.as_ref())?;
        self.notes
            .iter()
            .try_for_each(|note| writeln!(f, "Note: {note}."))
    }
}

impl MachineReport {
    fn write_atomics(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Grid::new(&[
            "operation",
            "threads",
            "CPUs",
            "ns per success",
            "M/s in all",
        ]);
        for cost in &self.atomics {
            let operation = match cost.operation {
                CounterOperation::FetchAndAdd => "fetch-and-add",
                CounterOperation::CompareAndSwap => "compare-and-swap loop",
            };
            table.add_row([
                operation.to_owned(),
                cost.threads.to_string(),
                list(&cost.cpus),
                number(&cost.ns_per_op),
                number(&cost.mops),
            ]);
        }
        section(f, "Threads that increment one counter", &table)
    }

    fn write_distances(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.distances.is_empty() {
            return Ok(());
        }
        let columns = [
            "distance",
            "CPUs",
            "fetch-and-add ns",
            "CAS loop ns",
            "handover ns",
        ];
        let mut table = Grid::new(&columns);
        for cost in &self.distances {
            let pairs: Vec<String> = cost.pairs.iter().map(|[a, b]| format!("{a}+{b}")).collect();
            table.add_row([
                distance::describe(cost.distance).to_owned(),
                pairs.join(" "),
                number(&cost.faa_ns),
                number(&cost.cas_ns),
                number(&cost.handover_ns),
            ]);
        }
        section(
            f,
            "Two threads on one line, by distance; handover: one's write to the other's read",
            &table,
        )
    }

    fn write_launches(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.launches.is_empty() {
            return Ok(());
        }
        let columns = [
            "caller before",
            "threads",
            "empty loop",
            "10 us a thread, less 10 us",
        ];
        let mut table = Grid::new(&columns);
        for cost in &self.launches {
            let before = match cost.before {
                Before::Hot => "another loop",
                Before::Busy1Ms => "busy for 1 ms",
                Before::Sleep10Ms => "asleep for 10 ms",
            };
            table.add_row([
                before.to_owned(),
                cost.threads.to_string(),
                time(&cost.empty_ns),
                time(&cost.overhead_ns),
            ]);
        }
        section(
            f,
            "Starting and ending a loop on manycore's pool, default partitioner",
            &table,
        )
    }

    fn write_wake(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(cost) = &self.wake else {
            return Ok(());
        };
        let mut table = Grid::new(&[
            "asleep for",
            "waker, sleeper",
            "until it runs",
            "costs the waker",
        ]);
        table.add_row([
            format!("{} ms", cost.asleep_ms),
            list(&cost.cpus),
            time(&cost.latency_ns),
            time(&cost.waker_ns),
        ]);
        section(f, "Waking a thread (futex)", &table)
    }
}

/// The part of a report that the cost model uses.
pub(super) fn prices(f: &mut fmt::Formatter<'_>, prices: Option<&MachinePrices>) -> fmt::Result {
    let Some(prices) = prices else {
        return Ok(());
    };
    let mut table = Grid::new(&["price", "ns"]);
    for (name, ns) in prices.named() {
        let name = name.strip_suffix("_ns").unwrap_or(name);
        table.add_row([name.to_owned(), format!("{ns:.2}")]);
    }
    section(f, "Prices for the cost model of the block size", &table)
}

pub(super) fn section(f: &mut fmt::Formatter<'_>, title: &str, table: &Grid) -> fmt::Result {
    writeln!(f, "{title}\n{table}\n")
}

fn list(cpus: &[usize]) -> String {
    match cpus {
        [] => "any".into(),
        [first, .., last] if cpus.len() > 8 => format!("{first} .. {last}"),
        _ => {
            let numbers: Vec<String> = cpus.iter().map(usize::to_string).collect();
            numbers.join(" ")
        }
    }
}

fn number(summary: &Summary) -> String {
    spread(summary, |value| match value.abs() {
        0.0..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    })
}

/// Nanoseconds in the unit that leaves them readable.
fn time(summary: &Summary) -> String {
    if summary.median.abs().max(summary.p90.abs()) < 10_000.0 {
        spread(summary, |ns| format!("{ns:.0}")) + " ns"
    } else {
        spread(summary, |ns| format!("{:.1}", ns / 1e3)) + " us"
    }
}

fn spread(summary: &Summary, format: impl Fn(f64) -> String) -> String {
    let [median, p10, p90] = [summary.median, summary.p10, summary.p90].map(format);
    format!("{median} ({p10}..{p90})")
}
