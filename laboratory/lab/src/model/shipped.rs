//! The files that the program carries with it.

use super::data::Source;

/// Latency by block size: what `ours` is fitted to.
pub(super) fn latency() -> Source {
    Source::shipped(
        "faa_block_size_latency.csv",
        include_str!("../../data/faa_block_size_latency.csv"),
    )
}

/// Blocks that the document prefers and infers.
pub(super) fn inference() -> Source {
    Source::shipped(
        "cost_model_published_inference.csv",
        include_str!("../../data/cost_model_published_inference.csv"),
    )
}

/// Latency under Taskflow.
pub(super) fn taskflow() -> Source {
    Source::shipped(
        "taskflow_vs_cost_model.csv",
        include_str!("../../data/taskflow_vs_cost_model.csv"),
    )
}

/// The prices that `ours` predicts with.
pub(super) const PRICES: &str = include_str!("../../data/ours.json");
