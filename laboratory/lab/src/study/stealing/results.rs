//! What was measured, in medians.

use super::case::{StealingCase, StealingSample};
use super::config::StealingConfig;
use crate::measure::statistics::{Spread, median};
use crate::study::trial::{MeasuredTrials, Runs};
use manycore_programs::stealing::Distribution;

/// The study's numbers, to be asked.
#[derive(Clone, Copy)]
pub(super) struct StealingResults<'a> {
    pub(super) config: &'a StealingConfig,
    pub(super) measured: &'a MeasuredTrials<StealingCase>,
}

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

    fn of(self, case: &StealingCase) -> Option<&'a Runs<StealingCase>> {
        self.measured.0.iter().find(|runs| runs.trial == *case)
    }

    /// The makespan over the ideal one where workers answer within tasks as well.
    pub(super) fn answering(self, distribution: Distribution, discipline: &str) -> Option<f64> {
        self.over_ideal(&self.config.answering(distribution, discipline))
    }

    fn over_ideal(self, case: &StealingCase) -> Option<f64> {
        let runs = self.of(case)?;
        Some(makespan(runs).median / runs.trial.ideal())
    }

    /// The makespan over the ideal one.
    pub(super) fn stretch(
        self,
        at: (usize, u64),
        distribution: Distribution,
        discipline: &str,
    ) -> Option<Spread> {
        let runs = self.runs(at, distribution, discipline)?;
        Some(makespan(runs).map(|makespan| makespan / runs.trial.ideal()))
    }

    /// A count of a run, the median.
    pub(super) fn count(
        self,
        at: (usize, u64),
        distribution: Distribution,
        discipline: &str,
        of: fn(&StealingSample) -> u64,
    ) -> Option<f64> {
        Some(middle(self.runs(at, distribution, discipline)?, of))
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

/// The makespan of all runs of a case.
pub(super) fn makespan(runs: &Runs<StealingCase>) -> Spread {
    let all: Vec<f64> = runs
        .outcomes
        .iter()
        .map(|outcome| outcome.makespan)
        .collect();
    Spread::of(&all)
}

/// The median of a count.
pub(super) fn middle(runs: &Runs<StealingCase>, of: fn(&StealingSample) -> u64) -> f64 {
    median(runs.outcomes.iter().map(|outcome| of(outcome) as f64))
}
