//! The tables.

use super::closed_form::{fair, ideal, pinned};
use super::mode::Mode;
use super::results::Results;
use crate::report::table::{Cell, Table};

/// All of them.
pub(super) fn all(results: Results<'_>) -> Vec<Table> {
    let config = results.config;
    let mut tables = Vec::new();
    for &threads in &config.threads {
        if !config.programs().is_empty() {
            let modes = config.modes.iter().filter(|&&mode| mode != Mode::Tr);
            tables.extend(modes.map(|&mode| ratios(results, threads, mode)));
        }
        tables.push(sweep(results, threads));
    }
    tables
}

/// The poster's figure 1 of a mode, in numbers.
fn ratios(results: Results<'_>, threads: usize, mode: Mode) -> Table {
    let config = results.config;
    let programs = config.programs();
    let mut header = vec!["cores".to_owned()];
    header.extend(programs.iter().map(|load| load.name()));
    header.extend(["geometric mean", "fair sharing", "slice too long"].map(String::from));
    let show =
        |ratio: Option<f64>| Cell::new(ratio.map_or("-".into(), |ratio| format!("{ratio:.3}")));
    let row = |&cores: &usize| {
        let mut row = vec![Cell::new(cores.to_string())];
        let ratio = |&load| show(results.ratio(load, threads, cores, mode));
        row.extend(programs.iter().map(ratio));
        row.push(show(results.mean_ratio(threads, cores, mode)));
        let best = ideal(threads, cores, 1.0);
        row.push(show(Some(best / fair(threads, cores))));
        row.push(show(Some(best / pinned(threads, cores))));
        row
    };
    let cores = config.cores.iter().filter(|&&cores| cores <= threads);
    Table {
        caption: format!("{threads} threads, {mode}: time of thread reduction over its time"),
        header,
        rows: cores.map(row).collect(),
    }
}

/// Time of an interval over what each rank computes in it.
fn sweep(results: Results<'_>, threads: usize) -> Table {
    let config = results.config;
    let cores = config.swept_cores(threads);
    let mut header = vec!["interval".to_owned(), "ranks".to_owned()];
    header.extend(config.modes.iter().map(|mode| mode.to_string()));
    header.extend(["ideal", "fair sharing", "pinned"].map(String::from));
    let row = |load: super::load::Load| {
        let mut row = vec![Cell::new(load.class()), Cell::new(load.name())];
        row.extend(config.modes.iter().map(|&mode| {
            let time = results.time(load, threads, cores, mode);
            Cell::new(time.map_or("-".into(), |time| format!("{:.3}", time / load.work_ns())))
        }));
        let equal = load.longest() == 1.0;
        row.push(Cell::new(format!(
            "{:.3}",
            ideal(threads, cores, load.longest())
        )));
        let closed = [fair(threads, cores), pinned(threads, cores)];
        row.extend(closed.map(|time| match equal {
            true => Cell::new(format!("{time:.3}")),
            false => Cell::new("-"),
        }));
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
