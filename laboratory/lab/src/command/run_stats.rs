//! The statistics of a compiled program's run (`--stats`), as text and as tidy rows: the same as
//! for a study's simulations, and also threads, regions and energy.

use crate::failure::bad_input;
use crate::report::csv;
use anyhow::Context;
use manycore_chip::config::Config;
use manycore_chip::{Activity, Breakdown, CoreCounters, CounterRow, Energies};
use manycore_riscv::{Outcome, Region, Timing};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// The regions of one number, together.
struct Sum {
    name: String,
    count: u64,
    cycles: u64,
    least: u64,
    most: u64,
    first: u64,
    spent: Breakdown,
    counted: Option<CoreCounters>,
}

/// The name of a region of interest.
fn name(region: &Region) -> String {
    match region.work {
        None => "statistics".into(),
        Some(0) => "region".into(),
        Some(work) => format!("region {work}"),
    }
}

/// All regions by their number.
fn sums(regions: &[Region]) -> Vec<Sum> {
    let mut sums: BTreeMap<Option<u64>, Sum> = BTreeMap::new();
    for region in regions {
        let cycles = region.to - region.from;
        let sum = sums.entry(region.work).or_insert_with(|| Sum {
            name: name(region),
            count: 0,
            cycles: 0,
            least: u64::MAX,
            most: 0,
            first: region.from,
            spent: Breakdown::default(),
            counted: None,
        });
        sum.count += 1;
        sum.cycles += cycles;
        sum.least = sum.least.min(cycles);
        sum.most = sum.most.max(cycles);
        for (activity, cycles) in region.spent.iter() {
            sum.spent[activity] += cycles;
        }
        let both = sum.counted.into_iter().chain(region.counted);
        sum.counted = both.reduce(|a, b| CoreCounters::sum([a, b].into_iter()));
    }
    sums.into_values().collect()
}

/// A line for each region, or for all of one number.
pub(super) fn regions(timing: &Timing) -> String {
    let mut text = String::new();
    for sum in sums(&timing.regions) {
        let (name, cycles, count) = (&sum.name, sum.cycles, sum.count);
        // Text in memory takes whatever is written.
        let _ = match count {
            1 => writeln!(text, "{name:<12} {cycles} cycles, from {}", sum.first),
            _ => writeln!(
                text,
                "{name:<12} {count} times, {cycles} cycles; mean {:.1}, least {}, most {}",
                cycles as f64 / count as f64,
                sum.least,
                sum.most,
            ),
        };
    }
    text
}

/// Cycles by cause, counters of the parts, and the most contended lines.
pub(super) fn text(timing: &Timing, machine: &Config) -> String {
    let mut text = String::from("\n");
    let statistics = &timing.run.statistics;
    if let Some(counters) = &statistics.counters {
        let total = counters.total();
        let _ = write!(text, "{counters}");
        let busy = total.cycles.sum() - total.cycles[Activity::Idle];
        let ipc = total.instructions as f64 / busy.max(1) as f64;
        let _ = writeln!(
            text,
            "{:<12} {ipc:>15.3} of the cycles with a thread",
            "IPC"
        );
        text.push_str("\nenergy, by a table of 45 nm (the README says which)\n");
        let parts = counters.energy(&Energies::of(machine));
        let all: f64 = parts.iter().map(|part| part.picojoules).sum();
        for part in &parts {
            let (events, energy) = (part.events, part.picojoules / 1e6);
            let share = 100.0 * part.picojoules / all;
            let _ = writeln!(
                text,
                "{:<12} {events:>15} events {energy:>12.3} uJ {share:>5.1}%",
                part.part
            );
        }
        let _ = writeln!(text, "{:<12} {:>35.3} uJ", "all", all / 1e6);
    }
    for sum in sums(&timing.regions) {
        text.push_str(&stack(&format!("of these, {}", sum.name), &sum.spent));
        if let Some(counted) = &sum.counted {
            let _ = writeln!(
                text,
                "{:>16} {:>14}; {:.2} L1 misses and {:.2} L2 misses in 1,000",
                "instructions",
                counted.instructions,
                counted.mpki(counted.l1),
                counted.mpki(counted.l2),
            );
        }
    }
    let fought: Vec<_> = timing
        .hot
        .iter()
        .filter(|hot| hot.line.transfers > 0)
        .collect();
    if !fought.is_empty() {
        text.push_str("\nlines that were fought over: changes of owner, invalidations\n");
    }
    for hot in fought {
        let (transfers, dropped) = (hot.line.transfers, hot.line.invalidations);
        let _ = writeln!(text, "{transfers:>10} {dropped:>10}  {}", hot.place);
    }
    text
}

