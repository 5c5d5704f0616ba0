//! PARSEC's streamcluster, with each barrier in place of PARSEC's barrier. It is the second application in S. J. Park's
//! thesis (MIT, 2013; "the thesis" in this folder).

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

pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "streamcluster",
    question: "how long PARSEC's streamcluster takes with each barrier",
    home: "atac-64",
    keys: KEYS,
    text: TEXT,
    is_brief: true,
    brief_orders: 2,
    has_intervals: false,
    sentence: Some(team::sentence),
    ask: StreamclusterConfig::new,
};

const KEYS: &[Key] = keys![
    "input"
        "PARSEC's inputs, a list of test, simdev, simsmall, simmedium, simlarge [test]",
    .. RUNS, SECONDS, PIN
];

const TEXT: Text = Text {
    title: "Streamcluster",
    lead: "Streamcluster, a program of the PARSEC benchmarks, groups points around centres. Its threads \
     meet very often at a barrier (a place where each waits for all others), so the barrier decides \
     how long the program takes. The barrier channel, of S. J. Park's thesis (MIT, 2013), is made for a \
     network that reaches all cores at once; on a machine without such a network its messages go \
     through memory.",
    how: &[
        "PARSEC's streamcluster runs with each studied barrier in place of PARSEC's own. Each answer is \
         verified.",
        team::HOW,
    ],
};

/// The figure's caption.
const FIGURE: &str = "The time of streamcluster from beginning to end, and the exit latency of \
     its waits (from the last arrival to the last departure), by number of cores. Points are \
     medians, with bars from the 10th to the 90th percentile of the runs (for the time) or of the \
     waits (for the exit latency). A simulation needs only one run.";

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

fn tables(race: Race<'_, Clustering<'_>>) -> [Table; 2] {
    let (input, unit) = (race.config.input, race.config.config.setup.unit().name());
    let of = |cores, name: &str| race.of(0, cores, name);
    [
        race.table(
            format!("Streamcluster, input {input}: time from beginning to end by cores, {unit}"),
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
