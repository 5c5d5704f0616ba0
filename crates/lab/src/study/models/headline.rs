//! What was found, in a sentence.

use super::policy::ModelPolicy;
use super::results::{ModelResults, middle};

/// For who has not read the document.
pub(super) const LEAD: &str = "How many iterations of a parallel loop should a thread take at a time? A cost model computes \
     it from what the machine charges and what the loop does. Here several models, and adaptive, \
     manycore's default, which is told nothing, run the same loops. The loops and the published \
     model are those of a paper by R. Shuai (2021), which is called the document below.";

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
            "Told nothing, {} takes {told_nothing:.2} times the best latency of each loop; the best \
             model, {policy}, {best:.2}",
            ModelPolicy::Adaptive
        ),
        (Some(mean), None) | (None, Some((mean, _))) => {
            format!("{mean:.2} times the best latency of each loop, in the mean")
        }
        (None, None) => "No loop was measured".into(),
    }
}
