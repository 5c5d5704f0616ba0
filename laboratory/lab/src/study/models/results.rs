//! The measurements and their medians, and the numbers of the document (Shuai's paper).

use super::case::ModelCase;
use super::config::ModelsConfig;
use super::policy::ModelPolicy;
use super::printed::Printed;
use crate::measure::statistics::{Spread, geometric_mean, median};
use crate::model::{Configuration, ModelError};
use crate::study::compared::Compared;
use crate::study::trial::{Results, Runs};

pub(super) struct ModelResults<'a> {
    pub(super) config: &'a ModelsConfig,
    pub(super) of: Results<'a, ModelsConfig>,
    pub(super) printed: Printed,
}

impl<'a> ModelResults<'a> {
    pub(super) fn new(of: Results<'a, ModelsConfig>) -> Result<Self, ModelError> {
        Ok(Self {
            config: of.config,
            of,
            printed: Printed::new()?,
        })
    }

    fn runs(&self, at: &Configuration, policy: ModelPolicy) -> Option<&Runs<ModelCase>> {
        self.of.of(&self.config.case(at.clone(), policy))
    }

    pub(super) fn latency(&self, at: &Configuration, policy: ModelPolicy) -> Option<Spread> {
        Some(self.runs(at, policy)?.spread(|run| run.latency_ns))
    }

    /// The block that a model picks before the loop.
    pub(super) fn block(&self, at: &Configuration, policy: ModelPolicy) -> Option<usize> {
        self.runs(at, policy)?.outcomes.first()?.block
    }

    /// The latencies in manycore's pool.
    pub(super) fn compared(&self) -> Compared {
        let setup = &self.config.setup;
        let mut compared = Compared::new(String::new(), setup.unit(), !setup.machines.is_host());
        for (number, at) in self.config.loops().iter().enumerate() {
            let times = self.ours().filter_map(|policy| {
                let runs = self.runs(at, policy)?;
                Some((policy.name().to_owned(), runs.samples(|run| run.latency_ns)))
            });
            compared.add(format!("loop {number}"), times);
        }
        compared
    }

    /// All policies except [`ModelPolicy::Document`], which has another pool.
    pub(super) fn ours(&self) -> impl Iterator<Item = ModelPolicy> + Clone {
        let all = self.config.policies.iter().copied();
        all.filter(|&policy| policy != ModelPolicy::Document)
    }

    /// The least latency in manycore's pool.
    pub(super) fn best(&self, at: &Configuration) -> Option<f64> {
        let all = self.ours().filter_map(|policy| self.latency(at, policy));
        all.map(|spread| spread.median).reduce(f64::min)
    }

    /// For each loop, a policy's latency divided by the latency of the best policy.
    pub(super) fn ratios(&self, policy: ModelPolicy) -> Vec<f64> {
        let loops = self.config.loops();
        let ratio = |at: &Configuration| Some(self.latency(at, policy)?.median / self.best(at)?);
        loops.iter().filter_map(ratio).collect()
    }
}

/// The geometric mean, the median and the largest of `ratios`.
pub(super) fn middle(ratios: &[f64]) -> Option<[f64; 3]> {
    let most = ratios.iter().copied().reduce(f64::max)?;
    Some([
        geometric_mean(ratios.iter().copied()),
        median(ratios.iter().copied()),
        most,
    ])
}
