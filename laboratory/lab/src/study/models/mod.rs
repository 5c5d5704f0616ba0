//! Runs loops with the block of each cost model. The study also shows how R. Shuai's paper (2021; "the document" in
//! this folder) compares its model with Taskflow (section "Related work and comparison").

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

pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "models",
    question: "how long a loop takes with the block that each cost model picks",
    home: "native",
    keys: KEYS,
    text: TEXT,
    is_brief: true,
    brief_orders: 0,
    has_intervals: false,
    sentence: Some(figure::sentence),
    ask: ModelsConfig::new,
};

const KEYS: &[Key] = keys![
    "n" [1, 1 << 24]
        "iterations of the loop [4096, as in Shuai's paper]",
    "sizes" [1, 1 << 20]
        "bytes that an iteration reads (or writes) while it writes (or reads) 1024, a list [2^6, 2^10, \
         2^12; --full: 2^6, 2^8 .. 2^16]",
    .. RUNS, SECONDS, PIN
];

const TEXT: Text = Text {
    title: "Cost models",
    lead: "How many iterations of a parallel loop should a thread take at a time? A cost model computes \
     this number from the machine's prices and the loop's work. Here several models run the same loops, \
     and so does adaptive, manycore's default, which gets no prices. The loops and the published model \
     are those of a paper by R. Shuai (2021), called the document below.",
    how: &[
        "All loops run the document's unit task. The policies are: published, the document's \
         formula; refitted, a formula of the same form, fitted to the document's table of \
         preferred blocks; ours, the balance of the prices that `manycore machine` measures, \
         times a power of an iteration's bytes; prices-alone, manycore's `fixed-block`, which \
         gets those prices and measures the time of an iteration itself; adaptive, the default, \
         which gets no prices; document, the document's formula in the document's own pool \
         (simulated only). Natively each run has a pool of its own. It runs one loop to warm up, \
         and then five loops. The median of the five counts. Each simulation runs one loop under \
         one policy. While the pool starts its threads, it repeats the loop until two runs in a \
         row are not 5% faster than all runs before. Then it runs the loop nine times. The median \
         of the nine counts.",
        "\"taskflow-rule\" is the rule that the document ascribes to the library Taskflow, run in manycore's \
     pool: a claim by one of T threads takes 1/(2T) of the remaining iterations, or one if fewer than 4T \
     remain. On simulated machines two hardware threads of a core do not slow each other.",
        "The columns \"printed\" have the latencies in the document, read as nanoseconds: of \
     Taskflow, and of the document's pool with its formula. They compare two runtimes, not two \
     rules: Taskflow has a pool of its own, which is not built here. Two latencies of the \
     Threadripper 3970X are misprints: 34500 ns for 1024 additions is a tenth of its neighbours, \
     and 5496700 ns for 1024^5 is ten times its neighbours.",
    ],
};

/// The figure's caption.
const FIGURE: &str = "Latency of one loop of unit tasks under each policy: medians, with bars from the 10th \
     to the 90th percentile if there are several runs. A policy picks how many iterations a \
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
