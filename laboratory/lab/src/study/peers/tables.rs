//! The tables: ratios of manycore's time to the peers' times, cells where a peer is ahead, cells where more threads are
//! slower, failed runs, and all times.

use super::cells::{Cells, Gap};
use super::config::PeersConfig;
use super::peer::{OURS, SERIAL};
use super::scaling;
use super::summary;
use super::tail;
use super::verdict;
use crate::report::table::{Cell, Table};

/// All tables that have rows.
pub(super) fn all(config: &PeersConfig, cells: &Cells<'_>) -> Vec<Table> {
    let mut tables = vec![
        verdict::table(config, cells),
        means(config, cells),
        first(config, cells),
        ahead(config, cells),
        slower(config, cells),
        tail::table(config, cells),
        failed(config, cells),
    ];
    for machine in 0..config.threads.len() {
        let programs = config.programs.iter();
        tables.extend(programs.map(|program| times(config, cells, machine, program)));
    }
    tables.retain(|table| !table.rows.is_empty());
    tables
}

fn means(config: &PeersConfig, cells: &Cells<'_>) -> Table {
    let row = |(place, gap): ((usize, usize), Gap)| {
        let means = summary::means(config, cells, &[place], gap);
        let ratio = |mean: Option<f64>| Cell::or_dash(mean.map(|mean| format!("{mean:.2}")));
        vec![
            Cell::new(config.machine(place.0)),
            Cell::new(place.1.to_string()),
            Cell::new(gap.name()),
            ratio(means.over_rayon),
            ratio(means.over_best),
            Cell::new(means.cells.to_string()),
        ]
    };
    let places = config.places();
    Table::new(
        "Time of manycore divided by the time of rayon, and by the time of the fastest peer of \
         each program: geometric means",
        [
            "machine",
            "threads",
            "gap",
            "divided by rayon",
            "divided by the best",
            "programs",
        ],
        places.flat_map(|place| Gap::ALL.map(|gap| row((place, gap)))),
    )
}

/// The ratio of the first ten calls' sum to ten times the steady time.
fn first(config: &PeersConfig, cells: &Cells<'_>) -> Table {
    let row = |(machine, threads): (usize, usize)| {
        let ratio = |program: &String| {
            let place = (machine, threads, &**program);
            let ratio = cells.first_over_steady(place, OURS)?;
            Some(format!("{ratio:.1}"))
        };
        let head = [config.machine(machine), threads.to_string()].map(Cell::new);
        let ratios = config
            .programs
            .iter()
            .map(|program| Cell::or_dash(ratio(program)));
        head.into_iter().chain(ratios).collect()
    };
    let head = ["machine", "threads"].map(str::to_owned);
    Table::new(
        "Time of manycore's first ten calls divided by the time of ten calls in its steady state",
        head.into_iter().chain(config.programs.iter().cloned()),
        config.places().map(row),
    )
}

fn ahead(config: &PeersConfig, cells: &Cells<'_>) -> Table {
    let found = summary::ahead(config, cells);
    let cell = |ahead: &summary::Ahead<'_>| {
        vec![
            Cell::new(config.machine(ahead.machine)),
            Cell::new(ahead.threads.to_string()),
            Cell::new(ahead.program),
            Cell::new(ahead.gap.name()),
            Cell::new(ahead.peer),
            Cell::new(ahead.ratio.to_string()),
        ]
    };
    Table::new(
        "Cells in which a peer may be as fast as manycore: time of manycore divided by the time \
         of the peer",
        ["machine", "threads", "program", "gap", "peer", "ratio"],
        found.iter().map(cell),
    )
}

fn slower(config: &PeersConfig, cells: &Cells<'_>) -> Table {
    let steps = scaling::steps(config, cells, OURS);
    let row = |slower: &scaling::Step<'_>| {
        vec![
            Cell::new(config.machine(slower.machine)),
            Cell::new(slower.program),
            Cell::new(slower.threads.to_string()),
            Cell::new(microseconds(slower.time)),
            Cell::new(slower.fewer.to_string()),
            Cell::new(microseconds(slower.best)),
            Cell::new(slower.ratio.to_string()),
        ]
    };
    Table::new(
        format!(
            "Cells in which manycore takes more than {} times its best time with fewer threads: us",
            scaling::ALLOWED
        ),
        [
            "machine", "program", "threads", "time", "fewer", "time", "ratio",
        ],
        steps.iter().filter(|step| step.is_slower()).map(row),
    )
}

fn failed(config: &PeersConfig, cells: &Cells<'_>) -> Table {
    let mut rows: Vec<[String; 5]> = Vec::new();
    for (machine, threads) in config.places() {
        for program in &config.programs {
            let is_first = threads == config.threads[machine][0];
            // The serial program has one run, with one thread.
            let peers = config
                .peers
                .iter()
                .filter(|peer| is_first || *peer != SERIAL);
            for peer in peers {
                let Some(reason) = cells.reason((machine, threads, program), peer) else {
                    continue;
                };
                let threads = if peer == SERIAL { 1 } else { threads };
                let row = [&config.machine(machine), peer, program, reason];
                let same = rows.iter_mut().find(|known| {
                    [&known[0], &known[1], &known[2], &known[4]].map(String::as_str)
                        == row.map(|text| text)
                });
                match same {
                    Some(known) => known[3] += &format!(", {threads}"),
                    None => rows.push([
                        row[0].to_owned(),
                        row[1].to_owned(),
                        row[2].to_owned(),
                        threads.to_string(),
                        reason.to_owned(),
                    ]),
                }
            }
        }
    }
    Table::new(
        "Runs without a result",
        ["machine", "peer", "program", "threads", "reason"],
        rows.into_iter().map(|row| row.map(Cell::new).into()),
    )
}

fn times(config: &PeersConfig, cells: &Cells<'_>, machine: usize, program: &str) -> Table {
    let gaps = config.threads[machine].iter();
    let columns = gaps.flat_map(|&threads| Gap::ALL.map(|gap| Column { threads, gap }));
    let peers: Vec<String> = config
        .peers
        .iter()
        .filter(|peer| *peer != SERIAL)
        .cloned()
        .collect();
    let serial = cells.time((machine, 1, program), SERIAL, Gap::Hot);
    let serial = serial.map_or(String::new(), |time| {
        format!(
            "; one thread without a runtime takes {}",
            microseconds(time)
        )
    });
    Table::of_least(
        format!(
            "{program} on {}: time of a call, us{serial}",
            config.machine(machine)
        ),
        "runtime",
        &peers,
        columns,
        |column, peer| cells.time((machine, column.threads, program), peer, column.gap),
        microseconds,
    )
}

/// A column: a number of threads, and the pause before calls.
struct Column {
    threads: usize,
    gap: Gap,
}

impl std::fmt::Display for Column {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.gap {
            Gap::Hot => write!(f, "{} threads", self.threads),
            Gap::Millisecond => write!(f, "after {}", self.gap.name()),
        }
    }
}

/// Formats a time with three digits.
pub(super) fn microseconds(time: f64) -> String {
    match time {
        _ if time < 10.0 => format!("{time:.2}"),
        _ if time < 100.0 => format!("{time:.1}"),
        _ => format!("{time:.0}"),
    }
}
