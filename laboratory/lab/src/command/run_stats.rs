//! The statistics of a compiled program's run (`--stats`), as text and as tidy rows. They contain the statistics that a
//! study's simulations have, and also threads, regions and energy.

use crate::failure::bad_input;
use crate::report::csv;
use anyhow::Context;
use manycore_chip::config::Config;
use manycore_chip::{Activity, Breakdown, CoreCounters, CounterRow};
use manycore_riscv::{Class, Mix, Outcome, Region, Timing};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::path::Path;

/// The sum of all regions with one number.
struct Sum {
    name: String,
    count: u64,
    cycles: u64,
    least: u64,
    most: u64,
    first: u64,
    spent: Breakdown,
    counted: Option<CoreCounters>,
    cores: Vec<CoreCounters>,
}

/// The name of a region of interest.
pub(super) fn name(region: &Region) -> String {
    match region.work {
        None => "statistics".into(),
        Some(0) => "region".into(),
        Some(work) => format!("region {work}"),
    }
}

/// The sums of all regions, by number.
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
            cores: Vec::new(),
        });
        sum.count += 1;
        sum.cycles += cycles;
        sum.least = sum.least.min(cycles);
        sum.most = sum.most.max(cycles);
        for (activity, cycles) in region.spent.iter() {
            sum.spent[activity] += cycles;
        }
        sum.cores
            .resize(region.cores.len(), CoreCounters::default());
        for (core, more) in sum.cores.iter_mut().zip(&region.cores) {
            *core = CoreCounters::sum([*core, *more].into_iter());
        }
        let both = sum.counted.into_iter().chain(region.counted);
        sum.counted = both.reduce(|a, b| CoreCounters::sum([a, b].into_iter()));
    }
    sums.into_values().collect()
}

/// A line for each region, or for all regions of one number.
pub(super) fn regions(timing: &Timing) -> String {
    let mut text = String::new();
    for sum in sums(&timing.regions) {
        let (name, cycles, count) = (&sum.name, sum.cycles, sum.count);
        // Writing to a string does not fail.
        let _ = match count {
            1 => writeln!(text, "{name:<12} {cycles} cycles, from {}", sum.first),
            _ => writeln!(
                text,
                "{name:<12} {count} times, {cycles} cycles in all; mean {:.1}, least {}, most {}",
                cycles as f64 / count as f64,
                sum.least,
                sum.most,
            ),
        };
    }
    text
}

/// Instructions by kind, processes, cycles by cause, counters of the machine's parts, and the most contended lines.
pub(super) fn text(outcome: &Outcome, machine: &Config) -> String {
    let mut text = executed(outcome);
    let Some(timing) = &outcome.timing else {
        return text;
    };
    text.push('\n');
    let statistics = &timing.run.statistics;
    if let Some(counters) = &statistics.counters {
        let total = counters.total();
        let _ = write!(text, "{counters}");
        let busy = total.cycles.sum() - total.cycles[Activity::Idle];
        let ipc = total.instructions as f64 / busy.max(1) as f64;
        let _ = writeln!(
            text,
            "{:<12} {ipc:>15.3} in cycles with a running thread",
            "IPC"
        );
        let parts = counters.energy(machine);
        if !parts.is_empty() {
            text.push_str("\nenergy, by the table [energy] in the machine's TOML\n");
        }
        let all: f64 = parts.iter().map(|part| part.picojoules).sum();
        for part in &parts {
            let (events, energy) = (part.events, part.picojoules / 1e6);
            let share = 100.0 * part.picojoules / all.max(f64::MIN_POSITIVE);
            let _ = writeln!(
                text,
                "{:<12} {events:>15} events {energy:>12.3} uJ {share:>5.1}%",
                part.part
            );
        }
        if !parts.is_empty() {
            let _ = writeln!(text, "{:<12} {:>35.3} uJ", "all", all / 1e6);
        }
    }
    for sum in sums(&timing.regions) {
        text.push_str(&stack(&format!("of these, {}", sum.name), &sum.spent));
        if let Some(counted) = &sum.counted {
            let _ = writeln!(
                text,
                "{:>16} {:>14}; {:.2} L1 misses and {:.2} L2 misses per 1,000",
                "instructions",
                counted.instructions,
                counted.mpki(counted.l1),
                counted.mpki(counted.l2),
            );
        }
        text.push_str(&by_core(&sum.cores));
    }
    let fought: Vec<_> = timing
        .hot
        .iter()
        .filter(|hot| hot.line.transfers > 0)
        .collect();
    if !fought.is_empty() {
        text.push_str("\ncontended cache lines: changes of owner, invalidations, place\n");
    }
    for hot in fought {
        let (transfers, dropped) = (hot.line.transfers, hot.line.invalidations);
        let _ = writeln!(text, "{transfers:>10} {dropped:>10}  {}", hot.place);
    }
    text
}

