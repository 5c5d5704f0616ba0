//! The rows of `robustness.csv`.

use super::config::{App, Contestants, DOUBLES, Parameter, RobustnessConfig};
use crate::report::csv::columns;
use crate::study::team::{CHANNEL, PointSummary, Race, TeamMeasured};
use crate::study::unit::Unit;

columns! {
    /// An application with one value changed, or with another barrier.
    pub(super) RobustnessRow(
        contest: Contestants<'_>,
        changed: &'static str,
        to: Option<u64>,
        summary: &PointSummary,
    ) {
        world: &'static str = contest.config.setup.world,
        machine: String = contest.config.setup.machine.clone(),
        cores: usize = contest.config.cores,
        app: App = contest.app,
        /// The changed parameter. `slow-receivers` changes the transport and also the receivers' check, to test the
        /// claim "just doubles" of the thesis (Park 2013). Rows of other barriers have `none`.
        parameter: &'static str = changed,
        value: Option<u64> = to,
        total_cycles: f64 = summary.total.median,
        barrier: String = summary.point.barrier.clone(),
        exit_latency_median: f64 = summary.exit.median,
        episodes: usize = summary.episodes,
        unit: Unit = contest.config.setup.unit(),
        output_hash: Option<String> = summary.output.clone(),
    }
}

pub(super) fn rows(config: &RobustnessConfig, measured: &TeamMeasured) -> Vec<RobustnessRow> {
    let mut rows = Vec::new();
    for contest in config.contests() {
        let race = Race {
            config: &contest,
            measured,
        };
        let row = |changed, to, at| RobustnessRow::new(contest, changed, to, at);
        for sweep in &config.sweeps {
            for &value in contest.values(sweep) {
                let point = contest.swept(sweep.parameter, value);
                let name = sweep.parameter.name();
                let found = measured.of(&point);
                rows.extend(found.map(|at| row(name, Some(value), at)));
            }
        }
        let own = race
            .optical()
            .map(|optical| Parameter::Transport.of(optical));
        for (far, transport) in [(false, own), (true, Some(DOUBLES))] {
            let slow = measured.of(&contest.slow_receivers(far));
            rows.extend(slow.map(|at| row("slow-receivers", transport, at)));
        }
        let others = config.barriers.iter().filter(|name| *name != CHANNEL);
        let others = others.filter_map(|name| race.of(0, config.cores, name));
        rows.extend(others.map(|other| row("none", None, other)));
    }
    rows
}
