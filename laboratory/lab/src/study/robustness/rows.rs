//! The numbers, one observation a row.

use super::config::{Contestants, DOUBLES, Parameter, RobustnessConfig};
use crate::study::team::{CHANNEL, PointSummary, Race, TeamMeasured};
use crate::study::unit::Unit;
use serde::Serialize;

/// An application with one value changed, or with another barrier: a line of
/// `robustness.csv`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct RobustnessRow {
    world: &'static str,
    machine: String,
    cores: usize,
    app: &'static str,
    /// What is changed; `slow-receivers`: the check, so that a wait takes as long as the thesis's
    /// "just doubles" needs, and the transport; `none` with barriers to compare with.
    parameter: &'static str,
    value: Option<u64>,
    total_cycles: f64,
    barrier: String,
    exit_latency_median: f64,
    episodes: usize,
    unit: Unit,
    output_hash: Option<String>,
}

/// Every sweep with the machine's own value, and every other barrier.
pub(super) fn rows(config: &RobustnessConfig, measured: &TeamMeasured) -> Vec<RobustnessRow> {
    let mut rows = Vec::new();
    for contest in config.contests() {
        let race = Race {
            config: &contest,
            measured,
        };
        for sweep in &config.sweeps {
            for &value in contest.values(sweep) {
                let point = contest.swept(sweep.parameter, value);
                let name = sweep.parameter.name();
                rows.extend(
                    measured
                        .of(&point)
                        .map(|at| row(contest, name, Some(value), at)),
                );
            }
        }
        let own = race
            .optical()
            .map(|optical| Parameter::Transport.of(optical));
        for (far, transport) in [(false, own), (true, Some(DOUBLES))] {
            let slow = measured.of(&contest.slow_receivers(far));
            rows.extend(slow.map(|at| row(contest, "slow-receivers", transport, at)));
        }
        let others = config.barriers.iter().filter(|name| *name != CHANNEL);
        let others = others.filter_map(|name| race.of(0, config.cores, name));
        rows.extend(others.map(|other| row(contest, "none", None, other)));
    }
    rows
}

fn row(
    contest: Contestants<'_>,
    parameter: &'static str,
    value: Option<u64>,
    summary: &PointSummary,
) -> RobustnessRow {
    let setup = &contest.config.setup;
    RobustnessRow {
        world: setup.world,
        machine: setup.machine.clone(),
        cores: contest.config.cores,
        app: contest.app.name(),
        parameter,
        value,
        total_cycles: summary.total.median,
        barrier: summary.point.barrier.clone(),
        exit_latency_median: summary.exit.median,
        episodes: summary.episodes,
        unit: setup.unit(),
        output_hash: summary.output.clone(),
    }
}
