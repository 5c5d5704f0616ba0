//! The report as text.

use super::published::{Compared, Errors};
use super::{Operation, SimulatedReport};
use crate::machine::text::prices;
use crate::report::table::{Cell, Table};
use crate::report::words::signed;
use std::fmt;

impl fmt::Display for SimulatedReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [what, machine] = self.heading();
        writeln!(f, "{what}\n{machine}")?;
        writeln!(
            f,
            "--format json prints every value of the machine, with its source\n"
        )?;
        for table in self.tables() {
            writeln!(f, "{}", table.to_text())?;
        }
        self.remarks()
            .iter()
            .try_for_each(|remark| writeln!(f, "{remark}"))
    }
}

impl SimulatedReport {
    /// The preset, and the machine that it stands for.
    pub(crate) fn heading(&self) -> [String; 2] {
        let (preset, hash) = (&self.preset, &self.hash);
        let (title, cores, groups, ghz) = (&self.title, self.cores, self.groups, self.ghz);
        [
            format!("simulated (preset {preset}, hash {hash})"),
            format!("{title}; {cores} cores, groups: {groups}, {ghz} GHz"),
        ]
    }

    /// The tables of all measurements, with the published numbers.
    pub(crate) fn tables(&self) -> Vec<Table> {
        let measured = [
            Some(self.latencies()),
            Some(self.contended()),
            Some(self.handovers()),
            (!self.bandwidths.is_empty()).then(|| self.bandwidths()),
            (!self.programs.is_empty()).then(|| self.programs()),
            Some(self.system()),
            self.prices.as_ref().map(prices),
        ];
        measured.into_iter().flatten().collect()
    }

    /// Notes, and the errors of the simulated numbers relative to published ones.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let notes = self.notes.iter().map(|note| format!("Note: {note}."));
        let errors = [
            (
                "the numbers to which no value was fitted",
                self.unseen_errors,
            ),
            (
                "load, store, CAS, FAA on M, E, S, I lines",
                self.latency_errors,
            ),
            ("contended increments", self.contended_errors),
        ];
        let errors = errors
            .into_iter()
            .filter_map(|(what, errors)| Some(summary(what, errors?)));
        notes.chain(errors).collect()
    }

    fn latencies(&self) -> Table {
        let local = self.local.iter();
        let local = local.map(|cost| row(["load", cost.level, "local"], &cost.cycles));
        let shared = self.latencies.iter().map(|cost| {
            let kind = [cost.operation.name(), cost.state.name(), &cost.distance];
            row(kind, &cost.cycles)
        });
        let caption = "Cycles of one access, by state of the line and distance";
        beside(
            caption,
            ["operation", "state", "distance"],
            local.chain(shared),
        )
    }

    fn contended(&self) -> Table {
        let rows = self.contended.iter().map(|cost| {
            let operation = match cost.operation {
                Operation::Cas => "compare-and-swap loop",
                _ => "fetch-and-add",
            };
            row([operation, &cost.threads.to_string()], &cost.ns)
        });
        let caption = "Threads that increment one counter: ns per increment of a thread";
        beside(caption, ["operation", "threads"], rows)
    }

    fn handovers(&self) -> Table {
        let rows = self.handovers.iter().map(|cost| {
            let [a, b] = cost.cores;
            row([&cost.distance, &format!("{a}+{b}")], &cost.ns)
        });
        let caption =
            "A word that two cores hand to each other by compare-and-swap: ns per handover";
        beside(caption, ["distance", "cores"], rows)
    }

    fn bandwidths(&self) -> Table {
        let rows = self.bandwidths.iter().map(|cost| {
            let what = [cost.kernel.name(), &cost.cores.to_string()];
            row(what, &cost.gb_per_s)
        });
        let caption =
            "Cores that walk through their own arrays, as in STREAM: GB/s of all cores together";
        beside(caption, ["kernel", "cores"], rows)
    }

    fn programs(&self) -> Table {
        let rows = self.programs.iter();
        let rows = rows.map(|cost| row([cost.program, &cost.place], &cost.ns));
        let caption = "Messages of one line, stores and locks: ns per operation, by distance or number of cores";
        beside(caption, ["program", "place"], rows)
    }

    fn system(&self) -> Table {
        let launches = self.launches.iter().map(|cost| {
            let what = "loop with 10 us of work for each thread, minus 10 us".to_owned();
            [what, cost.threads.to_string(), number(cost.ns)]
        });
        let wakes = self.wakes.iter().map(|cost| {
            let what = format!("wake-up (futex) after {} us", cost.asleep_us);
            [what, String::new(), number(cost.ns)]
        });
        let caption = "Loops on manycore's pool, one after the other, and wake-up";
        Table::of_texts(caption, ["what", "threads", "ns"], launches.chain(wakes))
    }
}

/// A table of rows by [`row`]: the measured numbers, and how they compare.
fn beside<const N: usize>(
    caption: &str,
    what: [&str; N],
    rows: impl Iterator<Item = Vec<Cell>>,
) -> Table {
    let compared = ["simulated", "published", "error", "fit"];
    Table::new(caption, what.into_iter().chain(compared), rows)
}

fn row<const N: usize>(what: [&str; N], cost: &Compared) -> Vec<Cell> {
    let none = || "-".to_owned();
    let numbers = [
        number(cost.simulated),
        cost.published.map_or_else(none, number),
        cost.error
            .map_or_else(none, |error| format!("{}%", signed(100.0 * error, 1))),
        cost.fitted.map_or_else(none, |fitted| {
            if fitted { "fitted" } else { "not seen" }.to_owned()
        }),
    ];
    let what = what.into_iter().map(Cell::new);
    what.chain(numbers.into_iter().map(Cell::new)).collect()
}

fn number(value: f64) -> String {
    match value {
        ..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn summary(what: &str, errors: Errors) -> String {
    let Errors {
        compared,
        median,
        worst,
    } = errors;
    let (median, worst) = (100.0 * median, 100.0 * worst);
    format!(
        "Error of {what}: median {median:.1}%, worst {worst:.1}% ({compared} published numbers)"
    )
}
