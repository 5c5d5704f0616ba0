//! PARSEC's streamcluster with each barrier in the place of its own: the
//! thesis's second application.

mod config;
mod figure;
mod headline;
mod keys;
mod prose;
mod rows;

use super::Study;
use super::team::{Race, TeamMeasured, TeamPoint};
use super::trial::{Answer, Extra, Inquiry, MeasuredTrials, Question, Session, measure};
use crate::measure::journal::Journal;
use crate::report::section::{Block, Captioned};
use config::{Clustering, StreamclusterConfig};
use rows::StreamclusterRow;

/// The study `streamcluster`.
pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "streamcluster",
    question: "how long PARSEC's streamcluster takes with each barrier",
    home: "atac-64",
    keys: &keys::KEYS,
    ask: StreamclusterConfig::new,
};

impl Question for StreamclusterConfig {
    type Measured = MeasuredTrials<TeamPoint>;
    type Row = StreamclusterRow;

    fn measure(
        &self,
        session: &Session<'_>,
    ) -> anyhow::Result<(MeasuredTrials<TeamPoint>, Journal)> {
        measure(session, &self.setup, &self.entries())
    }

    fn answer(
        &self,
        measured: &MeasuredTrials<TeamPoint>,
    ) -> anyhow::Result<Answer<StreamclusterRow>> {
        let measured = &TeamMeasured::new(measured);
        let clusterings: Vec<Clustering<'_>> = self.clusterings().collect();
        let races = clusterings.iter().map(|config| Race { config, measured });
        let figure = figure::figure(self, races.clone());
        let mut blocks = vec![Block::Paragraph(prose::what(self, measured))];
        let mut summary = String::new();
        for race in races {
            blocks.extend(prose::tables(race).map(Block::Table));
            summary += &prose::summary(race);
        }
        Ok(Answer {
            title: "Streamcluster",
            lead: headline::LEAD,
            figures: Captioned::new(figure, prose::FIGURE).into_iter().collect(),
            blocks,
            summary,
            rows: rows::rows(self, measured),
            extra: Extra::default(),
        })
    }
}
