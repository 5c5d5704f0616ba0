//! The report as text: the picture, then tables.

use super::atomics::CounterOperation;
use super::distance;
use super::launch::Before;
use super::summary::Summary;
use super::{MachinePrices, MachineReport};
use crate::report::table::Table;
use std::fmt;

impl fmt::Display for MachineReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n\n{}", self.heading(), self.picture)?;
        for table in self.tables() {
            writeln!(f, "{}", table.to_text())?;
        }
        self.notes
            .iter()
            .try_for_each(|note| writeln!(f, "Note: {note}."))
    }
}

impl MachineReport {
    /// Returns one line: the machine, and the kind of its numbers.
    pub(crate) fn heading(&self) -> String {
        format!(
            "{}, {}, {} usable CPU{}; {} rounds; median (10%..90%)",
            self.world,
            self.machine,
            self.usable_cpus,
            if self.usable_cpus == 1 { "" } else { "s" },
            self.rounds,
        )
    }

    /// Returns the tables of all measurements.
    pub(crate) fn tables(&self) -> Vec<Table> {
        let measured = [
            Some(self.atomics()),
            (!self.distances.is_empty()).then(|| self.distances()),
            (!self.launches.is_empty()).then(|| self.launches()),
            self.wake(),
            self.prices.as_ref().map(prices),
        ];
        measured.into_iter().flatten().collect()
    }

    fn atomics(&self) -> Table {
        let rows = self.atomics.iter().map(|cost| {
            let operation = match cost.operation {
                CounterOperation::FetchAndAdd => "fetch-and-add",
                CounterOperation::CompareAndSwap => "compare-and-swap loop",
            };
            [
                operation.to_owned(),
                cost.threads.to_string(),
                list(&cost.cpus),
                number(&cost.ns_per_op),
                number(&cost.mops),
            ]
        });
        let header = [
            "operation",
            "threads",
            "CPUs",
            "ns per success",
            "M/s in all",
        ];
        Table::of_texts("Threads that increment one counter", header, rows)
    }

    fn distances(&self) -> Table {
        let rows = self.distances.iter().map(|cost| {
            let pairs: Vec<String> = cost.pairs.iter().map(|[a, b]| format!("{a}+{b}")).collect();
            [
                distance::describe(cost.distance).to_owned(),
                pairs.join(" "),
                number(&cost.faa_ns),
                number(&cost.cas_ns),
                number(&cost.handover_ns),
            ]
        });
        let caption = "Two threads on one cache line, by distance; handover: from the write of \
             one thread to the read of the other";
        let header = [
            "distance",
            "CPUs",
            "fetch-and-add ns",
            "CAS loop ns",
            "handover ns",
        ];
        Table::of_texts(caption, header, rows)
    }

    fn launches(&self) -> Table {
        let rows = self.launches.iter().map(|cost| {
            let before = match cost.before {
                Before::Hot => "another loop",
                Before::Busy1Ms => "busy for 1 ms",
                Before::Sleep10Ms => "asleep for 10 ms",
            };
            [
                before.to_owned(),
                cost.threads.to_string(),
                time(&cost.empty_ns),
                time(&cost.overhead_ns),
            ]
        });
        let caption =
            "Time to start and end a loop on manycore's pool, with the default partitioner";
        let header = [
            "caller before",
            "threads",
            "empty loop",
            "10 us work, minus 10 us",
        ];
        Table::of_texts(caption, header, rows)
    }

    fn wake(&self) -> Option<Table> {
        let cost = self.wake.as_ref()?;
        let row = [
            format!("{} ms", cost.asleep_ms),
            list(&cost.cpus),
            time(&cost.latency_ns),
            time(&cost.waker_ns),
        ];
        let header = [
            "asleep for",
            "waker, sleeper",
            "until the sleeper runs",
            "time of the waker",
        ];
        Some(Table::of_texts("Waking a thread (futex)", header, [row]))
    }
}

/// The part of a report that the cost model uses.
pub(super) fn prices(prices: &MachinePrices) -> Table {
    let rows = prices.named().into_iter().map(|(name, ns)| {
        let name = name.strip_suffix("_ns").unwrap_or(name);
        [name.to_owned(), format!("{ns:.2}")]
    });
    let caption = "Prices for the cost model of the block size";
    Table::of_texts(caption, ["price", "ns"], rows)
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

/// Writes nanoseconds in the unit that is easiest to read.
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
