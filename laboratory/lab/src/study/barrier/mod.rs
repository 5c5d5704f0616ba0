//! The cost of a barrier on chips of 2 to 1,024 cores: the thesis's over a broadcast network, its
//! baselines, and the best barriers.

mod config;
mod figure;
mod machines;
mod rows;
mod tables;

use super::Study;
use super::compared::Compared;
use super::settings::{Key, keys};
use super::team::{self, Contest, PointSummary, Race, TeamMeasured, TeamPoint, TeamProgram};
use super::trial::{Answer, Inquiry, PIN, RUNS, Results, SECONDS, Setup, Text, Trials};
use config::BarrierConfig;
use rows::BarrierRow;

/// The study `barrier`.
pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "barrier",
    question: "what a wait at each barrier costs, with and without a broadcast network",
    home: "atac-64",
    keys: KEYS,
    text: TEXT,
    is_brief: true,
    brief_orders: 4,
    sentence: Some(team::sentence),
    ask: BarrierConfig::new,
};

/// The settings of this study.
const KEYS: &[Key] = keys![
    "episodes" [1, 1_000_000]
        "waits of the loop [100, and beyond 64 cores fewer by the square, 10 at least; --full: 1000]",
    "beside"
        "presets to compare the machine with, a list, or none [kunpeng-920,westmere-ex]",
    .. RUNS, SECONDS, PIN
];

const TEXT: Text = Text {
    title: "Barriers",
    lead: "A barrier is a place in a program where each thread waits until all have come. Such a wait \
     costs time even if all come at once, and more on more cores. Here ways to build a barrier are \
     compared: through memory and, where a machine has one, over a network that tells all cores at \
     once. channel, the barrier of S. J. Park's thesis (MIT, 2013), is made for such a network, which in \
     the thesis is made of light; on a machine without one its messages go through memory.",
    how: &[
        "A team waits at a barrier in a loop, and, where it is simulated, in single episodes a \
         million cycles or more apart: all members arriving in one cycle, or each 2,000 cycles after \
         the one before, so that those that sleep when they wait long do.",
        team::HOW,
        team::BARRIERS,
    ],
};

/// Under the figure.
const FIGURE: &str = "One wait of a loop against cores, and from the last arrival to the last departure: medians, \
     with bars from the 10th to the 90th percentile over episodes (end to end: over runs, of which \
     a simulation needs one).";

impl Trials for BarrierConfig {
    type Trial = TeamPoint;
    type Row = BarrierRow;

    fn setup(&self) -> &Setup {
        &self.setup
    }

    fn trials(&self) -> Vec<TeamPoint> {
        self.all_points()
    }

    fn answer(results: Results<'_, Self>) -> anyhow::Result<Answer<BarrierRow>> {
        let config = results.config;
        let measured = &TeamMeasured::new(results.measured);
        let race = Race { config, measured };
        let mut tables = vec![tables::episodes(race), tables::exits(race)];
        tables.extend(tables::single(race));
        tables.extend(tables::as_it_may_have_been(race));
        tables.extend(tables::remains(race));
        let row = |summary: &PointSummary| match summary.point.program {
            TeamProgram::Loop { arrivals, .. } => {
                Some(BarrierRow::new(&config.setup, summary, arrivals))
            }
            TeamProgram::Streamcluster { .. } => None,
        };
        let rows = measured.all.iter().filter_map(row).collect();
        Ok(Answer::new(figure::figure(race), FIGURE, tables, rows))
    }

    fn compared_trials(&self) -> Vec<TeamPoint> {
        let barriers = self.barriers.iter();
        barriers
            .map(|barrier| self.entry(0, self.compared_at(), barrier))
            .collect()
    }

    fn compared(results: Results<'_, Self>) -> Option<Compared> {
        Some(figure::compared(Race {
            config: results.config,
            measured: &TeamMeasured::new(results.measured),
        }))
    }
}
