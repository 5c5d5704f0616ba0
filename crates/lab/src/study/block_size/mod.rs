//! How block size, threads and task size decide the latency of a parallel
//! loop: the block-size document's experiment, with every partitioner beside
//! the fixed blocks.

mod config;
mod figure;
mod folding;
mod grid;
mod keys;
mod load;
mod measure;
mod only;
mod policy;
mod prose;
mod regret;
mod rows;
mod simulated;
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
use grid::Cell;
use manycore::Pool;
use manycore::topology::Topology;
use measure::Measured;
use serde_json::json;
use simulated::compare;
use std::time::Duration;

/// The study `block-size`.
#[derive(Debug)]
pub(crate) struct BlockSize;

impl Study for BlockSize {
    fn name(&self) -> &'static str {
        "block-size"
    }

    fn question(&self) -> &'static str {
        "how block size, threads and task size decide the latency of a parallel loop"
    }

    fn keys(&self) -> &'static [Key] {
        &keys::KEYS
    }

    fn plan(&self, request: &Request) -> anyhow::Result<Box<dyn Plan>> {
        let config = Config::new(request)?;
        let cells = grid::cells(&config);
        for cell in &cells {
            load::Kernel::check(cell.workload)?;
        }
        Ok(Box::new(Experiment {
            config,
            cells,
            fresh: request.fresh,
        }))
    }
}

/// The cells to measure.
struct Experiment {
    config: Config,
    cells: Vec<Cell>,
    fresh: bool,
}

impl Plan for Experiment {
    fn measure(&self, out: &OutFolder) -> anyhow::Result<Findings> {
        let name = format!("block-size.{}.journal", journal::hash(&self.config)?);
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
        let Self { config, cells, .. } = self;
        interrupt::watch();
        let mut progress = Progress::new("block-size", cells.len());
        let mut budget = Budget::new(Duration::from_secs(config.seconds), cells.len());
        // Simulations share this host's cores; native loops have pools of their own.
        let host = match config.chip {
            Some(_) => Some(Pool::builder().build().context("block-size")?),
            None => None,
        };
        let mut measured = Vec::new();
        for &cell in cells {
            let policies = config.policies(cell.workload.n);
            // The last record of a cell holds all of its rounds.
            let before = found.iter().rfind(|record| record.cell == cell).cloned();
            let mut record =
                before.unwrap_or_else(|| Measured::new(cell, config.unit(), &policies));
            if !record.complete {
                match (&config.chip, &host) {
                    (Some(chip), Some(host)) => {
                        simulated::measure(config, chip, &mut record, &policies, host, &progress)?;
                    }
                    _ => {
                        let share = budget.share();
                        measure::measure(config, &mut record, &policies, share, &progress)?;
                    }
                }
                if record.rounds() > 0 {
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
    let regrets = regret::regrets(measured);
    let overall = regret::overall(&regrets);
    let place = match &config.chip {
        Some(chip) => format!("simulated: {}", chip.name()),
        None => "native".to_owned(),
    };
    let svg = figure::render(&place, measured);
    let mut meta = json!({
        "study": "block-size",
        "config": config,
        "config_hash": journal::hash(config)?,
        "seed": config.seed,
        "seconds": measured.iter().map(|cell| cell.seconds).sum::<f64>(),
    });
    let mut blocks = vec![Block::Paragraph(prose::what(config, measured))];
    let mut summary = String::new();
    let mut comparisons = Vec::new();
    if let Some(chip) = &config.chip {
        let hash = journal::hash(&measured.iter().map(|cell| &cell.hashes).collect::<Vec<_>>())?;
        meta["origin"] = json!(Origin::simulated());
        meta["hash"] = json!(hash);
        meta["hashes"] = simulated::hashes(measured);
        comparisons = compare::comparisons(chip, &config.tables, measured);
        blocks.push(Block::Paragraph(prose::DOCUMENT.into()));
        let tables = compare::latencies(chip, measured, &comparisons);
        blocks.extend(tables.into_iter().map(Block::Table));
        if !comparisons.is_empty() {
            blocks.push(Block::Table(compare::ranks(&comparisons)));
            blocks.push(Block::Paragraph(prose::RANKS.into()));
        }
        summary += &(compare::summary(chip, &comparisons) + "\n");
        summary += &format!("hash of all simulations: {hash}\n");
    } else {
        let waited: f64 = measured.iter().map(|cell| cell.waited).sum();
        meta["origin"] = json!(Origin::native());
        meta["seconds_waited_for_a_cpu"] = json!(waited);
        let disturbance = prose::disturbance(measured, Topology::detect().usable().len());
        summary += &disturbance
            .clone()
            .map_or_else(String::new, |text| text + "\n");
        blocks.extend(disturbance.map(Block::Paragraph));
    }
    blocks.push(Block::Figure {
        svg: svg.clone(),
        caption: prose::FIGURE.into(),
    });
    blocks.extend(tables::latencies(measured).into_iter().map(Block::Table));
    if config.chip.is_none() {
        blocks.extend(folding::blocks(measured));
    }
    if !overall.is_empty() {
        blocks.push(Block::Paragraph(prose::REGRET.into()));
        blocks.push(Block::Table(tables::default_by_cell(&regrets)));
        blocks.push(Block::Table(tables::regret_means(&overall)));
        blocks.push(Block::Table(tables::worst_cells(&overall)));
    }
    Ok(Findings {
        section: Section {
            title: "Block size".into(),
            blocks,
        },
        summary: prose::summary(&overall) + &summary,
        csv: csv::text(&rows)?,
        more: Vec::new(),
        svg,
        json: json!({
            "study": "block-size",
            "meta": meta,
            "rows": rows,
            "regrets": regrets,
            "overall": overall,
            "document": comparisons,
        }),
        meta,
        journal,
    })
}
