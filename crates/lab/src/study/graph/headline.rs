//! What a reader shall know first.

use super::results::GraphResults;
use crate::report::words;

/// The figure's title: who is fastest on most cores.
pub(super) fn message(results: GraphResults<'_>) -> String {
    let Some(&cores) = results.config.cores.last() else {
        return "How fast a graph is searched".into();
    };
    let best = results.config.loads().filter_map(|load| {
        let (name, ahead) = results.best(load, cores)?;
        let (program, scale) = load;
        Some(format!(
            "{name} in {program} of 2^{scale} vertices (the next takes {ahead:.2} times as long)"
        ))
    });
    let best: Vec<String> = best.collect();
    format!("Fastest on {cores} cores: {}", words::list(&best))
}

/// The section's first sentences.
pub(super) const LEAD: &str = "A search of a graph makes its tasks while it runs: few at first, then very many, on the core \
     that finds them. So it shows how well idle cores take tasks from busy ones, by the ways of the \
     section on work stealing.";
