//! The records of simulations in addition to their results: `--stats` and `--timeline`.
//!
//! A command with such a flag calls [`ask`] once, before anything is simulated. From then on every simulation of this
//! process, in any study or measurement, leaves its counters here. The state is global instead of an argument of ten
//! studies, so that no simulation can omit its counters.

use crate::failure::bad_input;
use crate::report::csv;
use crate::report::words;
use crate::world::World;
use anyhow::Context;
use manycore_chip::{CounterRow, Run, Simulation, SimulationError, Trace};
use manycore_figure::{Axis, Content, Figure, Panel};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock};

/// The requested records, if any.
static ASKED: OnceLock<Instruments> = OnceLock::new();

/// The most segments of a simulation's timeline. They make a few megabytes of JSON.
const SEGMENTS: usize = 20_000;
/// The most simulations in one timeline.
const TRACES: usize = 16;
/// The most simulations in one figure.
const BARS: usize = 60;

struct Instruments {
    counts: bool,
    timeline: Option<PathBuf>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// The counters by simulation. The map sorts simulations, since they run side by side and end in any order.
    cells: BTreeMap<String, Cell>,
    /// The timelines of the simulations with the first names in alphabetical order. So the choice does not depend on
    /// the order in which simulations end.
    traces: BTreeMap<String, Trace>,
    /// The number of simulations that have ended.
    simulations: usize,
}

/// The counters of a simulation.
struct Cell {
    rows: Vec<CounterRow>,
    /// The cycle stack of all cores of the simulation.
    stack: Vec<(&'static str, u64)>,
}

/// A row of `NAME.stats.csv`.
#[derive(Serialize)]
struct StatRow<'a> {
    simulation: &'a str,
    part: &'a str,
    which: &'a str,
    quantity: &'a str,
    value: f64,
    unit: &'a str,
}

/// Requests the records of all later simulations in `world`, if `stats` or `timeline` is set. Returns whether one of
/// them is set.
pub(crate) fn ask(world: &World, stats: bool, timeline: Option<&Path>) -> anyhow::Result<bool> {
    let flag = match (stats, timeline) {
        (false, None) => return Ok(false),
        (true, _) => "--stats".to_owned(),
        (false, Some(path)) => format!("--timeline {}", path.display()),
    };
    if matches!(world, World::Native) {
        return Err(bad_input(format!(
            "{flag}: only the events of a simulated machine can be counted; expected --on with a \
             simulated machine"
        )));
    }
    if let Some(path) = timeline {
        // A file that cannot be written is refused before anything is simulated. An old file keeps its contents until
        // there are new ones.
        let file = File::options().append(true).create(true).open(path);
        file.map_err(|error| bad_input(format!("--timeline {}: {error}", path.display())))?;
    }
    let instruments = Instruments {
        counts: stats,
        timeline: timeline.map(Path::to_owned),
        kept: Mutex::default(),
    };
    // A process runs one command.
    let _ = ASKED.set(instruments);
    Ok(true)
}

/// Runs `program` in `simulation`, and keeps the requested records under `name`.
pub(crate) fn run<T>(
    simulation: Simulation,
    name: &impl Display,
    program: impl FnOnce() -> T,
) -> Result<Run<T>, SimulationError> {
    let Some(asked) = ASKED.get() else {
        return simulation.run(program);
    };
    let simulation = match asked.counts {
        true => simulation.counters(),
        false => simulation,
    };
    let mut run = match asked.timeline {
        Some(_) => simulation.timeline(SEGMENTS),
        None => simulation,
    }
    .run(program)?;
    let mut kept = lock(&asked.kept);
    kept.simulations += 1;
    if let Some(counters) = run.statistics.counters.take() {
        let mut rows = counters.rows(&run.statistics.report.lines);
        rows.retain(|row| row.value != 0.0);
        let stack = counters.total().stack();
        kept.cells.insert(name.to_string(), Cell { rows, stack });
    }
    if asked.timeline.is_some() {
        kept.traces.insert(name.to_string(), run.trace.clone());
        if kept.traces.len() > TRACES {
            kept.traces.pop_last();
        }
    }
    Ok(run)
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    // A thread that panics leaves only complete entries.
    kept.lock().unwrap_or_else(|error| error.into_inner())
}

