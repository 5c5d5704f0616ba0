//! The tables.

use super::benchmark::Benchmark;
use super::case::PackingCase;
use super::closed_form::{fair, ideal, pinned};
use super::load::{Kind, Load};
use super::memory::DISK_BYTES_A_NS;
use super::mode::Mode;
use super::results::{PackingResults, prelude_ns, program_ns};
use crate::report::table::{Cell, Table};
use crate::study::trial::Runs;

pub(super) fn all(results: PackingResults<'_>) -> Vec<Table> {
    let config = results.config;
    let mut tables = Vec::new();
    for &threads in &config.threads {
        tables.push(intervals(results, threads));
        if config.kinds.contains(&Kind::Declared) && config.cores.contains(&threads) {
            tables.push(parts(results, threads));
        }
        for &kind in &config.kinds {
            let modes = config.modes.iter().filter(|&&mode| mode != Mode::Tr);
            tables.extend(modes.map(|&mode| ratios(results, kind, threads, mode)));
        }
        if !config.variations().is_empty() {
            tables.push(variations(results, threads));
        }
        tables.push(sweep(results, threads));
    }
    tables.extend(unsteady(results));
    tables
}

/// The margins of the runs that ended without being steady.
fn unsteady(results: PackingResults<'_>) -> Option<Table> {
    let all = results.measured.iter();
    let row = |runs: &Runs<PackingCase>| {
        let outcome = &runs.outcomes[0];
        let margin = outcome.margin.filter(|_| outcome.is_unsteady())?;
        let percent = format!("{:.1}", 100.0 * margin);
        Some(vec![Cell::new(runs.trial.to_string()), Cell::new(percent)])
    };
    let rows: Vec<_> = all.filter_map(row).collect();
    (!rows.is_empty()).then(|| Table {
        caption: "Runs that are not steady, with the 95% margin of the mean time of a step".into(),
        header: ["run", "percent"].map(String::from).to_vec(),
        rows,
    })
}

fn cell(value: Option<f64>) -> Cell {
    Cell::or_dash(value.map(|value| format!("{value:.3}")))
}

/// A [`cell`], with a tilde if the run ended without being steady.
fn marked(value: Option<f64>, unsteady: bool) -> Cell {
    let cell = cell(value);
    match unsteady {
        true => Cell::new(format!("~{}", cell.text)),
        false => cell,
    }
}

/// Whether the steps are only a part of the programs of a kind.
fn has_steps(kind: Kind) -> bool {
    kind == Kind::Declared
}

/// The time of each part of declared programs, such as I/O, as in figure 2 of Park's poster.
fn parts(results: PackingResults<'_>, threads: usize) -> Table {
    let config = results.config;
    let row = |load: Load| {
        let case = config.case(load, threads, threads, Mode::Tr);
        let runs = results.of(&case)?;
        let preparation = load.benchmark()?.declaration().preparation();
        let (whole, prelude) = (program_ns(runs), prelude_ns(runs));
        let file = preparation.file_bytes / DISK_BYTES_A_NS;
        let seconds = |ns: f64| Cell::new(format!("{:.2}", ns / 1e9));
        let percent = |part: f64| Cell::new(format!("{:.1}", 100.0 * part / whole));
        Some(vec![
            Cell::new(load.name()),
            seconds(file),
            seconds(prelude - file),
            seconds(whole - prelude),
            percent(file),
            percent(prelude - file),
        ])
    };
    let header = [
        "benchmark",
        "reads its\nfile, s",
        "other work\nbefore steps, s",
        "its steps, s",
        "file, %",
        "before\nsteps, %",
    ];
    Table {
        caption: format!("Declared programs, {threads} threads on as many cores"),
        header: header.map(String::from).into(),
        rows: config
            .programs(Kind::Declared)
            .into_iter()
            .filter_map(row)
            .collect(),
    }
}

