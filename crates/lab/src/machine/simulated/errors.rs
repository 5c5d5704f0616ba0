//! How far a simulated machine is from what was published of the real one, row by row and in
//! sum.

use super::SimulatedReport;
use super::published::{Compared, Errors};
use serde::Serialize;

/// The errors of one machine.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PresetErrors {
    pub(crate) preset: String,
    /// The hash of the event streams of all simulations.
    pub(crate) hash: String,
    /// Over rows that values of the machine were chosen by.
    pub(crate) fitted: Option<Errors>,
    /// Over the others.
    pub(crate) unseen: Option<Errors>,
    /// The worst of the others.
    pub(crate) worst: Option<Row>,
}

/// A published number and what the simulated machine does.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) what: String,
    #[serde(flatten)]
    pub(crate) compared: Compared,
}

impl SimulatedReport {
    /// All that was measured, each with what it is, beside the published.
    pub(super) fn compared(&self) -> Vec<(String, &Compared)> {
        let local = self.local.iter();
        let local = local.map(|cost| (format!("load {}", cost.level), &cost.cycles));
        let latencies = self.latencies.iter().map(|cost| {
            let (operation, state) = (cost.operation.name(), cost.state.name());
            (
                format!("{operation} {state}, {}", cost.distance),
                &cost.cycles,
            )
        });
        let contended = self.contended.iter().map(|cost| {
            let (operation, threads) = (cost.operation.name(), cost.threads);
            (
                format!("counter by {operation}, {threads} threads"),
                &cost.ns,
            )
        });
        let handovers = self.handovers.iter();
        let handovers = handovers.map(|cost| (format!("handover, {}", cost.distance), &cost.ns));
        let bandwidths = self.bandwidths.iter().map(|cost| {
            let (kernel, cores) = (cost.kernel.name(), cost.cores);
            (format!("{kernel}, {cores} cores"), &cost.gb_per_s)
        });
        let rows = local.chain(latencies).chain(contended);
        rows.chain(handovers).chain(bandwidths).collect()
    }
}

impl PresetErrors {
    pub(crate) fn of(report: &SimulatedReport) -> Self {
        let (mut fitted, mut unseen) = (Vec::new(), Vec::new());
        for (what, &compared) in report.compared() {
            match compared.fitted {
                Some(true) => fitted.push(compared),
                Some(false) => unseen.push(Row { what, compared }),
                None => {}
            }
        }
        let size = |row: &Row| row.compared.error.map_or(0.0, f64::abs);
        Self {
            preset: report.preset.clone(),
            hash: report.hash.clone(),
            fitted: Errors::of(fitted.iter()),
            unseen: Errors::of(unseen.iter().map(|row| &row.compared)),
            worst: unseen
                .into_iter()
                .max_by(|one, next| size(one).total_cmp(&size(next))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::simulated::measure;
    use manycore_chip::config::Config;

    #[test]
    fn each_published_row_counts_once_and_the_worst_is_named() {
        let config = Config::preset("skylake-6700hq").unwrap();
        let report = measure(&config, &[], &mut |_| ()).unwrap();
        let errors = PresetErrors::of(&report);
        // Counters by 1, 2 and 4 threads were fitted, those by 3 were not.
        let [fitted, unseen] = [errors.fitted, errors.unseen].map(Option::unwrap);
        assert_eq!((fitted.compared, unseen.compared), (6, 2));
        assert_eq!(errors.unseen, report.unseen_errors);
        let worst = errors.worst.unwrap();
        assert!(worst.what.ends_with("3 threads"), "{worst:?}");
        assert_eq!(worst.compared.error.unwrap().abs(), unseen.worst);
        assert_eq!((errors.preset, errors.hash), (config.name, report.hash));
    }
}
