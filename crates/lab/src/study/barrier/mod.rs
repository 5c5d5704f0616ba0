//! What a barrier costs on chips of 2 to 1,024 cores: the thesis's over a
//! broadcast network, those it was compared with, and the best there are.

mod compare;
mod config;
mod figure;
mod keys;
mod machines;
mod prose;
mod rows;
mod tables;

use super::settings::Key;
use super::team::{self, Job};
use super::{Findings, Plan, Request, Study};
use crate::measure::journal::Journal;
use crate::report::csv;
use crate::report::files::OutFolder;
use crate::report::section::{Block, Section};
use compare::Numbers;
use config::Config;
use serde_json::json;

/// The study `barrier`.
#[derive(Debug)]
pub(crate) struct Barriers;

impl Study for Barriers {
    fn name(&self) -> &'static str {
        "barrier"
    }

    fn question(&self) -> &'static str {
        "what a wait at each barrier costs, with and without a broadcast network"
    }

    fn home(&self) -> &'static str {
        "atac-64"
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

struct Experiment {
    config: Config,
    fresh: bool,
}

impl Plan for Experiment {
    fn measure(&self, out: &OutFolder) -> anyhow::Result<Findings> {
        let config = &self.config;
        let job = Job {
            config,
            setup: &config.setup,
            points: config.points(),
            fresh: self.fresh,
        };
        let (measured, journal) = team::measure(&job, out)?;
        findings(
            Numbers {
                config,
                measured: &measured,
            },
            journal,
        )
    }
}

fn findings(numbers: Numbers<'_>, journal: Journal) -> anyhow::Result<Findings> {
    let (config, measured) = (numbers.config, numbers.measured);
    let rows = rows::rows(config, measured);
    let svg = figure::render(numbers);
    let mut blocks = vec![
        Block::Paragraph(prose::what(numbers)),
        Block::Figure {
            svg: svg.clone(),
            caption: prose::FIGURE.into(),
        },
        Block::Table(tables::episodes(numbers)),
        Block::Table(tables::exits(numbers)),
    ];
    blocks.extend(tables::single(numbers).into_iter().map(Block::Table));
    blocks.extend(prose::remains(numbers).map(Block::Paragraph));
    blocks.extend(tables::remains(numbers).map(Block::Table));
    let meta = team::meta(&config.setup, config, measured)?;
    Ok(Findings {
        section: Section {
            title: "Barriers".into(),
            blocks,
        },
        summary: prose::summary(numbers) + &team::hash_line(&config.setup, measured)?,
        csv: csv::text(&rows)?,
        more: Vec::new(),
        svg,
        json: json!({ "study": "barrier", "meta": meta, "rows": rows }),
        meta,
        journal,
    })
}
