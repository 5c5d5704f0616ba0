//! How fork-join programs speed up under each way for idle workers to sleep
//! and be woken: the experiment of the sleep counters' document.

mod cell;
mod config;
mod figure;
mod keys;
mod measured;
mod native;
mod only;
mod pool;
mod prose;
mod published;
mod rows;
mod simulated;
mod speedup;
#[cfg(test)]
mod synthetic;
mod tables;

use super::settings::Key;
use super::{Findings, Plan, Request, Study};
use crate::failure::Interrupted;
use crate::measure::budget::Budget;
use crate::measure::interrupt;
use crate::measure::journal::{self, Journal};
use crate::measure::progress::Progress;
use crate::report::csv;
use crate::report::files::OutFolder;
use crate::report::host::Origin;
use crate::report::section::{Block, Section};
use anyhow::Context;
use config::Config;
use manycore::Pool;
use manycore::topology::Topology;
use measured::Measured;
use published::Published;
use serde_json::json;
use std::time::Duration;

/// The study `sleep`.
#[derive(Debug)]
pub(crate) struct SleepPolicies;

impl Study for SleepPolicies {
    fn name(&self) -> &'static str {
        "sleep"
    }

    fn question(&self) -> &'static str {
        "how fork-join programs speed up under each sleep policy of the pool"
    }

    fn keys(&self) -> &'static [Key] {
        &keys::KEYS
    }

    fn plan(&self, request: &Request) -> anyhow::Result<Box<dyn Plan>> {
        Ok(Box::new(Experiment {
            config: Config::new(request)?,
            fresh: request.fresh,
        }))
    }
}

/// The cells to measure.
struct Experiment {
    config: Config,
    fresh: bool,
}

impl Plan for Experiment {
    fn measure(&self, out: &OutFolder) -> anyhow::Result<Findings> {
        let name = format!("sleep.{}.journal", journal::hash(&self.config)?);
        let (mut journal, found) = Journal::open(out.path(&name), self.fresh)?;
        let measured = self.measure_cells(&mut journal, &found)?;
        findings(&self.config, &measured, journal)
    }
}

impl Experiment {
    /// Measures the cells that are not in the journal.
    fn measure_cells(
        &self,
        journal: &mut Journal,
        found: &[Measured],
    ) -> anyhow::Result<Vec<Measured>> {
        let config = &self.config;
        let cells = config.cells();
        interrupt::watch();
        let mut progress = Progress::new("sleep", cells.len());
        let mut budget = Budget::new(Duration::from_secs(config.seconds), cells.len());
        // Simulations share this host's cores; native programs have pools of their own.
        let host = match config.chip {
            Some(_) => Some(Pool::builder().build().context("sleep")?),
            None => None,
        };
        let mut measured = Vec::new();
        for &cell in &cells {
            // The last record of a cell holds all of its rounds.
            let before = found.iter().rfind(|record| record.cell == cell).cloned();
            let mut record =
                before.unwrap_or_else(|| Measured::new(cell, config.unit(), &config.policies));
            if !record.complete {
                match (&config.chip, &host) {
                    (Some(chip), Some(host)) => {
                        simulated::measure(config, chip, &mut record, host, &progress)?;
                    }
                    _ => native::measure(config, &mut record, budget.share(), &progress)?,
                }
                if record.runs() > 0 {
                    journal.append(&record)?;
                }
            }
            budget.spend(Duration::from_secs_f64(record.seconds));
            progress.step();
            measured.push(record);
            if interrupt::asked() {
                let done = measured.iter().filter(|record| record.complete).count();
                return Err(Interrupted::keeping(done, cells.len(), journal.path()).into());
            }
        }
        Ok(measured)
    }
}

fn findings(config: &Config, measured: &[Measured], journal: Journal) -> anyhow::Result<Findings> {
    let rows = rows::rows(config, measured);
    let line_rows = rows::line_rows(config, measured);
    let published = Published::load()?;
    let place = match &config.chip {
        Some(_) => format!("simulated: {}", config.machine),
        None => "native".to_owned(),
    };
    let svg = figure::render(&place, &config.algorithms, measured);
    let mut meta = json!({
        "study": "sleep",
        "config": config,
        "config_hash": journal::hash(config)?,
        "seed": config.seed,
        "seconds": measured.iter().map(|cell| cell.seconds).sum::<f64>(),
    });
    let mut summary = prose::summary(config, measured);
    let mut blocks: Vec<Block> = [
        prose::what(config, measured).as_str(),
        prose::BASELINES,
        prose::PUBLISHED,
    ]
    .map(|text| Block::Paragraph(text.into()))
    .into();
    let mut more = Vec::new();
    if config.chip.is_some() {
        let of = |cell: &Measured| -> Vec<String> {
            let policies = cell.policies.iter();
            policies.map(|samples| samples.hash.clone()).collect()
        };
        let hash = journal::hash(&measured.iter().map(of).collect::<Vec<_>>())?;
        meta["origin"] = json!(Origin::simulated());
        meta["hash"] = json!(hash);
        meta["hashes"] = simulated::hashes(measured);
        summary += &format!("hash of all simulations: {hash}\n");
        blocks.push(Block::Paragraph(prose::JUDGED.into()));
        more.push(("lines.csv", csv::text(&line_rows)?));
    } else {
        meta["origin"] = json!(Origin::native());
        let cpus = Topology::detect().usable().len();
        if let Some(warning) = prose::disturbance(measured, cpus) {
            summary = format!("{warning}\n{summary}");
            blocks.push(Block::Paragraph(warning));
        }
    }
    blocks.push(Block::Figure {
        svg: svg.clone(),
        caption: prose::FIGURE.into(),
    });
    let tables = tables::by_algorithm(config, &published, measured);
    blocks.extend(tables.into_iter().map(Block::Table));
    if config.chip.is_some() {
        blocks.push(Block::Paragraph(prose::LINES.into()));
        blocks.extend(tables::lines(config, measured).map(Block::Table));
    }
    blocks.push(Block::Table(tables::by_threads(config, measured)));
    blocks.push(Block::Table(tables::overview(config, measured)));
    Ok(Findings {
        section: Section {
            title: "Sleep".into(),
            blocks,
        },
        summary,
        csv: csv::text(&rows)?,
        more,
        svg,
        json: json!({
            "study": "sleep",
            "meta": meta,
            "rows": rows,
            "lines": line_rows,
        }),
        meta,
        journal,
    })
}
