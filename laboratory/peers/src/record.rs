//! `peers.csv`: one row a benchmark, case, peer and number of threads.

use crate::measure::{Column, Observed};
use crate::stats::{Best, Summary, least, quantile};
use anyhow::{Context, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};

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
    /// Median over the rounds of the ratio within a round; empty where there
    /// is no fixed block.
    ratio_to_best_fixed: Option<f64>,
    ratio_to_serial: Option<f64>,
    runs: usize,
    rounds: usize,
    /// The least of the rounds' tenth percentiles, and the ratio by it.
    p10_min: f64,
    ratio_to_best_fixed_by_p10: Option<f64>,
    /// Rounds in which a thread of the peer had to wait for a core.
    disturbed_rounds: usize,
}

/// Where the rows go. The file is whole at any time: it is written beside its
/// place and moved there.
pub struct Record {
    path: PathBuf,
    benches: Vec<Observed>,
}

impl Record {
    /// Makes the folder and an empty file, so that a folder that cannot be
    /// written is found before anything is measured.
    ///
    /// # Errors
    ///
    /// When that cannot be done.
    pub fn new(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("--out: cannot make the folder {}", folder.display()))?;
        let record = Self {
            path: folder.join("peers.csv"),
            benches: Vec::new(),
        };
        let probe = record.unfinished();
        std::fs::write(&probe, "")
            .and_then(|()| std::fs::remove_file(&probe))
            .with_context(|| format!("--out: cannot write in the folder {}", folder.display()))?;
        Ok(record)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a benchmark and writes the file anew.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn add(&mut self, observed: Observed) -> Result<&Observed> {
        self.benches.push(observed);
        let unfinished = self.unfinished();
        self.write(&unfinished)
            .and_then(|()| Ok(std::fs::rename(&unfinished, &self.path)?))
            .with_context(|| format!("cannot write {}", self.path.display()))?;
        Ok(self.benches.last().expect("just added"))
    }

    fn unfinished(&self) -> PathBuf {
        self.path.with_extension("csv.unfinished")
    }

    fn write(&self, path: &Path) -> Result<()> {
        let mut writer = csv::Writer::from_path(path)?;
        for observed in &self.benches {
            for column in &observed.columns {
                for row in rows(observed, column) {
                    writer.serialize(row)?;
                }
            }
        }
        Ok(writer.flush()?)
    }
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
    /// The yardstick of a case, if the fixed blocks ran in it.
    pub fn best_fixed<'a>(&'a self, column: &'a Column) -> Option<Best<'a>> {
        let fixed = self
            .variants
            .iter()
            .zip(&column.series)
            .filter(|(variant, series)| variant.is_fixed_block() && !series.rounds.is_empty());
        Best::of(&fixed.map(|(_, series)| series).collect::<Vec<_>>())
    }

    /// The plain loop's samples in a case.
    pub fn serial<'a>(&self, column: &'a Column) -> Option<&'a crate::stats::Series> {
        let position = self
            .variants
            .iter()
            .position(|variant| variant.name == "serial")?;
        Some(&column.series[position]).filter(|series| !series.rounds.is_empty())
    }
}
