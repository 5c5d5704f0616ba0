//! How well tasks that begin on few cores spread over all: the benchmark of work stealing in S. J. Park's thesis (MIT,
//! 2013; "the thesis" in this folder).

mod case;
mod config;
mod figure;
mod results;
mod rows;
mod tables;

use super::Study;
use super::compared::Compared;
use super::settings::{Key, keys};
use super::trial::{Answer, Inquiry, PIN, RUNS, SECONDS, Setup, Text, Trials};
use case::StealingCase;
use config::StealingConfig;
pub(super) use config::disciplines_of;
use results::StealingResults;
use rows::StealingRow;

pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "stealing",
    question: "how fast each discipline of work stealing spreads tasks from where they begin",
    home: "atac-64",
    keys: KEYS,
    text: TEXT,
    is_brief: true,
    brief_orders: 3,
    has_intervals: false,
    sentence: Some(figure::sentence),
    ask: StealingConfig::new,
};

const KEYS: &[Key] = keys![
    "tasks" [1, 100_000]
        "mean number of tasks for each core [16]",
    "task-cycles" [1, 1 << 40]
        "cycles of a task (natively ns), a list [120000,12000,1200; --full: 1200..1200000]",
    "distributions"
        "a list of total-skew, half, quarter, even, random [all]",
    .. RUNS, SECONDS, PIN
];

const TEXT: Text = Text {
    title: "Work stealing",
    lead: "Work stealing means that a core without tasks takes some from a core that has more. \
     This study compares ways to do so (disciplines) by the time until all tasks are done, \
     divided by the least possible time. offer-mutex and offer-cas are those of S. J. Park's \
     thesis (MIT, 2013). With them, a core without tasks signals this to all other cores at once, \
     over a network made for that; on a machine without such a network the messages go through \
     memory. ours is the discipline of manycore, which uses such a network if the machine has \
     one.",
    how: &[
        "The thesis's benchmark has independent tasks of one length, with five initial \
         distributions. On a simulated machine a worker is bound to each core; on this host a \
         worker is a thread. The clock starts when all piles are filled. The seed decides from \
         which workers tasks are stolen, and the random distribution. In the random distribution, \
         the number of tasks of a core has a standard deviation of half its mean. The thesis does \
         not state its deviation. global-queue is the thesis's work queue (Java), random is in \
         the style of Cilk, and offer-mutex and offer-cas are the thesis's own, with virtual \
         channels.",
    ],
};

/// The figure's caption.
const FIGURE: &str = "Time until all tasks are done, divided by the ideal time (the time of all \
     tasks divided by the cores): medians of runs, with bars from the 10th to the 90th \
     percentile. A simulation needs only one run.";

impl Trials for StealingConfig {
    type Trial = StealingCase;
    type Row = StealingRow;

    fn setup(&self) -> &Setup {
        &self.setup
    }

    fn trials(&self) -> Vec<StealingCase> {
        self.cases()
    }

    fn answer(results: StealingResults<'_>) -> anyhow::Result<Answer<StealingRow>> {
        let mut tables = tables::stretches(results);
        tables.extend(tables::counts(results));
        tables.extend(tables::answering(results));
        let setup = &results.config.setup;
        let row = |runs| StealingRow::new(setup, runs, runs.spread(|run| run.makespan));
        let rows = results.measured.iter().map(row).collect();
        Ok(Answer::new(figure::figure(results), FIGURE, tables, rows))
    }

    fn compared_trials(&self) -> Vec<StealingCase> {
        self.star_cases()
    }

    fn compared(results: StealingResults<'_>) -> Option<Compared> {
        Some(results.compared())
    }
}
