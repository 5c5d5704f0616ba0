//! The numbers, one observation a row.

use crate::report::csv::columns;
use crate::study::team::{Arrivals, PointSummary};
use crate::study::trial::Setup;
use crate::study::unit::Unit;

columns! {
    /// A loop: a line of `barrier.csv`.
    pub(super) BarrierRow(setup: &Setup, summary: &PointSummary, of: Arrivals) {
        world: &'static str = setup.world,
        machine: String = setup.machines.name(summary.point.machine),
        cores: usize = summary.point.cores,
        barrier: String = summary.point.barrier.clone(),
        episodes: usize = summary.episodes,
        /// Time of all episodes together, in `unit`.
        total_cycles: f64 = setup.unit().round(summary.total.median),
        exit_latency_median: f64 = setup.unit().round(summary.exit.median),
        unit: Unit = setup.unit(),
        /// In a loop, together or apart.
        arrivals: &'static str = of.name(),
        exit_latency_p10: f64 = setup.unit().round(summary.exit.p10),
        exit_latency_p90: f64 = setup.unit().round(summary.exit.p90),
        total_p10: f64 = setup.unit().round(summary.total.p10),
        total_p90: f64 = setup.unit().round(summary.total.p90),
        runs: usize = summary.runs,
        /// Messages of the broadcast network, the waits for warmth included.
        messages: u64 = summary.messages,
        /// Changes to the machine.
        settings: String = summary.point.settings.join(" "),
    }
}
