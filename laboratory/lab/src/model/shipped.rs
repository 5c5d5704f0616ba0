//! The files that are part of the program.

use super::data::Source;

/// Latencies by block size, the data for the fit of `ours`.
pub(super) fn latency() -> Source {
    Source::shipped(
        "faa_block_size_latency.csv",
        include_str!("../../data/faa_block_size_latency.csv"),
    )
}

/// The blocks that the document (Shuai's paper) prefers and infers.
pub(super) fn inference() -> Source {
    Source::shipped(
        "cost_model_published_inference.csv",
        include_str!("../../data/cost_model_published_inference.csv"),
    )
}

/// Latencies with Taskflow.
pub(super) fn taskflow() -> Source {
    Source::shipped(
        "taskflow_vs_cost_model.csv",
        include_str!("../../data/taskflow_vs_cost_model.csv"),
    )
}

/// The prices for the predictions of `ours`.
pub(super) const PRICES: &str = include_str!("../../data/ours.json");
