//! What a barrier costs on chips of 2 to 1,024 cores: the thesis's over a
//! broadcast network, those it was compared with, and the best there are.

mod config;
mod figure;
mod headline;
mod keys;
mod machines;
mod opposite;
mod prose;
mod rows;
mod tables;

use super::Study;
use super::team::{Race, TeamMeasured, TeamPoint};
use super::trial::{Answer, Extra, Inquiry, MeasuredTrials, Question, Session, measure};
use crate::measure::journal::Journal;
use crate::report::section::{Block, Captioned};
use config::BarrierConfig;
use rows::BarrierRow;

/// The study `barrier`.
pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "barrier",
    question: "what a wait at each barrier costs, with and without a broadcast network",
    home: "atac-64",
    keys: &keys::KEYS,
    ask: BarrierConfig::new,
};

impl Question for BarrierConfig {
    type Measured = MeasuredTrials<TeamPoint>;
    type Row = BarrierRow;

    fn measure(
        &self,
        session: &Session<'_>,
    ) -> anyhow::Result<(MeasuredTrials<TeamPoint>, Journal)> {
        measure(session, &self.setup, &self.all_points())
    }

    fn answer(&self, measured: &MeasuredTrials<TeamPoint>) -> anyhow::Result<Answer<BarrierRow>> {
        let measured = &TeamMeasured::new(measured);
        let race = Race {
            config: self,
            measured,
        };
        let mut blocks = vec![
            Block::Paragraph(prose::what(race)),
            Block::Table(tables::episodes(race)),
            Block::Table(tables::exits(race)),
        ];
        blocks.extend(tables::single(race).into_iter().map(Block::Table));
        blocks.extend(opposite::table(race).map(Block::Table));
        blocks.extend(opposite::baselines(race).map(Block::Paragraph));
        blocks.extend(opposite::gain(race).map(Block::Paragraph));
        blocks.extend(prose::remains(race).map(Block::Paragraph));
        blocks.extend(tables::remains(race).map(Block::Table));
        Ok(Answer {
            title: "Barriers",
            lead: headline::LEAD,
            figures: Captioned::new(figure::figure(race), prose::FIGURE)
                .into_iter()
                .collect(),
            blocks,
            summary: prose::summary(race),
            rows: rows::rows(self, measured),
            extra: Extra::default(),
        })
    }
}
