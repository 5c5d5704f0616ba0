//! What the numbers mean, in words.

use super::case::EDGE_FACTOR;
use super::results::GraphResults;
use super::search::BATCHES;

/// Under the figure.
pub(super) const FIGURE: &str = "Time from the first rank's begin to the last one's end: medians, with bars from the 10th to \
     the 90th percentile of runs, of which a simulation needs one.";

/// What was measured and how.
pub(super) fn what(results: GraphResults<'_>) -> String {
    let setup = &results.config.setup;
    let place = match setup.chip() {
        Some(_) => format!(
            "One rank is bound to each core of a simulated machine ({}; seed {}).",
            setup.machine, setup.seed
        ),
        None => format!(
            "Ranks are threads of this machine ({}); each round runs all in shuffled order (seed {}).",
            setup.machine, setup.seed
        ),
    };
    format!(
        "An R-MAT graph with the chances of Graph500 and {EDGE_FACTOR} edges a vertex is searched \
         frontier by frontier. A task is a vertex and up to 64 of its edges; a rank puts the \
         vertices that it has found into its own pile, and the discipline spreads them. Between \
         frontiers the ranks meet at a dissemination barrier. For the triangles the graph is \
         dynamic: in each of {BATCHES} batches a sixteenth of its edges goes and as many others \
         come, and the number of triangles is kept up to date. There a task is such an edge, and \
         each rank begins with its part of them. {place} Every tree is checked by \
         the rules of Graph500, every label against a sequential union of sets, the number of \
         triangles against the last graph's."
    )
}

/// For a reader of nothing else: who is best.
pub(super) fn summary(results: GraphResults<'_>) -> String {
    let config = results.config;
    let mut text = String::new();
    for (program, scale) in config.loads() {
        let best = config.cores.iter().filter_map(|&cores| {
            let (name, ahead) = results.best((program, scale), cores)?;
            Some(format!(
                "{name} on {cores} cores (the next takes {ahead:.2} of its time)"
            ))
        });
        let best: Vec<String> = best.collect();
        text += &format!(
            "fastest, {program}, 2^{scale} vertices: {}\n",
            best.join(", ")
        );
    }
    text
}
