//! The tables.

use super::closed_form::{fair, ideal, pinned};
use super::load::Load;
use super::mode::Mode;
use super::results::Results;
use crate::report::table::{Cell, Table};

/// All of them.
pub(super) fn all(results: Results<'_>) -> Vec<Table> {
    let config = results.config;
    let mut tables = Vec::new();
    for &threads in &config.threads {
        if !config.programs().is_empty() {
            tables.push(intervals(results, threads));
            let modes = config.modes.iter().filter(|&&mode| mode != Mode::Tr);
            tables.extend(modes.map(|&mode| ratios(results, threads, mode)));
        }
        if !config.programs().is_empty() && !config.variations().is_empty() {
            tables.push(variations(results, threads));
        }
        tables.push(sweep(results, threads));
    }
    tables
}

fn cell(value: Option<f64>) -> Cell {
    Cell::new(value.map_or("-".into(), |value| format!("{value:.3}")))
}

/// The poster's table I beside ours.
fn intervals(results: Results<'_>, threads: usize) -> Table {
    let row = |load: Load| {
        let benchmark = load.benchmark()?;
        let ours = results.interval_ns(load, threads, threads, Mode::Tr);
        let ms = |ns: f64| format!("{:.2}", ns / 1e6);
        Some(
            [
                benchmark.to_string(),
                benchmark.dataset().into(),
                ms(benchmark.interval_ns()),
                ours.map_or("-".into(), ms),
                benchmark.grain().into(),
            ]
            .map(Cell::new)
            .into(),
        )
    };
    Table {
        caption: format!("Time between two barriers, {threads} threads on as many cores, ms"),
        header: [
            "benchmark",
            "dataset",
            "poster, table I",
            "here",
            "the poster's word",
        ]
        .map(String::from)
        .into(),
        rows: results
            .config
            .programs()
            .into_iter()
            .filter_map(row)
            .collect(),
    }
}

/// The poster's figure 1 of a mode, in numbers.
fn ratios(results: Results<'_>, threads: usize, mode: Mode) -> Table {
    let config = results.config;
    let programs = config.programs();
    let mut header = vec!["cores".to_owned()];
    header.extend(programs.iter().map(|load| load.name()));
    header.extend(["geometric\nmean", "fair\nsharing", "pinned"].map(String::from));
    let row = |&cores: &usize| {
        let mut row = vec![Cell::new(cores.to_string())];
        let ratio = |&load| cell(results.ratio(load, threads, cores, mode));
        row.extend(programs.iter().map(ratio));
        row.push(cell(results.mean_ratio(threads, cores, mode)));
        let best = ideal(threads, cores, 1.0);
        row.push(cell(Some(best / fair(threads, cores))));
        row.push(cell(Some(best / pinned(threads, cores))));
        row
    };
    let cores = config.cores.iter().filter(|&&cores| cores <= threads);
    Table {
        caption: format!("{threads} threads, {mode}: time of thread reduction over its time"),
        header,
        rows: cores.map(row).collect(),
    }
}

/// Thread packing under other settings of the operating system.
fn variations(results: Results<'_>, threads: usize) -> Table {
    let config = results.config;
    let (programs, cores) = (config.programs(), config.swept_cores(threads));
    let mut header = vec!["operating system".to_owned()];
    header.extend(programs.iter().map(|load| load.name()));
    header.push("geometric\nmean".into());
    let mut as_it_is = vec![Cell::new("as the machine has it")];
    let ratio = |&load| cell(results.ratio(load, threads, cores, Mode::Tp));
    as_it_is.extend(programs.iter().map(ratio));
    as_it_is.push(cell(results.mean_ratio(threads, cores, Mode::Tp)));
    let row = |variation: super::variation::Variation| {
        let mut row = vec![Cell::new(&*variation.name)];
        let ratio = |load| cell(results.varied_ratio(&[load], threads, &variation));
        row.extend(programs.iter().copied().map(ratio));
        row.push(cell(results.varied_ratio(&programs, threads, &variation)));
        row
    };
    let mut rows = vec![as_it_is];
    rows.extend(config.variations().into_iter().map(row));
    Table {
        caption: format!(
            "{threads} threads on {cores} cores, tp: time of thread reduction over its time"
        ),
        header,
        rows,
    }
}

/// Time of an interval over what each rank computes in it.
fn sweep(results: Results<'_>, threads: usize) -> Table {
    let config = results.config;
    let cores = config.swept_cores(threads);
    let mut header = vec!["interval".to_owned(), "ranks".to_owned()];
    header.extend(config.modes.iter().map(|mode| mode.to_string()));
    header.extend(["ideal", "fair\nsharing", "pinned"].map(String::from));
    let row = |load: Load| {
        let mut row = vec![Cell::new(load.class()), Cell::new(load.name())];
        let stretch = |&mode| cell(results.stretch(load, threads, cores, mode));
        row.extend(config.modes.iter().map(stretch));
        row.push(cell(Some(ideal(threads, cores, load.longest()))));
        let closed = [fair(threads, cores), pinned(threads, cores)];
        row.extend(closed.map(|time| cell((load.longest() == 1.0).then_some(time))));
        row
    };
    Table {
        caption: format!(
            "{threads} ranks on {cores} cores: time of an interval, where a rank's mean is 1"
        ),
        header,
        rows: config.swept().into_iter().map(row).collect(),
    }
}
