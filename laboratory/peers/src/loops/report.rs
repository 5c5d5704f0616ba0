//! The tables of loops and joins.

use super::measure::{Column, Observed};
use crate::stats::{Best, Series, Summary, geometric_mean, least, quantile};
use crate::table::{figure, spread, table};
use comfy_table::Table;

/// A benchmark as text.
pub fn render(observed: &Observed) -> String {
    let title = format!("{}; threads: {}", observed.title, observed.threads);
    groups(observed).into_iter().fold(title, |text, group| {
        let table = match observed.against_fixed {
            true => against_fixed(observed, group),
            false => by_itself(observed, group),
        };
        format!("{text}\n{table}")
    })
}

/// The groups' names, in the order of the columns.
fn groups(observed: &Observed) -> Vec<&str> {
    let mut names: Vec<_> = observed
        .columns
        .iter()
        .map(|column| column.group.as_str())
        .collect();
    names.dedup();
    names
}

/// A group's figures. Times also have ratios to serial.
fn by_itself(observed: &Observed, group: &str) -> String {
    let columns: Vec<_> = observed
        .columns
        .iter()
        .filter(|c| c.group == group)
        .collect();
    let mut text = format!("{group}: median (least; p10 to p90 of all samples)\n");
    text += &values(observed, &columns).to_string();
    if columns.iter().any(|column| column.unit == "ns") {
        text += &format!("\n{group}: ratio to serial (p10 to p90 over the rounds)\n");
        text += &against_serial(observed, &columns).to_string();
    }
    text
}

fn header(columns: &[&Column]) -> Vec<String> {
    let names = columns.iter().map(|column| column.name.clone());
    std::iter::once("peer".to_owned()).chain(names).collect()
}

/// One row for each peer, one column for each case.
fn by_case(
    observed: &Observed,
    columns: &[&Column],
    cell: impl Fn(&Column, &Series) -> String,
) -> Table {
    let mut table = table(header(columns));
    for (v, variant) in observed.variants.iter().enumerate() {
        let cells = columns.iter().map(|column| match &column.series[v] {
            series if series.rounds.is_empty() => "failed".to_owned(),
            series => cell(column, series),
        });
        table.add_row(std::iter::once(variant.name.clone()).chain(cells));
    }
    table
}

fn values(observed: &Observed, columns: &[&Column]) -> Table {
    by_case(observed, columns, |column, series| {
        let samples = series.pooled();
        let Summary { median, p10, p90 } = Summary::of(&samples);
        let (scale, unit) = scale(median, column.unit);
        let [median, p10, p90, least] =
            [median, p10, p90, least(samples.iter().copied())].map(|value| figure(value / scale));
        match samples.len() {
            1 => format!("{median} {unit}"),
            _ => format!("{median} {unit} ({least}; {p10} to {p90})"),
        }
    })
}

fn against_serial(observed: &Observed, columns: &[&Column]) -> Table {
    let times: Vec<_> = columns
        .iter()
        .copied()
        .filter(|column| column.unit == "ns")
        .collect();
    by_case(observed, &times, |column, series| {
        match observed.serial(column) {
            Some(serial) => spread(Summary::of(&series.ratios_to(serial))),
            None => "-".to_owned(),
        }
    })
}

/// A group's geometric means of ratios to the best fixed blocks, best peer first.
fn against_fixed(observed: &Observed, group: &str) -> String {
    let columns: Vec<_> = observed
        .columns
        .iter()
        .filter(|c| c.group == group)
        .collect();
    let best: Vec<_> = columns
        .iter()
        .filter_map(|column| observed.best_fixed(column))
        .collect();
    if best.len() < columns.len() {
        let why = "manycore's fixed blocks did not run";
        return format!("{why}\n{}", by_itself(observed, group));
    }
    let peers = observed.variants.iter().enumerate().filter(|(v, variant)| {
        !variant.is_fixed_block() && columns.iter().all(|c| !c.series[*v].rounds.is_empty())
    });
    let mut rows: Vec<_> = peers
        .map(|(v, variant)| {
            let series: Vec<_> = columns.iter().map(|column| &column.series[v]).collect();
            (variant.name.clone(), Regret::of(&columns, &best, &series))
        })
        .collect();
    rows.sort_by(|(_, a), (_, b)| a.mean.median.total_cmp(&b.mean.median));

    let names = [
        group,
        "geometric mean (p10 to p90)",
        "by least p10",
        "worst cell",
        "",
    ];
    let mut table = table(names.map(str::to_owned).into());
    for (
        name,
        Regret {
            mean,
            mean_by_p10,
            worst,
            worst_case,
        },
    ) in rows
    {
        let (by_p10, worst) = (format!("{mean_by_p10:.3}"), format!("{worst:.2}"));
        table.add_row([name, spread(mean), by_p10, worst, worst_case.to_owned()]);
    }
    format!("ratio to the best fixed block\n{table}")
}

/// A peer's ratios to the best fixed blocks of a group.
struct Regret<'a> {
    /// The geometric mean over the cells, summarised over the rounds.
    mean: Summary,
    mean_by_p10: f64,
    /// The greatest of the cells' medians over the rounds.
    worst: f64,
    worst_case: &'a str,
}

impl<'a> Regret<'a> {
    fn of(columns: &[&'a Column], best: &[Best<'_>], series: &[&Series]) -> Self {
        let cells: Vec<_> = best
            .iter()
            .zip(series)
            .map(|(best, s)| best.ratios(s))
            .collect();
        let of_round =
            |r: usize| geometric_mean(&cells.iter().map(|ratios| ratios[r]).collect::<Vec<_>>());
        let by_p10: Vec<_> = best
            .iter()
            .zip(series)
            .map(|(best, s)| best.ratio_of_p10(s))
            .collect();
        let medians = cells.iter().map(|ratios| quantile(ratios, 0.5));
        let (worst, column) = medians
            .zip(columns)
            .max_by(|(a, _), (b, _)| a.total_cmp(b))
            .expect("a group has cases");
        Self {
            mean: Summary::of(&(0..cells[0].len()).map(of_round).collect::<Vec<_>>()),
            mean_by_p10: geometric_mean(&by_p10),
            worst,
            worst_case: &column.name,
        }
    }
}

/// The divisor that shortens a value, and the resulting unit.
fn scale(value: f64, unit: &str) -> (f64, &str) {
    match unit {
        "ns" if value >= 1e6 => (1e6, "ms"),
        "ns" if value >= 1e3 => (1e3, "us"),
        _ => (1.0, unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_three_figures_and_a_fitting_unit() {
        let show = |value, unit| {
            let (scale, unit) = scale(value, unit);
            format!("{} {unit}", figure(value / scale))
        };
        assert_eq!(show(331.8, "ns"), "332 ns");
        assert_eq!(show(10_220.0, "ns"), "10.2 us");
        assert_eq!(show(5.5e6, "ns"), "5.50 ms");
        assert_eq!(show(0.094, "cores"), "0.09 cores");
    }
}