/// Cycles by activity.
fn stack(title: &str, spent: &Breakdown) -> String {
    let all = spent.sum().max(1) as f64;
    let mut text = format!("\n{title}\n");
    for (activity, cycles) in spent.iter().filter(|(_, cycles)| *cycles > 0) {
        let share = cycles as f64 / all * 100.0;
        let _ = writeln!(text, "{:>16} {cycles:>14} {share:>6.1}%", activity.label());
    }
    text
}

/// Everything that was counted, as tidy rows.
fn rows(outcome: &Outcome, timing: &Timing, machine: &Config) -> Vec<CounterRow> {
    let statistics = &timing.run.statistics;
    let mut rows = Vec::new();
    let mut add = |part, which: String, quantity: &str, value, unit| {
        rows.push(CounterRow {
            part,
            which,
            quantity: quantity.into(),
            value,
            unit,
        });
    };
    let executed = outcome.instructions as f64;
    add(
        "program",
        "all".into(),
        "instructions",
        executed,
        "instructions",
    );
    add(
        "program",
        "all".into(),
        "status",
        outcome.status.into(),
        "status",
    );
    for (number, instructions) in &timing.threads {
        let instructions = *instructions as f64;
        add(
            "thread",
            number.to_string(),
            "instructions",
            instructions,
            "instructions",
        );
    }
    for sum in sums(&timing.regions) {
        let mut of = |quantity: &str, value, unit| {
            add("region", sum.name.clone(), quantity, value, unit);
        };
        of("count", sum.count as f64, "times");
        of("cycles", sum.cycles as f64, "cycles");
        of("mean", sum.cycles as f64 / sum.count as f64, "cycles");
        of("least", sum.least as f64, "cycles");
        of("most", sum.most as f64, "cycles");
        for (activity, cycles) in sum.spent.iter() {
            of(&format!("cycles-{activity}"), cycles as f64, "cycles");
        }
        if let Some(counted) = &sum.counted {
            of("instructions", counted.instructions as f64, "instructions");
            for (name, cache) in [("l1", counted.l1), ("l2", counted.l2)] {
                of(&format!("{name}-hits"), cache.hits as f64, "accesses");
                of(&format!("{name}-misses"), cache.misses as f64, "accesses");
            }
        }
    }
    if let Some(counters) = &statistics.counters {
        for energy in counters.energy(&Energies::of(machine)) {
            add(
                "energy",
                energy.part.into(),
                "events",
                energy.events as f64,
                "events",
            );
            add(
                "energy",
                energy.part.into(),
                "energy",
                energy.picojoules,
                "pJ",
            );
        }
        let mut lines = statistics.report.lines.clone();
        for (line, hot) in lines.iter_mut().zip(&timing.hot) {
            line.names = vec![hot.place.clone()];
        }
        rows.extend(counters.rows(&lines));
    }
    rows
}

/// The forms of a file of statistics, by its ending.
const ENDINGS: [&str; 3] = ["csv", "json", "txt"];

/// Whether a file's ending says how statistics are written to it.
pub(super) fn check(file: &Path) -> anyhow::Result<()> {
    let ending = file.extension().and_then(|ending| ending.to_str());
    if ending.is_some_and(|ending| ENDINGS.contains(&ending)) {
        return Ok(());
    }
    let file = file.display();
    Err(bad_input(format!(
        "--stats={file}: expected a file whose name ends in .csv, .json or .txt"
    )))
}

/// Writes the statistics of a run to a file; `summary` is what else is printed.
pub(super) fn write(
    file: &Path,
    outcome: &Outcome,
    timing: &Timing,
    machine: &Config,
    summary: &str,
) -> anyhow::Result<()> {
    let rows = rows(outcome, timing, machine);
    let text = match file.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => csv::text(&rows)?,
        Some("json") => {
            let mut all = serde_json::to_value(&timing.run.statistics)?;
            all["rows"] = serde_json::to_value(&rows)?;
            serde_json::to_string_pretty(&all)? + "\n"
        }
        _ => format!("{summary}{}", self::text(timing, machine)),
    };
    std::fs::write(file, text).with_context(|| format!("--stats={}", file.display()))
}
