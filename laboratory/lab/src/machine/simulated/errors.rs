//! The errors of simulated machines, relative to published measurements of the real machines, for each row and overall.

use super::plan::{self, Hashed};
use super::published::{Compared, Errors};
use super::{SimulatedReport, increments};
use manycore_chip::config::Config;
use serde::Serialize;

/// The errors of one machine.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PresetErrors {
    pub(crate) preset: String,
    /// The hash of the event streams of all simulations.
    pub(crate) hash: String,
    /// The errors over the rows to which values of the machine were fitted.
    pub(crate) fitted: Option<Errors>,
    /// The errors over the other rows.
    pub(crate) unseen: Option<Errors>,
    /// The row with the worst error among the other rows.
    pub(crate) worst: Option<Row>,
    /// All rows with a published number.
    pub(crate) rows: Vec<Row>,
}

/// A simulated number, and the published number if there is one.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) unit: &'static str,
    #[serde(flatten)]
    pub(crate) compared: Compared,
}

impl Row {
    fn new(what: String, unit: &'static str, compared: Compared) -> Self {
        Self {
            what,
            unit,
            compared,
        }
    }

    /// The error relative to the published number, without its sign.
    pub(crate) fn size(&self) -> f64 {
        self.compared.error.map_or(0.0, f64::abs)
    }
}

impl SimulatedReport {
    /// All measured rows.
    pub(super) fn compared(&self) -> Vec<Row> {
        let local = self.local.iter();
        let local =
            local.map(|cost| Row::new(format!("load {}", cost.level), "cycles", cost.cycles));
        let latencies = self.latencies.iter().map(|cost| {
            let (operation, state) = (cost.operation.name(), cost.state.name());
            let what = format!("{operation} {state}, {}", cost.distance);
            Row::new(what, "cycles", cost.cycles)
        });
        let contended = self.contended.iter().map(|cost| {
            let (operation, threads) = (cost.operation.name(), cost.threads);
            Row::new(
                format!("counter by {operation}, {threads} threads"),
                "ns",
                cost.ns,
            )
        });
        let handovers = self.handovers.iter();
        let handovers =
            handovers.map(|cost| Row::new(format!("handover, {}", cost.distance), "ns", cost.ns));
        let bandwidths = self.bandwidths.iter().map(|cost| {
            let (kernel, cores) = (cost.kernel.name(), cost.cores);
            Row::new(format!("{kernel}, {cores} cores"), "GB/s", cost.gb_per_s)
        });
        let programs = self.programs.iter();
        let programs = programs
            .map(|cost| Row::new(format!("{}, {}", cost.program, cost.place), "ns", cost.ns));
        let rows = local.chain(latencies).chain(contended);
        let rows = rows.chain(handovers).chain(bandwidths);
        rows.chain(programs).collect()
    }
}

impl PresetErrors {
    /// Simulates the published measurements of each machine, all side by side. `progress` gets the name of each
    /// simulation that begins.
    ///
    /// # Errors
    ///
    /// The error of a simulation.
    pub(crate) fn measure(
        configs: &[Config],
        progress: &mut (dyn FnMut(&str) + Send),
    ) -> anyhow::Result<Vec<Self>> {
        let published = |config| {
            let all = plan::of(config, &[], &increments(config, &[])).into_iter();
            let published = all.filter(|one| one.is_published(config));
            published.map(move |one| (config, one)).collect::<Vec<_>>()
        };
        let plans: Vec<_> = configs.iter().map(published).collect();
        let mut found = plan::simulate(&plans.concat(), progress)?.into_iter();
        let errors = |(config, plan): (_, &Vec<_>)| {
            let found: Vec<Hashed> = found.by_ref().take(plan.len()).collect();
            Self::of(&SimulatedReport::of(config, found, Vec::new()))
        };
        Ok(configs.iter().zip(&plans).map(errors).collect())
    }

    fn of(report: &SimulatedReport) -> Self {
        let mut rows = report.compared();
        rows.retain(|row| row.compared.fitted.is_some());
        let of = |is_unseen: bool| {
            let rows = rows.iter().map(|row| &row.compared);
            Errors::of(rows.filter(|one| one.is_unseen() == is_unseen))
        };
        let unseen = rows.iter().filter(|row| row.compared.is_unseen());
        let worst = unseen.max_by(|one, next| one.size().total_cmp(&next.size()));
        Self {
            preset: report.preset.clone(),
            hash: report.hash.clone(),
            fitted: of(false),
            unseen: of(true),
            worst: worst.cloned(),
            rows,
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
        // The counters of 1, 2 and 4 threads were fitted, but not those of 3 threads.
        let [fitted, unseen] = [errors.fitted, errors.unseen].map(Option::unwrap);
        assert_eq!((fitted.compared, unseen.compared), (6, 2));
        assert_eq!(errors.unseen, report.unseen_errors);
        let worst = errors.worst.unwrap();
        assert!(worst.what.ends_with("3 threads"), "{worst:?}");
        assert_eq!(worst.compared.error.unwrap().abs(), unseen.worst);
        let rows = errors.rows.iter().filter(|row| row.size() == unseen.worst);
        assert_eq!((errors.rows.len(), rows.count()), (8, 1));
        assert_eq!((errors.preset, errors.hash), (config.name, report.hash));
    }

    #[test]
    fn what_was_published_is_measured_alone_and_is_the_same_as_in_the_report() {
        let configs = ["skylake-6700hq", "atac-64", "w3225r"];
        let configs = configs.map(|name| Config::preset(name).unwrap());
        let all = PresetErrors::measure(&configs, &mut |_| ()).unwrap();
        for (config, errors) in configs.iter().zip(all) {
            let report = measure(config, &[], &mut |_| ()).unwrap();
            let whole = PresetErrors::of(&report);
            let rows = |one: &PresetErrors| serde_json::to_string(&one.rows).unwrap();
            assert_eq!(rows(&errors), rows(&whole), "{}", config.name);
            assert_eq!(errors.unseen, whole.unseen);
            // No machine has published loops or wake-ups.
            assert_ne!(errors.hash, whole.hash);
        }
    }
}