/// The poster's table I, with the study's times.
fn intervals(results: PackingResults<'_>, threads: usize) -> Table {
    let config = results.config;
    let ms = |ns: f64| format!("{:.2}", ns / 1e6);
    let mut header = ["benchmark", "grain in\nthe poster", "poster"]
        .map(String::from)
        .to_vec();
    header.extend(config.kinds.iter().map(|kind| kind.meaning().to_owned()));
    let row = |&benchmark: &Benchmark| {
        let mut row = vec![
            benchmark.to_string(),
            benchmark.grain().into(),
            ms(benchmark.interval_ns()),
        ];
        for (at, &kind) in config.kinds.iter().enumerate() {
            let load = config.programs(kind).into_iter();
            let ours = load
                .filter(|load| load.benchmark() == Some(benchmark))
                .find_map(|load| results.interval_ns(load, threads, threads, Mode::Tr));
            row.insert(3 + at, ours.map_or("-".into(), ms));
        }
        row.into_iter().map(Cell::new).collect()
    };
    Table {
        caption: format!("Time between two barriers, {threads} threads on as many cores, ms"),
        header,
        rows: config.benchmarks.iter().map(row).collect(),
    }
}

fn ratios(results: PackingResults<'_>, kind: Kind, threads: usize, mode: Mode) -> Table {
    let config = results.config;
    let programs = config.programs(kind);
    let mut header = vec!["cores".to_owned()];
    header.extend(programs.iter().map(|load| load.name()));
    header.push("geometric\nmean".into());
    if has_steps(kind) {
        header.push("mean of steps\nalone".into());
    }
    header.extend(["fair\nsharing", "pinned"].map(String::from));
    let row = |cores: usize| {
        let mut row = vec![Cell::new(cores.to_string())];
        let ratio = |&load| {
            let case = config.case(load, threads, cores, mode);
            marked(
                results.ratio(load, threads, cores, mode),
                results.is_unsteady(&case),
            )
        };
        row.extend(programs.iter().map(ratio));
        row.push(cell(results.mean_ratio(kind, threads, cores, mode)));
        if has_steps(kind) {
            row.push(cell(
                results.mean_ratio_of_steps(kind, threads, cores, mode),
            ));
        }
        let best = ideal(threads, cores, 1.0);
        row.push(cell(Some(best / fair(threads, cores))));
        row.push(cell(Some(best / pinned(threads, cores))));
        row
    };
    let cores = config.cores_of(kind, threads).into_iter();
    Table {
        caption: format!(
            "{threads} threads, {}: time of thread reduction divided by the time of {mode}",
            kind.meaning()
        ),
        header,
        rows: cores.map(row).collect(),
    }
}

/// Thread packing under other settings of the operating system.
fn variations(results: PackingResults<'_>, threads: usize) -> Table {
    let config = results.config;
    let kind = config.kinds[0];
    let (programs, cores) = (config.programs(kind), config.swept_cores(threads));
    let mut header = vec!["operating system".to_owned()];
    header.extend(programs.iter().map(|load| load.name()));
    header.push("geometric\nmean".into());
    let mut as_it_is = vec![Cell::new("unchanged")];
    let ratio = |&load| cell(results.ratio(load, threads, cores, Mode::Tp));
    as_it_is.extend(programs.iter().map(ratio));
    as_it_is.push(cell(results.mean_ratio(kind, threads, cores, Mode::Tp)));
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
            "{threads} threads on {cores} cores: time of thread reduction divided by the time of tp"
        ),
        header,
        rows,
    }
}

fn sweep(results: PackingResults<'_>, threads: usize) -> Table {
    let config = results.config;
    let cores = config.swept_cores(threads);
    let mut header = vec!["interval".to_owned(), "ranks".to_owned()];
    header.extend(config.modes.iter().map(|mode| mode.to_string()));
    header.extend(["ideal", "fair\nsharing", "pinned"].map(String::from));
    let row = |load: Load| {
        let mut row = vec![Cell::new(load.class()), Cell::new(load.name())];
        let stretch = |&mode| {
            let case = config.case(load, threads, cores, mode);
            marked(
                results.stretch(load, threads, cores, mode),
                results.is_unsteady(&case),
            )
        };
        row.extend(config.modes.iter().map(stretch));
        row.push(cell(Some(ideal(threads, cores, load.longest()))));
        let closed = [fair(threads, cores), pinned(threads, cores)];
        row.extend(closed.map(|time| cell((load.longest() == 1.0).then_some(time))));
        row
    };
    Table {
        caption: format!(
            "{threads} ranks on {cores} cores: time of an interval divided by the mean \
             computation of a rank"
        ),
        header,
        rows: config.swept().into_iter().map(row).collect(),
    }
}
