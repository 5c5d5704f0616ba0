//! What was found, in a sentence.

use super::policy::ModelPolicy;
use super::results::{ModelResults, middle};

/// For who has not read the document.
pub(super) const LEAD: &str = "How many iterations of a parallel loop should a thread take at a time? A cost model computes \
     it from what the machine charges and what the loop does. Here several models, and adaptive, \
     manycore's default, which is told nothing, run the same loops. The loops and the published \
     model are those of a paper by R. Shuai (2021), which is called the document below.";

/// A policy in a sentence, for who has not seen the tables.
fn said(policy: ModelPolicy) -> &'static str {
    match policy {
        ModelPolicy::Document => "a paper's formula in the paper's pool (document)",
        ModelPolicy::Published => "a paper's formula (published)",
        ModelPolicy::Refitted => "a paper's formula, fitted anew (refitted)",
        ModelPolicy::Ours => "manycore's, which knows the bytes (ours)",
        ModelPolicy::PricesAlone => "manycore's, which knows prices alone (prices-alone)",
        ModelPolicy::TaskflowRule => "the rule of Taskflow, a library (taskflow-rule)",
        ModelPolicy::Adaptive => "manycore's default (adaptive)",
    }
}

/// The title of the figure.
pub(super) fn message(results: &ModelResults<'_>) -> String {
    let mean = |policy| middle(&results.ratios(policy)).map(|[mean, ..]| mean);
    let told_nothing = mean(ModelPolicy::Adaptive);
    let models = results
        .ours()
        .filter(|&policy| policy != ModelPolicy::Adaptive);
    let best = models
        .filter_map(|policy| Some((mean(policy)?, policy)))
        .min_by(|a, b| a.0.total_cmp(&b.0));
    match (told_nothing, best) {
        (Some(told_nothing), Some((best, policy))) => format!(
            "Told nothing, manycore's default (adaptive) takes {told_nothing:.2} times the best \
             latency of each loop, in the mean; the best model, {}, {best:.2}",
            said(policy)
        ),
        (Some(mean), None) | (None, Some((mean, _))) => {
            format!("{mean:.2} times the best latency of each loop, in the mean")
        }
        (None, None) => "No loop was measured".into(),
    }
}
