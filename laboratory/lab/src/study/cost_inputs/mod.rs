//! The value of CPU frequency and cache latencies as inputs of a cost model, which R. Shuai's paper (2021; "the
//! document" in this folder) leaves as future work.

mod case;
mod cell;
mod config;
mod fit;
mod results;
mod rows;
mod tables;
mod virtual_machine;

use super::Study;
use super::settings::{Key, keys};
use super::trial::{Answer, Inquiry, Results, Setup, Text, Trials};
use crate::report::csv;
use case::InputsCase;
use cell::InputsCell;
use config::InputsConfig;
use results::InputsResults;
use rows::InputsRow;

pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "cost-inputs",
    question: "what CPU frequency and cache latencies are worth as inputs of a cost model",
    home: "gold5225r",
    keys: KEYS,
    text: TEXT,
    is_brief: false,
    brief_orders: 0,
    sentence: None,
    ask: InputsConfig::new,
};

const KEYS: &[Key] = keys![
    "machines" [2, 1000]
        "virtual machines to draw [24; --full: 200]",
    "loops" [1, 16]
        "loops to draw for each machine [3]",
    "n" [64, 1 << 16]
        "iterations of each loop [4096, the document's]",
];

const TEXT: Text = Text {
    title: "Inputs of a cost model",
    lead: "A cost model picks how many iterations of a parallel loop a thread claims at a time. That of a paper by \
     R. Shuai (2021), called the document below, knows threads, core groups and the bytes of an iteration. \
     The paper leaves open what the processor's frequency and its cache latencies would add. Here they are \
     added, on virtual machines that differ in them.",
    how: &[
        "Each virtual machine is the machine of --on with other cores (2 to 64 in 1, 2 or 4 core groups), another \
     clock (1 to 5 GHz), and other times for its last-level cache, for a line in another core's cache, for the way \
     between core groups, and for memory. --seed decides what is drawn. Private caches and atomics keep their \
     cycles, the operating system keeps its times. Each loop has drawn threads and drawn bytes read and \
     written, 64 to 4096; it runs in the document's pool with blocks of 1, 2, 4, ..., 512.",
        "A model's regret is the latency of its block over the loop's least latency, minus one. A model is \
     fitted to nine tenths of the machines and judged on the rest, for each tenth. The fit is to the logarithm of the \
     best block; blocks within 2% of the least latency count as equally good. An interval is Student's, over \
     machines; a change is paired by machine.",
        "The forms are the document's (a linear function of the core groups over a linear function of all else), \
     a product of powers of the inputs, and the balance of prices that are measured on each machine (`manycore \
     machine`), times a power of the bytes. The frequency is in GHz. Cache latencies are three times in ns, as a \
     data sheet has them: of the last level, of a line in another core, and of a line in another core group.",
    ],
};

/// The figure's caption.
const FIGURE: &str = "Dots are means over machines, with intervals of 95%. Further left is better.";

impl Trials for InputsConfig {
    type Trial = InputsCase;
    type Row = InputsRow;

    fn setup(&self) -> &Setup {
        &self.setup
    }

    fn trials(&self) -> Vec<InputsCase> {
        self.cases()
    }

    fn answer(of: Results<'_, Self>) -> anyhow::Result<Answer<InputsRow>> {
        let results = InputsResults::new(InputsCell::all(of));
        let figure = tables::figure(&results, &of.config.setup.place());
        let table = tables::regrets(&results);
        let mut answer = Answer::new(figure, FIGURE, vec![table], rows::rows(&results));
        let models = csv::text(&rows::models(&results))?;
        answer.extra.more.push(("models.csv", models));
        Ok(answer)
    }
}
