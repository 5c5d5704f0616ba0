//! What the numbers mean, in words.

use super::config::ModelsConfig;
use super::policy::ModelPolicy;
use super::results::{ModelResults, middle};
use std::fmt::Write as _;

/// Under the figure.
pub(super) const FIGURE: &str = "Latency of one loop of unit tasks under each policy: medians, with bars from the 10th \
     to the 90th percentile where there are several runs. A policy picks how many iterations a \
     thread takes at a time.";

/// After the tables.
pub(super) const RULE: &str = "\"taskflow-rule\" is the rule that the document ascribes to the library Taskflow, in our pool: a \
     claim by one of T threads takes 1/2T of what is left, and one iteration when less than 4T are. On \
     simulated machines two hardware threads of a core do not slow each other.";

/// After the tables, if they have columns of the document's.
pub(super) const PRINTED: &str = "The last two columns of the first tables are the document's own: Taskflow, and the \
     document's pool with the document's formula, read as nanoseconds. The document compares two \
     runtimes there, not two rules: Taskflow's library has another pool, which is not built here. Two \
     latencies that it prints of the Threadripper 3970X are slips: 34500 ns for 1024 additions is a \
     tenth of its neighbours, and 5496700 ns for 1024^5 is ten times its neighbours.";

/// What was measured and how.
pub(super) fn what(config: &ModelsConfig) -> String {
    let runs = match config.setup.machines.is_host() {
        true => "Each run is the median of five loops, after one for warmth, in a pool of its own.",
        false => {
            "Each loop is simulated by itself: until two in a row are not 5% faster than all \
             before (the pool starts its threads meanwhile), then nine times, whose median counts."
        }
    };
    let document = match config.policies.contains(&ModelPolicy::Document) {
        true => "\"document\" is the document's own pool with its formula, simulated only. ",
        false => "",
    };
    format!(
        "Loops of the document's unit task on {} threads ({}). published: the document's formula; \
         refitted: its form, fitted anew to the document's table of preferred blocks; ours: the \
         balance of prices that `manycore machine` measures, times a power of an iteration's bytes; \
         prices-alone: our pool's `fixed-block`, which is told those prices and times the \
         iterations itself; adaptive: the default, which is told nothing. {document}{runs}",
        config.threads,
        config.setup.place(),
    )
}

/// For a reader of nothing else.
pub(super) fn summary(results: &ModelResults<'_>) -> String {
    let mut text = String::from("over the best policy of our pool, geometric mean (worst):\n  ");
    let all = results.config.policies.iter().filter_map(|&policy| {
        let [mean, _, worst] = middle(&results.ratios(policy))?;
        Some(format!("{policy} {mean:.3} ({worst:.2})"))
    });
    text += &all.collect::<Vec<_>>().join(", ");
    text.push('\n');
    if let Some([theirs, ours]) = results.taskflow_over_model() {
        let _ = writeln!(
            text,
            "the document's Taskflow over its cost model: {theirs:.2} as printed; Taskflow's rule \
             over the published\n  formula, both in our pool: {ours:.2}"
        );
    }
    text
}
