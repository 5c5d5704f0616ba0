//! PARSEC's streamcluster with each barrier in the place of its own: the
//! thesis's second application.

mod config;
mod figure;
mod rows;

use super::Study;
use super::compared::Compared;
use super::settings::{Key, keys};
use super::team::{self, PointSummary, Race, TeamMeasured, TeamPoint, TeamProgram};
use super::trial::{Answer, Inquiry, PIN, RUNS, Results, SECONDS, Setup, Text, Trials};
use crate::report::table::Table;
use config::{Clustering, StreamclusterConfig};
use rows::StreamclusterRow;

/// The study `streamcluster`.
pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "streamcluster",
    question: "how long PARSEC's streamcluster takes with each barrier",
    home: "atac-64",
    keys: KEYS,
    text: TEXT,
    is_brief: true,
    brief_orders: 2,
    sentence: Some(team::sentence),
    ask: StreamclusterConfig::new,
};

/// The settings of this study.
const KEYS: &[Key] = keys![
    "input"
        "PARSEC's inputs, a list of test, simdev, simsmall, simmedium, simlarge [test]",
    .. RUNS, SECONDS, PIN
];

const TEXT: Text = Text {
    title: "Streamcluster",
    lead: "Streamcluster, a program of the PARSEC benchmarks, groups points around centres. Its threads \
     meet at a barrier (a place where each waits for all others) very often, so the barrier decides \
     how long it takes. channel, the barrier of S. J. Park's thesis (MIT, 2013), is made for a network \
     that tells all cores at once; on a machine without one its messages go through memory.",
    how: &[
        "PARSEC's streamcluster, with the barriers that are studied in the place of its own. Each \
         answer is verified.",
        team::HOW,
    ],
};

/// Under the figure.
const FIGURE: &str = "Streamcluster against cores: end to end, and from the last arrival at a wait to the last \
     departure: medians, with bars from the 10th to the 90th percentile (exit latency: over waits; \
     end to end: over runs, of which a simulation needs one).";

impl Trials for StreamclusterConfig {
    type Trial = TeamPoint;
    type Row = StreamclusterRow;

    fn setup(&self) -> &Setup {
        &self.setup
    }

    fn trials(&self) -> Vec<TeamPoint> {
        self.entries()
    }

    fn answer(results: Results<'_, Self>) -> anyhow::Result<Answer<StreamclusterRow>> {
        let config = results.config;
        let measured = &TeamMeasured::new(results.measured);
        let clusterings: Vec<Clustering<'_>> = config.clusterings().collect();
        let races = clusterings.iter().map(|config| Race { config, measured });
        let figure = figure::figure(config, races.clone());
        let row = |summary: &PointSummary| match summary.point.program {
            TeamProgram::Streamcluster { input } => {
                Some(StreamclusterRow::new(&config.setup, summary, input))
            }
            TeamProgram::Loop { .. } => None,
        };
        let rows = measured.all.iter().filter_map(row).collect();
        Ok(Answer::new(
            figure,
            FIGURE,
            races.flat_map(tables).collect(),
            rows,
        ))
    }

    fn compared_trials(&self) -> Vec<TeamPoint> {
        let (input, cores) = (self.inputs.first(), self.compared_at());
        let all = self.entries().into_iter();
        let of_input = |point: &TeamPoint| match point.program {
            TeamProgram::Streamcluster { input: of } => Some(&of) == input,
            TeamProgram::Loop { .. } => false,
        };
        all.filter(|point| point.cores == cores && of_input(point))
            .collect()
    }

    fn compared(results: Results<'_, Self>) -> Option<Compared> {
        let config = results.config.clusterings().next()?;
        Some(figure::compared(Race {
            config: &config,
            measured: &TeamMeasured::new(results.measured),
        }))
    }
}

/// The tables of one input.
fn tables(race: Race<'_, Clustering<'_>>) -> [Table; 2] {
    let (input, unit) = (race.config.input, race.config.config.setup.unit().name());
    let of = |cores, name: &str| race.of(0, cores, name);
    [
        race.table(
            format!("Streamcluster, input {input}: end to end by cores, {unit}"),
            None,
            |cores, name| Some(of(cores, name)?.total.median),
        ),
        race.table(
            format!("Streamcluster, input {input}: exit latency by cores, median, {unit}"),
            None,
            |cores, name| Some(of(cores, name)?.exit.median),
        ),
    ]
}
