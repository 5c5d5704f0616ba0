//! What `--only` leaves of the study.

use crate::failure::bad_input;
use manycore::sleep::NAMES;
use manycore_kernels::fork::Algorithm;

/// Algorithms, policies, or both.
#[derive(Default)]
pub(super) struct Only {
    algorithms: Vec<Algorithm>,
    policies: Vec<&'static str>,
}

impl Only {
    pub(super) fn parse(names: &[String]) -> anyhow::Result<Self> {
        let mut only = Self::default();
        for name in names {
            let policy = NAMES.into_iter().find(|known| known == name);
            match (name.parse(), policy) {
                (Ok(algorithm), _) => only.algorithms.push(algorithm),
                (Err(_), Some(policy)) => only.policies.push(policy),
                (Err(_), None) => {
                    return Err(bad_input(format!(
                        "--only: unknown name `{name}`; expected an algorithm ({}) or a policy ({})",
                        Algorithm::ALL.map(Algorithm::name).join(", "),
                        NAMES.join(", ")
                    )));
                }
            }
        }
        Ok(only)
    }

    /// Those asked for, whatever would be measured else.
    pub(super) fn algorithms(&self, default: Vec<Algorithm>) -> Vec<Algorithm> {
        match self.algorithms.is_empty() {
            true => default,
            false => self.algorithms.clone(),
        }
    }

    pub(super) fn policies(&self, all: &[&'static str]) -> Vec<&'static str> {
        let mut all = all.to_vec();
        all.retain(|policy| self.policies.is_empty() || self.policies.contains(policy));
        all
    }
}
