//! The measurements, and their medians.

use super::case::{StealingCase, StealingSample};
use super::config::StealingConfig;
use crate::measure::statistics::Spread;
use crate::study::compared::Compared;
use crate::study::trial::{Results, Runs};
use manycore_programs::stealing::Distribution;

pub(super) type StealingResults<'a> = Results<'a, StealingConfig>;

impl<'a> StealingResults<'a> {
    fn runs(
        self,
        (cores, cycles): (usize, u64),
        distribution: Distribution,
        discipline: &str,
    ) -> Option<&'a Runs<StealingCase>> {
        self.of(&self.config.case(cores, cycles, distribution, discipline))
    }

    /// The makespan divided by the ideal, with answers to requests within tasks.
    pub(super) fn answering(self, distribution: Distribution, discipline: &str) -> Option<f64> {
        let runs = self.of(&self.config.answering(distribution, discipline))?;
        Some(runs.median(|run| run.makespan) / runs.trial.ideal())
    }

    /// The makespan divided by the ideal.
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

    pub(super) fn count(
        self,
        at: (usize, u64),
        distribution: Distribution,
        discipline: &str,
        of: fn(&StealingSample) -> f64,
    ) -> Option<f64> {
        Some(self.runs(at, distribution, discipline)?.median(of))
    }

    pub(super) fn compared(self) -> Compared {
        let (config, setup) = (self.config, &self.config.setup);
        let mut compared = Compared::new(String::new(), setup.unit(), !setup.machines.is_host());
        for at in config.star() {
            for &distribution in &config.distributions {
                let times = config.disciplines.iter().filter_map(|name| {
                    let runs = self.runs(at, distribution, name)?;
                    Some((name.clone(), runs.samples(|run| run.makespan)))
                });
                compared.add(format!("{distribution}, {} cores, {}", at.0, at.1), times);
            }
        }
        compared
    }
}
