//! The measurements, in medians.

use super::case::{StealingCase, StealingSample};
use super::config::StealingConfig;
use crate::measure::statistics::Spread;
use crate::study::trial::{Results, Runs};
use manycore_programs::stealing::Distribution;

/// The study's numbers, to be asked.
pub(super) type StealingResults<'a> = Results<'a, StealingConfig>;

impl<'a> StealingResults<'a> {
    /// A case's runs.
    fn runs(
        self,
        (cores, cycles): (usize, u64),
        distribution: Distribution,
        discipline: &str,
    ) -> Option<&'a Runs<StealingCase>> {
        self.of(&self.config.case(cores, cycles, distribution, discipline))
    }

    /// The makespan over the ideal one where workers answer within tasks as well.
    pub(super) fn answering(self, distribution: Distribution, discipline: &str) -> Option<f64> {
        let runs = self.of(&self.config.answering(distribution, discipline))?;
        Some(runs.median(|run| run.makespan) / runs.trial.ideal())
    }

    /// The makespan over the ideal one.
    pub(super) fn stretch(
        self,
        at: (usize, u64),
        distribution: Distribution,
        discipline: &str,
    ) -> Option<Spread> {
        let runs = self.runs(at, distribution, discipline)?;
        let makespan = runs.spread(|run| run.makespan);
        Some(makespan.map(|makespan| makespan / runs.trial.ideal()))
    }

    /// A count of a run, the median.
    pub(super) fn count(
        self,
        at: (usize, u64),
        distribution: Distribution,
        discipline: &str,
        of: fn(&StealingSample) -> f64,
    ) -> Option<f64> {
        Some(self.runs(at, distribution, discipline)?.median(of))
    }

    /// The discipline with the least makespan.
    pub(super) fn best(
        self,
        at: (usize, u64),
        distribution: Distribution,
    ) -> Option<(&'a str, f64)> {
        let all = self.config.disciplines.iter();
        let all =
            all.filter_map(|name| Some((&**name, self.stretch(at, distribution, name)?.median)));
        all.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}
