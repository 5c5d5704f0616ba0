//! Whether the thesis's barrier stays fast on a slower broadcast network: its
//! robustness test, on both of its applications.

mod config;
mod curve;
mod figure;
mod headline;
mod keys;
mod prose;
mod rows;
mod tables;

use super::Study;
use super::team::{Race, TeamMeasured, TeamPoint};
use super::trial::{Answer, Extra, Inquiry, MeasuredTrials, Question, Session, measure};
use crate::measure::journal::Journal;
use crate::report::section::{Block, Captioned};
use config::{Contestants, RobustnessConfig};
use rows::RobustnessRow;

/// The study `robustness`.
pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "robustness",
    question: "whether a barrier over a broadcast network stays fast when the network is slower",
    home: "atac-64",
    keys: &keys::KEYS,
    ask: RobustnessConfig::new,
};

impl Question for RobustnessConfig {
    type Measured = MeasuredTrials<TeamPoint>;
    type Row = RobustnessRow;

    fn measure(
        &self,
        session: &Session<'_>,
    ) -> anyhow::Result<(MeasuredTrials<TeamPoint>, Journal)> {
        measure(session, &self.setup, &self.all_points())
    }

    fn answer(
        &self,
        measured: &MeasuredTrials<TeamPoint>,
    ) -> anyhow::Result<Answer<RobustnessRow>> {
        let measured = &TeamMeasured::new(measured);
        let contests: Vec<Contestants<'_>> = self.contests().collect();
        let races = contests.iter().map(|config| Race { config, measured });
        let figure = figure::figure(self, races.clone());
        let mut blocks = vec![Block::Paragraph(prose::what(self))];
        let mut said = Vec::new();
        for race in races {
            blocks.push(Block::Table(tables::sweeps(race)));
            blocks.push(Block::Table(tables::references(race)));
            blocks.extend(prose::discrepancy(race).map(Block::Paragraph));
            blocks.extend(prose::slow_receivers(race).map(Block::Paragraph));
            said.extend(prose::statements(race));
            said.extend(prose::margins(race));
        }
        Ok(Answer {
            title: "Robustness",
            lead: headline::LEAD,
            figures: Captioned::new(figure, prose::FIGURE).into_iter().collect(),
            blocks,
            summary: said.join("\n") + "\n",
            rows: rows::rows(self, measured),
            extra: Extra::default(),
        })
    }
}