/// The cores that worked in a region.
fn by_core(cores: &[CoreCounters]) -> String {
    let worked = |core: &CoreCounters| core.cycles[Activity::Idle] < core.cycles.sum();
    let mut text = String::new();
    for (number, core) in cores.iter().enumerate().filter(|(_, core)| worked(core)) {
        if text.is_empty() {
            text.push_str("            core   instructions    busy     IPC  L1 MPKI  L2 MPKI\n");
        }
        let all = core.cycles.sum().max(1) as f64;
        let busy = core.cycles.sum() - core.cycles[Activity::Idle];
        let _ = writeln!(
            text,
            "{number:>16} {:>14} {:>6.1}% {:>7.3} {:>8.2} {:>8.2}",
            core.instructions,
            100.0 * busy as f64 / all,
            core.instructions as f64 / busy.max(1) as f64,
            core.mpki(core.l1),
            core.mpki(core.l2),
        );
    }
    text
}

/// Instructions by kind, and the processes if there were several.
fn executed(outcome: &Outcome) -> String {
    let mut text = String::new();
    if let Some(mix) = outcome.mix() {
        text.push_str("\ninstructions by kind\n");
        let all = mix.sum().max(1) as f64;
        for (class, count) in mix.iter().filter(|(_, count)| *count > 0) {
            let share = 100.0 * count as f64 / all;
            let _ = writeln!(text, "{:>16} {count:>14} {share:>6.1}%", class.label());
        }
    }
    if outcome.processes.len() > 1 {
        text.push_str("\nprocess  parent threads   instructions   loads  stores     began ms     ended ms  program\n");
        for process in &outcome.processes {
            let share = |class| {
                let mix = process.mix.unwrap_or_default();
                100.0 * mix[class] as f64 / mix.sum().max(1) as f64
            };
            let ended = process.ended.map(|at| format!("{:.3}", at as f64 / 1e6));
            let _ = writeln!(
                text,
                "{:>7} {:>7} {:>7} {:>14} {:>6.1}% {:>6.1}% {:>12.3} {:>12}  {}",
                process.number,
                process.parent,
                process.threads,
                process.instructions,
                share(Class::Load),
                share(Class::Store),
                process.began as f64 / 1e6,
                ended.as_deref().unwrap_or("with the run"),
                process.program,
            );
        }
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

/// Collects rows.
struct Rows(Vec<CounterRow>);

impl Rows {
    fn add(
        &mut self,
        part: &'static str,
        which: &str,
        quantity: &str,
        value: f64,
        unit: &'static str,
    ) {
        self.0.push(CounterRow {
            part,
            which: which.into(),
            quantity: quantity.into(),
            value,
            unit,
        });
    }

    /// The program, and its processes.
    fn program(&mut self, outcome: &Outcome) {
        let executed = outcome.instructions as f64;
        self.add("program", "all", "instructions", executed, "instructions");
        self.add("program", "all", "status", outcome.status.into(), "status");
        for (class, count) in outcome.mix().iter().flat_map(Mix::iter) {
            let quantity = format!("instructions-{}", class.label());
            self.add("program", "all", &quantity, count as f64, "instructions");
        }
        for process in &outcome.processes {
            let which = process.number.to_string();
            let mut of =
                |quantity: &str, value, unit| self.add("process", &which, quantity, value, unit);
            of("parent", process.parent.into(), "number");
            of("threads", process.threads.into(), "threads");
            of("instructions", process.instructions as f64, "instructions");
            of("began", process.began as f64, "ns");
            if let Some(ended) = process.ended {
                of("ended", ended as f64, "ns");
            }
            if let Some(status) = process.status {
                of("status", status.into(), "status");
            }
            for (class, count) in process.mix.iter().flat_map(Mix::iter) {
                let quantity = format!("instructions-{}", class.label());
                of(&quantity, count as f64, "instructions");
            }
        }
    }

    fn region(&mut self, sum: &Sum) {
        let mut of =
            |quantity: &str, value, unit| self.add("region", &sum.name, quantity, value, unit);
        of("count", sum.count as f64, "times");
        of("cycles", sum.cycles as f64, "cycles");
        of("mean", sum.cycles as f64 / sum.count as f64, "cycles");
        of("least", sum.least as f64, "cycles");
        of("most", sum.most as f64, "cycles");
        for (activity, cycles) in sum.spent.iter() {
            of(&format!("cycles-{activity}"), cycles as f64, "cycles");
        }
        if let Some(counted) = &sum.counted {
            self.counted("region", &sum.name, counted);
        }
        for (number, core) in sum.cores.iter().enumerate() {
            let idle = core.cycles[Activity::Idle];
            if idle == core.cycles.sum() {
                continue;
            }
            let which = format!("{}, core {number}", sum.name);
            let busy = core.cycles.sum() - idle;
            self.add("region-core", &which, "busy", busy as f64, "cycles");
            self.counted("region-core", &which, core);
        }
    }

    fn counted(&mut self, part: &'static str, which: &str, counted: &CoreCounters) {
        let mut of =
            |quantity: &str, value: u64, unit| self.add(part, which, quantity, value as f64, unit);
        of("instructions", counted.instructions, "instructions");
        for (name, cache) in [("l1", counted.l1), ("l2", counted.l2)] {
            of(&format!("{name}-hits"), cache.hits, "accesses");
            of(&format!("{name}-misses"), cache.misses, "accesses");
        }
    }

    fn timing(&mut self, timing: &Timing, machine: &Config) {
        for (number, instructions) in &timing.threads {
            let instructions = *instructions as f64;
            self.add(
                "thread",
                &number.to_string(),
                "instructions",
                instructions,
                "instructions",
            );
        }
        for sum in sums(&timing.regions) {
            self.region(&sum);
        }
        let statistics = &timing.run.statistics;
        let Some(counters) = &statistics.counters else {
            return;
        };
        for energy in counters.energy(machine) {
            let events = energy.events as f64;
            self.add("energy", energy.part, "events", events, "events");
            self.add("energy", energy.part, "energy", energy.picojoules, "pJ");
        }
        let mut lines = statistics.report.lines.clone();
        for (line, hot) in lines.iter_mut().zip(&timing.hot) {
            line.names = vec![hot.place.clone()];
        }
        self.0.extend(counters.rows(&lines));
    }
}

/// The forms of a file of statistics, by its ending.
const ENDINGS: [&str; 3] = ["csv", "json", "txt"];

/// Checks that a file can be written, and that its ending is one of [`ENDINGS`].
pub(super) fn check(file: &Path) -> anyhow::Result<()> {
    let ending = file.extension().and_then(|ending| ending.to_str());
    let is_known = ending.is_some_and(|ending| ENDINGS.contains(&ending));
    let name = file.display();
    if is_known {
        // Opens the file without a change to its contents.
        let opened = File::options().append(true).create(true).open(file);
        return match opened {
            Ok(_) => Ok(()),
            Err(error) => Err(bad_input(format!("--stats={name}: {error}"))),
        };
    }
    let file = name;
    Err(bad_input(format!(
        "--stats={file}: expected a file whose name ends in .csv, .json or .txt"
    )))
}

/// Writes the statistics of a run to a file. A text file begins with `summary`.
pub(super) fn write(
    file: &Path,
    outcome: &Outcome,
    machine: &Config,
    summary: &str,
) -> anyhow::Result<()> {
    let mut rows = Rows(Vec::new());
    rows.program(outcome);
    if let Some(timing) = &outcome.timing {
        rows.timing(timing, machine);
    }
    let Rows(rows) = rows;
    let text = match file.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => csv::text(&rows)?,
        Some("json") => {
            let mut all = match &outcome.timing {
                Some(timing) => serde_json::to_value(&timing.run.statistics)?,
                None => serde_json::json!({}),
            };
            all["rows"] = serde_json::to_value(&rows)?;
            serde_json::to_string_pretty(&all)? + "\n"
        }
        _ => format!("{summary}{}", self::text(outcome, machine)),
    };
    std::fs::write(file, text).with_context(|| format!("--stats={}", file.display()))
}
