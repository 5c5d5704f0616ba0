//! The models of the block size as policies of one loop, beside the document's comparison of its
//! own model with Taskflow (Shuai 2021, section "Related work and comparison").

mod case;
mod config;
mod figure;
mod policy;
mod printed;
mod results;
mod rows;
mod tables;

use super::Study;
use super::compared::Compared;
use super::settings::{Key, keys};
use super::trial::{Answer, Inquiry, PIN, RUNS, Results, SECONDS, Setup, Text, Trials};
use case::ModelCase;
use config::ModelsConfig;
use results::ModelResults;
use rows::ModelRow;

/// The study `models`.
pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "models",
    question: "what a loop takes with the block that each cost model picks",
    home: "native",
    keys: KEYS,
    text: TEXT,
    is_brief: true,
    brief_orders: 0,
    sentence: Some(figure::sentence),
    ask: ModelsConfig::new,
};

/// The settings of this study.
const KEYS: &[Key] = keys![
    "n" [1, 1 << 24]
        "iterations of the loop [4096, the document's]",
    "sizes" [1, 1 << 20]
        "bytes read, and written, by an iteration while the other stays 1024, a list [2^6, 2^10, \
         2^12; --full: 2^6, 2^8 .. 2^16]",
    .. RUNS, SECONDS, PIN
];

const TEXT: Text = Text {
    title: "Cost models",
    lead: "How many iterations of a parallel loop should a thread take at a time? A cost model computes \
     it from what the machine charges and what the loop does. Here several models, and adaptive, \
     manycore's default, which gets no prices, run the same loops. The loops and the published \
     model are those of a paper by R. Shuai (2021), which is called the document below.",
    how: &[
        "Loops of the document's unit task. published: the document's formula; \
         refitted: its form, fitted anew to the document's table of preferred blocks; ours: the \
         balance of prices that `manycore machine` measures, times a power of an iteration's bytes; \
         prices-alone: our pool's `fixed-block`, which gets those prices and times the \
         iterations itself; adaptive: the default, which gets no prices; document: the document's \
         own pool with its formula, simulated only. Natively each run is the median of five loops, \
         after one for warmth, in a pool of its own. Each simulated loop runs by itself: until two in \
         a row are not 5% faster than all before (the pool starts its threads meanwhile), then nine \
         times, whose median counts.",
        "\"taskflow-rule\" is the rule that the document ascribes to the library Taskflow, in our pool: a \
     claim by one of T threads takes 1/2T of what is left, and one iteration when less than 4T are. On \
     simulated machines two hardware threads of a core do not slow each other.",
        "Columns that are called printed are the document's own: Taskflow, and the \
     document's pool with the document's formula, read as nanoseconds. The document compares two \
     runtimes there, not two rules: Taskflow's library has another pool, which is not built here. Two \
     latencies that it prints of the Threadripper 3970X are slips: 34500 ns for 1024 additions is a \
     tenth of its neighbours, and 5496700 ns for 1024^5 is ten times its neighbours.",
    ],
};

/// Under the figure.
const FIGURE: &str = "Latency of one loop of unit tasks under each policy: medians, with bars from the 10th \
     to the 90th percentile where there are several runs. A policy picks how many iterations a \
     thread takes at a time.";

impl Trials for ModelsConfig {
    type Trial = ModelCase;
    type Row = ModelRow;

    fn setup(&self) -> &Setup {
        &self.setup
    }

    fn trials(&self) -> Vec<ModelCase> {
        self.cases()
    }

    fn answer(of: Results<'_, Self>) -> anyhow::Result<Answer<ModelRow>> {
        let results = ModelResults::new(of)?;
        let mut tables = tables::latencies(&results);
        tables.push(tables::means(&results));
        let row = |runs| ModelRow::new(&of.config.setup, runs, runs.spread(|run| run.latency_ns));
        let rows = of.measured.iter().map(row).collect();
        Ok(Answer::new(figure::figure(&results), FIGURE, tables, rows))
    }

    fn compared(of: Results<'_, Self>) -> Option<Compared> {
        Some(ModelResults::new(of).ok()?.compared())
    }
}
