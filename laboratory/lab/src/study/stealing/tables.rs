//! The tables: the time of each discipline (stealing algorithm) divided by the ideal, and its counts.

use super::case::StealingSample;
use super::results::StealingResults;
use crate::report::table::Table;
use manycore_programs::stealing::Distribution;

/// A table for each number of cores and length of tasks.
pub(super) fn stretches(results: StealingResults<'_>) -> Vec<Table> {
    let tables = results.config.star().into_iter().map(|at| {
        let (cores, cycles) = at;
        let unit = results.config.setup.unit().name();
        let tasks = results.config.tasks * cores;
        let caption = format!(
            "{cores} cores, {tasks} tasks of {cycles} {unit}: time until all are done, divided by \
             the ideal time"
        );
        let stretch = |distribution, name: &str| {
            let stretch = results.stretch(at, distribution, name)?;
            Some(stretch.median)
        };
        table(results, caption, stretch, 3)
    });
    tables.collect()
}

/// The times if workers of the disciplines in the thesis (Park 2013) also answer requests within tasks.
pub(super) fn answering(results: StealingResults<'_>) -> Option<Table> {
    let config = results.config;
    let at = *config.star().first()?;
    let offering: Vec<&str> = config.offering().collect();
    if offering.is_empty() {
        return None;
    }
    let (cores, cycles) = at;
    let unit = config.setup.unit().name();
    let every = config.answering(config.distributions[0], offering[0]);
    let every = every.answers_every.unwrap_or(cycles);
    let caption = format!(
        "{cores} cores, tasks of {cycles} {unit}, requests answered every {every} {unit} within \
         tasks: time until all are done, divided by the ideal time"
    );
    let stretch = |distribution, name: &str| results.answering(distribution, name);
    Some(table(results, caption, stretch, 3))
}

/// Counts for the first number of cores and length of tasks.
pub(super) fn counts(results: StealingResults<'_>) -> Vec<Table> {
    let Some(at) = results.config.star().first().copied() else {
        return Vec::new();
    };
    let (cores, cycles) = at;
    let unit = results.config.setup.unit().name();
    type CountOf = fn(&StealingSample) -> f64;
    let kinds: [(&str, CountOf); 2] = [
        (
            "tasks taken from other workers (a task counts each time it is taken)",
            |run| run.steals as f64,
        ),
        ("messages sent", |run| run.sent as f64),
    ];
    let tables = kinds.map(|(what, of)| {
        let caption = format!("{cores} cores, tasks of {cycles} {unit}: {what}");
        let count = |distribution, name: &str| results.count(at, distribution, name, of);
        let mut table = table(results, caption, count, 0);
        // For counts, neither more nor fewer is better.
        let cells = table.rows.iter_mut().flatten();
        cells.for_each(|cell| cell.best = false);
        table
    });
    tables.into()
}

/// A row for each discipline, and a column for each distribution with its least value marked.
fn table(
    results: StealingResults<'_>,
    caption: String,
    value: impl Fn(Distribution, &str) -> Option<f64>,
    digits: usize,
) -> Table {
    let config = results.config;
    Table::of_least(
        caption,
        "discipline",
        &config.disciplines,
        &config.distributions,
        |&&distribution, name| value(distribution, name),
        |value| format!("{value:.digits$}"),
    )
}
