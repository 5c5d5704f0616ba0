//! The cost of barriers on chips of 2 to 1,024 cores: the barrier over a broadcast network in S. J. Park's thesis (MIT,
//! 2013; "the thesis" in this folder), its baselines, and the best barriers.

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

pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "barrier",
    question: "what a wait at each barrier costs, with and without a broadcast network",
    home: "atac-64",
    keys: KEYS,
    text: TEXT,
    is_brief: true,
    brief_orders: 4,
    has_intervals: false,
    sentence: Some(team::sentence),
    ask: BarrierConfig::new,
};

const KEYS: &[Key] = keys![
    "episodes" [1, 1_000_000]
        "waits of the loop [100; on more than 64 cores 100 * (64 / cores)^2, but at least 10; \
         --full: 1000 instead of 100]",
    "beside"
        "a list of presets to compare the machine with, or none [kunpeng-920,westmere-ex]",
    .. RUNS, SECONDS, PIN
];

const TEXT: Text = Text {
    title: "Barriers",
    lead: "A barrier is a place in a program where each thread waits until all threads have \
     arrived. A wait costs time even if all arrive at once, and more time on more cores. This \
     study compares ways to build a barrier: through memory and, if the machine has one, over a \
     network that reaches all cores at once. The barrier `channel`, from S. J. Park's thesis \
     (MIT, 2013), is made for such a network. In the thesis the network is optical. On a machine \
     without such a network its messages go through memory.",
    how: &[
        "A team of threads waits at a barrier in a loop. On a simulated machine it also waits in \
         single episodes (an episode is one wait of all members), a million cycles or more apart. \
         Either all members arrive in one cycle, or each arrives 2,000 cycles after the one \
         before. In the second case, members sleep at the barriers that use sleep.",
        team::HOW,
        team::BARRIERS,
    ],
};

/// The figure's caption.
const FIGURE: &str = "The time of one wait in a loop, and the exit latency: from the last arrival \
     to the last departure. Points are medians, with bars from the 10th to the 90th percentile: \
     of the episodes for exit latencies, of the runs for the time of a wait. A simulation needs \
     only one run.";

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