/// Returns all counters, as CSV and as a figure, or `None` if they were not requested. `place` names the simulated
/// machine.
pub(crate) fn counted(place: &str) -> anyhow::Result<Option<(String, Figure)>> {
    let Some(asked) = ASKED.get().filter(|asked| asked.counts) else {
        return Ok(None);
    };
    let kept = lock(&asked.kept);
    let mut rows = Vec::new();
    for (simulation, cell) in &kept.cells {
        rows.extend(cell.rows.iter().map(|row| StatRow {
            simulation,
            part: row.part,
            which: &row.which,
            quantity: &row.quantity,
            value: row.value,
            unit: row.unit,
        }));
    }
    Ok(Some((csv::text(&rows)?, figure(&kept.cells, place))))
}

/// The parts of a bar, each with its categories of the cycle stack. There are fewer colours than categories.
const PARTS: [(&str, &[&str]); 9] = [
    ("compute", &["compute"]),
    ("own caches", &["l1", "l2"]),
    ("other caches", &["group", "remote"]),
    ("memory", &["memory"]),
    ("atomic", &["atomic"]),
    ("serialised", &["serialised"]),
    ("spin, message", &["spin", "message"]),
    ("kernel", &["futex", "switch"]),
    ("idle", &["idle"]),
];

/// Draws the cycle stacks, one above the other.
fn figure(cells: &BTreeMap<String, Cell>, place: &str) -> Figure {
    let cycles = |cell: &Cell, names: &[&str]| -> u64 {
        let of_part = cell.stack.iter().filter(|(what, _)| names.contains(what));
        of_part.map(|(_, cycles)| cycles).sum()
    };
    let occurs = |names: &[&str]| cells.values().any(|cell| cycles(cell, names) > 0);
    let parts: Vec<_> = PARTS.iter().filter(|(_, names)| occurs(names)).collect();
    let rows = cells.iter().take(BARS).map(|(name, cell)| {
        let all: u64 = cell.stack.iter().map(|(_, cycles)| cycles).sum();
        let share = |names| 100.0 * cycles(cell, names) as f64 / all.max(1) as f64;
        let shares = parts.iter().map(|(_, names)| share(names)).collect();
        (name.clone(), shares)
    });
    let panel = Panel {
        title: String::new(),
        content: Content::Bars {
            x: Axis::linear("share of the cores' time", "%"),
            rows: rows.collect(),
            parts: parts.iter().map(|(part, _)| (*part).to_owned()).collect(),
        },
    };
    // How often each part is the largest.
    let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
    for cell in cells.values() {
        let largest = parts.iter().max_by_key(|(_, names)| cycles(cell, names));
        if let Some((what, _)) = largest {
            *wins.entry(what).or_default() += 1;
        }
    }
    let message = match wins.iter().max_by_key(|(_, count)| **count) {
        None => "Nothing was simulated".to_owned(),
        Some((what, count)) => format!(
            "The largest part of the cores' time is `{what}` in {} of {} simulations",
            words::count(*count as u64),
            words::count(cells.len() as u64)
        ),
    };
    let left_out = match cells.len().saturating_sub(BARS) {
        0 => String::new(),
        more => format!("; {more} more simulations are in the CSV file"),
    };
    Figure {
        part: "stats".into(),
        message,
        note: format!(
            "Cycle stack of all cores, with a bar for each simulation ({place}){left_out}"
        ),
        panels: vec![panel],
    }
}

/// Writes the timeline, if it was requested. Returns a message for the user.
pub(crate) fn write_timeline() -> anyhow::Result<Option<String>> {
    let Some((asked, path)) = ASKED
        .get()
        .and_then(|asked| Some((asked, asked.timeline.as_ref()?)))
    else {
        return Ok(None);
    };
    let kept = lock(&asked.kept);
    let traces: Vec<(&str, &Trace)> = kept
        .traces
        .iter()
        .map(|(name, one)| (&**name, one))
        .collect();
    let written = File::create(path).and_then(|file| Trace::write_all(file, &traces));
    written.with_context(|| format!("cannot write {}", path.display()))?;
    let missing: u64 = traces.iter().map(|(_, trace)| trace.missing()).sum();
    let mut told = format!(
        "wrote {}; open it at https://ui.perfetto.dev",
        path.display()
    );
    if kept.simulations > traces.len() {
        told += &format!(
            "\nthe timeline has {} of {} simulations, the first ones in the order of their names",
            traces.len(),
            kept.simulations
        );
    }
    if missing > 0 {
        told += &format!(
            "\nthe timeline is not complete: of each simulation it has at most {SEGMENTS} \
             segments, and at most {SEGMENTS} sleeps and regions. {missing} are missing; \
             `otherData` in the file has the time from which on"
        );
    }
    Ok(Some(told))
}
