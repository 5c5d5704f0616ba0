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
    question: "whether CPU frequency and cache latencies improve a cost model",
    home: "gold5225r",
    keys: KEYS,
    text: TEXT,
    is_brief: false,
    brief_orders: 0,
    has_intervals: false,
    sentence: None,
    ask: InputsConfig::new,
};

const KEYS: &[Key] = keys![
    "machines" [2, 1000]
        "virtual machines to draw [24; --full: 200]",
    "loops" [1, 16]
        "loops to draw for each machine [3]",
    "n" [64, 1 << 16]
        "iterations of each loop [4096, as in Shuai's paper]",
];

const TEXT: Text = Text {
    title: "Inputs of a cost model",
    lead: "A cost model picks how many iterations of a parallel loop a thread claims at a time. The cost model \
     of a paper by R. Shuai (2021; called the document below) computes this number from the number of threads, \
     the number of core groups and the bytes of an iteration. The paper leaves open whether the processor's \
     frequency and its cache latencies would improve the model. This study gives them to the model, on virtual \
     machines that differ in them.",
    how: &[
        "Each virtual machine is a copy of the machine of --on with other values, which --seed decides: 2 to 64 cores \
     in 1, 2 or 4 core groups, a clock of 1 to 5 GHz, and the times of the last-level cache, of a line in another \
     core's cache, of the way between core groups, and of memory. Private caches and atomics take the same cycles as \
     in the copied machine. The operating system takes the same times. Each loop has a drawn number of threads, and \
     drawn numbers of bytes read and written, 64 to 4096. It runs in the document's pool with blocks of 1, 2, 4, ..., \
     512.",
        "The regret of a model is the latency with the model's block divided by the loop's least \
     latency, minus one. A model is fitted to nine tenths of the machines and judged on the last \
     tenth, once for each tenth. It is fitted to the logarithm of the best block; blocks within \
     2% of the least latency count as equally good. Intervals are Student's intervals of means \
     over machines. A change is computed for each machine, before the mean.",
        "There are three forms. The document's form is a linear function of the core groups \
     divided by a linear function of all other inputs. The second form is a product of powers of \
     the inputs. The third form starts from prices that are measured on each machine (`manycore \
     machine`), and multiplies their block by a power of the bytes. The frequency is in GHz. The \
     cache latencies are three times in ns, as in data sheets: the latency of the last-level \
     cache, of a line in another core's cache, and of a line in another core group.",
    ],
};

/// The figure's caption.
const FIGURE: &str = "Dots are means over machines, with 95% intervals. Further left is better.";

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
