//! How well tasks that begin on few cores spread over all: the thesis's
//! benchmark of work stealing.

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

/// The study `stealing`.
pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "stealing",
    question: "how fast each discipline of work stealing spreads tasks from where they begin",
    home: "atac-64",
    keys: KEYS,
    text: TEXT,
    is_brief: true,
    brief_orders: 3,
    sentence: Some(figure::sentence),
    ask: StealingConfig::new,
};

/// The settings of this study.
const KEYS: &[Key] = keys![
    "tasks" [1, 100_000]
        "tasks a core, on average [16]",
    "task-cycles" [1, 1 << 40]
        "cycles of a task (natively ns), a list [120000,12000,1200; --full: 1200..1200000]",
    "distributions"
        "a list of total-skew, half, quarter, even, random [all]",
    .. RUNS, SECONDS, PIN
];

const TEXT: Text = Text {
    title: "Work stealing",
    lead: "Work stealing means that a core without tasks takes some from a core that has more. Here ways \
     to do that are compared by the time until all tasks are done, over the least that is possible. \
     The offer- ways are those of S. J. Park's thesis (MIT, 2013), whose cores tell all others \
     at once that they have no tasks, over a network made for that; on a machine without one their \
     messages go through memory. ours is manycore's way, which uses such a network if there is one.",
    how: &[
        "The thesis's benchmark: independent tasks, all of one length, distributed in five ways at \
         the beginning. A worker is bound to each core of a simulated machine, or is a thread of \
         this one. The clock runs once all piles are filled. The seed decides who is stolen from \
         and the random distribution, in which a core's tasks vary by half of their mean, which the \
         thesis does not say. global-queue is what it calls work queue (Java), random the style of \
         Cilk, offer-mutex and offer-cas its own with virtual channels.",
    ],
};

/// Under the figure.
const FIGURE: &str = "Time until all tasks are done, over that of all tasks divided by the cores: medians, with bars \
     from the 10th to the 90th percentile of runs, of which a simulation needs one.";

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
