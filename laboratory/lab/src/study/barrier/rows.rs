//! The rows of `barrier.csv`.

use crate::report::csv::columns;
use crate::study::team::{Arrivals, PointSummary};
use crate::study::trial::Setup;
use crate::study::unit::Unit;

columns! {
    /// All runs of a point.
    pub(super) BarrierRow(setup: &Setup, summary: &PointSummary, of: Arrivals) {
        world: &'static str = setup.world,
        machine: String = setup.machines.name(summary.point.machine),
        cores: usize = summary.point.cores,
        barrier: String = summary.point.barrier.clone(),
        episodes: usize = summary.episodes,
        /// The time of a loop, divided by its number of episodes (waits of the team), in `unit`. Empty for single
        /// episodes.
        episode_median: Option<f64> = in_a_loop(of, summary.a_wait().median),
        exit_latency_median: f64 = setup.unit().round(summary.exit.median),
        unit: Unit = setup.unit(),
        arrivals: &'static str = of.name(),
        exit_latency_p10: f64 = setup.unit().round(summary.exit.p10),
        exit_latency_p90: f64 = setup.unit().round(summary.exit.p90),
        episode_p10: Option<f64> = in_a_loop(of, summary.a_wait().p10),
        episode_p90: Option<f64> = in_a_loop(of, summary.a_wait().p90),
        runs: usize = summary.runs,
        /// Messages of the broadcast network, counted at the receivers.
        messages_an_episode: f64 = thousandths(summary.messages_an_episode()),
        /// Changes to the machine, as for `--set`.
        settings: String = summary.point.settings.join(" "),
    }
}

fn in_a_loop(arrivals: Arrivals, time: f64) -> Option<f64> {
    let is_loop = matches!(arrivals, Arrivals::Loop | Arrivals::After(_));
    is_loop.then(|| thousandths(time))
}

/// Rounds to thousandths, the precision of a mean of 1,000 episodes.
fn thousandths(number: f64) -> f64 {
    (1e3 * number).round() / 1e3
}
