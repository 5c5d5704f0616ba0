//! How fast each discipline (algorithm) of work stealing searches a graph with small and uneven
//! frontiers. S. J. Park's thesis (MIT, 2013, section 7.2.1) leaves this question as future work.

mod case;
mod config;
mod figure;
mod program;
mod results;
mod rows;
mod search;
mod tables;

use super::Study;
use super::compared::Compared;
use super::settings::{Key, keys};
use super::trial::{Answer, Inquiry, PIN, RUNS, SECONDS, Setup, Text, Trials};
use case::GraphCase;
use config::GraphConfig;
use results::GraphResults;
use rows::GraphRow;

pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "graph",
    question: "how fast each discipline of work stealing searches an R-MAT graph",
    home: "atac-64",
    keys: KEYS,
    text: TEXT,
    is_brief: true,
    brief_orders: 4,
    has_intervals: false,
    sentence: Some(figure::sentence),
    ask: GraphConfig::new,
};

const KEYS: &[Key] = keys![
    "scale" [1, 20]
        "binary logarithms of the number of vertices, a list [10; --full: 10,12,14]",
    "programs"
        "a list of breadth-first, components, triangles (in a graph with changing edges) [all]",
    .. RUNS, SECONDS, PIN
];

const TEXT: Text = Text {
    title: "Graph search",
    lead: "A search of a graph makes its tasks while it runs: few at first, then very many, each on the \
     core that finds it. So it shows how well idle cores take tasks from busy cores. The ways to do so \
     (disciplines) are those of the section on work stealing.",
    how: &[
        "The graph is an R-MAT graph with the probabilities of Graph500 and 16 edges a vertex. It \
         is searched frontier by frontier. A task is a vertex and up to 64 of its edges. A rank \
         puts the vertices that it finds into its own pile, and the discipline spreads them. \
         Between frontiers the ranks meet at a dissemination barrier. In the program triangles the \
         graph changes: each of several batches replaces a sixteenth of its edges, and the program \
         updates the number of triangles. A task is then one changed edge, and each rank begins \
         with its share of them. Every tree is checked by the rules of Graph500, every label \
         against a sequential union of sets, and the number of triangles against a count in the \
         last graph.",
    ],
};

/// The figure's caption.
const FIGURE: &str = "Time from the first rank's start to the last rank's end: medians of runs, with bars from the \
     10th to the 90th percentile. A simulation needs only one run.";

impl Trials for GraphConfig {
    type Trial = GraphCase;
    type Row = GraphRow;

    fn setup(&self) -> &Setup {
        &self.setup
    }

    fn trials(&self) -> Vec<GraphCase> {
        self.cases()
    }

    fn answer(results: GraphResults<'_>) -> anyhow::Result<Answer<GraphRow>> {
        let setup = &results.config.setup;
        let row = |runs| GraphRow::new(setup, runs, runs.spread(|run| run.time));
        Ok(Answer::new(
            figure::figure(results),
            FIGURE,
            tables::all(results),
            results.measured.iter().map(row).collect(),
        ))
    }

    fn compared_trials(&self) -> Vec<GraphCase> {
        let cores = self.most_cores();
        let all = self.cases().into_iter();
        all.filter(|case| case.cores == cores).collect()
    }

    fn compared(results: GraphResults<'_>) -> Option<Compared> {
        Some(results.compared())
    }
}
