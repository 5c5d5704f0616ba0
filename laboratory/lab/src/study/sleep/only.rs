//! The parts of the study that `--only` selects.

use super::cell::Policy;
use crate::failure::bad_input;
use manycore_programs::fork::Algorithm;

/// The selected algorithms and policies. An empty list selects all.
#[derive(Default)]
pub(super) struct SleepOnly {
    algorithms: Vec<Algorithm>,
    policies: Vec<String>,
}

impl SleepOnly {
    pub(super) fn parse(names: &[String]) -> anyhow::Result<Self> {
        let mut only = Self::default();
        let policies = Policy::names();
        for name in names {
            match name.parse() {
                Ok(algorithm) => only.algorithms.push(algorithm),
                Err(_) if policies.contains(&&**name) => only.policies.push(name.clone()),
                Err(_) => {
                    return Err(bad_input(format!(
                        "--only: unknown name `{name}`; expected an algorithm ({}) or a policy ({})",
                        Algorithm::ALL.map(Algorithm::name).join(", "),
                        policies.join(", ")
                    )));
                }
            }
        }
        Ok(only)
    }

    /// The selected algorithms, or `default` if none is selected.
    pub(super) fn algorithms(&self, default: Vec<Algorithm>) -> Vec<Algorithm> {
        match self.algorithms.is_empty() {
            true => default,
            false => self.algorithms.clone(),
        }
    }

    /// Whether a policy is selected.
    pub(super) fn selects_policies(&self) -> bool {
        !self.policies.is_empty()
    }

    /// Whether a policy of this name is to be measured.
    pub(super) fn wants(&self, policy: &str) -> bool {
        !self.selects_policies() || self.policies.iter().any(|name| name == policy)
    }
}
