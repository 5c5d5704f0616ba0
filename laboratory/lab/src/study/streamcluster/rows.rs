//! The rows of `streamcluster.csv`.

use crate::report::csv::columns;
use crate::study::team::PointSummary;
use crate::study::trial::Setup;
use crate::study::unit::Unit;
use manycore_programs::spmd::StreamclusterInput;

columns! {
    /// A barrier at an input.
    pub(super) StreamclusterRow(setup: &Setup, summary: &PointSummary, of: StreamclusterInput) {
        world: &'static str = setup.world,
        machine: String = setup.machines.name(summary.point.machine),
        cores: usize = summary.point.cores,
        barrier: String = summary.point.barrier.clone(),
        input: StreamclusterInput = of,
        /// Time in `unit`.
        total_cycles: f64 = setup.unit().round(summary.total.median),
        exit_latency_median: f64 = setup.unit().round(summary.exit.median),
        /// The hash of the verified answer, which all barriers and cores share.
        output_hash: Option<String> = summary.output.clone(),
        unit: Unit = setup.unit(),
        /// Waits of each member.
        episodes: usize = summary.episodes,
        exit_latency_p10: f64 = setup.unit().round(summary.exit.p10),
        exit_latency_p90: f64 = setup.unit().round(summary.exit.p90),
        total_p10: f64 = setup.unit().round(summary.total.p10),
        total_p90: f64 = setup.unit().round(summary.total.p90),
        runs: usize = summary.runs,
        messages: u64 = summary.messages,
    }
}
