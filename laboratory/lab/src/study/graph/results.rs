//! What was measured, in medians.

use super::case::{GraphCase, GraphSample};
use super::config::GraphConfig;
use super::program::GraphProgram;
use crate::measure::statistics::{Spread, median};
use crate::study::trial::{MeasuredTrials, Runs};

/// The study's numbers, to be asked.
#[derive(Clone, Copy)]
pub(super) struct GraphResults<'a> {
    pub(super) config: &'a GraphConfig,
    pub(super) measured: &'a MeasuredTrials<GraphCase>,
}

impl<'a> GraphResults<'a> {
    /// A case's runs.
    pub(super) fn runs(
        self,
        (program, scale): (GraphProgram, u32),
        cores: usize,
        discipline: &str,
    ) -> Option<&'a Runs<GraphCase>> {
        let case = self.config.case(program, scale, cores, discipline);
        self.measured.0.iter().find(|runs| runs.trial == case)
    }

    /// The discipline that takes least time, and how much more the second
    /// takes.
    pub(super) fn best(self, load: (GraphProgram, u32), cores: usize) -> Option<(&'a str, f64)> {
        let all = self.config.disciplines.iter();
        let all =
            all.filter_map(|name| Some((&**name, time(self.runs(load, cores, name)?).median)));
        let mut all: Vec<_> = all.collect();
        all.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (best, second) = (all.first()?, all.get(1).or(all.first())?);
        Some((best.0, second.1 / best.1))
    }
}

/// The time of all runs of a case.
pub(super) fn time(runs: &Runs<GraphCase>) -> Spread {
    let all: Vec<f64> = runs.outcomes.iter().map(|outcome| outcome.time).collect();
    Spread::of(&all)
}

/// The median of a count.
pub(super) fn middle(runs: &Runs<GraphCase>, of: fn(&GraphSample) -> u64) -> f64 {
    median(runs.outcomes.iter().map(|outcome| of(outcome) as f64))
}
