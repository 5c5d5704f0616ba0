//! `peers.csv`: one row for each benchmark, case, peer and number of threads.

use super::measure::{Column, Observed};
use crate::output::Output;
use crate::stats::{Best, Summary, least, quantile};
use anyhow::Result;
use serde::Serialize;

#[derive(Serialize)]
struct Row<'a> {
    bench: &'a str,
    case: &'a str,
    peer: &'a str,
    threads: usize,
    median: f64,
    p10: f64,
    p90: f64,
    min: f64,
    unit: &'a str,
    /// The median over the rounds of the ratio within a round; empty without fixed blocks.
    ratio_to_best_fixed: Option<f64>,
    ratio_to_serial: Option<f64>,
    runs: usize,
    rounds: usize,
    /// The least of the rounds' tenth percentiles, and the ratio of these.
    p10_min: f64,
    ratio_to_best_fixed_by_p10: Option<f64>,
    /// The number of rounds during which a thread of the peer waited for a core.
    disturbed_rounds: usize,
}

/// Adds the rows of a benchmark to the file.
///
/// # Errors
///
/// If they cannot be written.
pub fn write(observed: &Observed, output: &mut Output) -> Result<()> {
    let mut columns = observed.columns.iter();
    columns.try_for_each(|column| rows(observed, column).try_for_each(|row| output.row(&row)))
}

fn rows<'a>(observed: &'a Observed, column: &'a Column) -> impl Iterator<Item = Row<'a>> {
    let best = observed.best_fixed(column);
    let serial = observed.serial(column);
    let measured = observed
        .variants
        .iter()
        .zip(&column.series)
        .zip(&column.disturbed);
    measured
        .filter(|((_, series), _)| !series.rounds.is_empty())
        .map(move |((variant, series), &disturbed)| {
            let pooled = series.pooled();
            let Summary { median, p10, p90 } = Summary::of(&pooled);
            let ratio = |ratios: Vec<f64>| Some(quantile(&ratios, 0.5)).filter(|r| r.is_finite());
            Row {
                bench: observed.bench,
                case: &column.name,
                peer: &variant.name,
                threads: observed.threads,
                median,
                p10,
                p90,
                min: least(pooled.iter().copied()),
                unit: column.unit,
                ratio_to_best_fixed: best.as_ref().and_then(|best| ratio(best.ratios(series))),
                ratio_to_serial: serial.and_then(|serial| ratio(series.ratios_to(serial))),
                runs: pooled.len(),
                rounds: series.rounds.len(),
                p10_min: least(series.round_p10s()),
                ratio_to_best_fixed_by_p10: best.as_ref().map(|best| best.ratio_of_p10(series)),
                disturbed_rounds: disturbed,
            }
        })
}

impl Observed {
    /// The best fixed block of a case, if fixed blocks ran.
    pub fn best_fixed<'a>(&'a self, column: &'a Column) -> Option<Best<'a>> {
        let fixed = self
            .variants
            .iter()
            .zip(&column.series)
            .filter(|(variant, series)| variant.is_fixed_block() && !series.rounds.is_empty());
        Best::of(&fixed.map(|(_, series)| series).collect::<Vec<_>>())
    }

    /// The serial loop's samples in a case.
    pub fn serial<'a>(&self, column: &'a Column) -> Option<&'a crate::stats::Series> {
        let position = self
            .variants
            .iter()
            .position(|variant| variant.name == "serial")?;
        Some(&column.series[position]).filter(|series| !series.rounds.is_empty())
    }
}
