//! The compared policies, and their cells.

use manycore_programs::fork::Algorithm;
use manycore_programs::sleep::Mode;
use manycore_programs::sleep::policies;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An algorithm and the threads that run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SleepCell {
    pub(super) algorithm: Algorithm,
    pub(super) threads: usize,
}

/// A sleep policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Policy {
    pub(super) name: String,
    pub(super) mode: Mode,
}

impl Policy {
    /// The baseline: rayon's policy, in the same mode.
    pub(super) const BASE: &'static str = "packed";
    /// The default of pools.
    pub(super) const OURS: &'static str = "ours";

    /// Every policy in every mode that it has.
    pub(super) fn all() -> Vec<Self> {
        let policy = |(name, mode): (&str, Mode)| Self {
            name: name.to_owned(),
            mode,
        };
        policies().into_iter().map(policy).collect()
    }

    /// Every policy's name once.
    pub(super) fn names() -> Vec<&'static str> {
        let mut names = Vec::new();
        for (name, _) in policies() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The policy that this policy is compared with.
    pub(super) fn base(&self) -> Self {
        Self {
            name: Self::BASE.to_owned(),
            mode: self.mode,
        }
    }

    /// Whether the other policies of its mode are compared with this policy.
    pub(super) fn is_base(&self) -> bool {
        self.name == Self::BASE
    }
}

impl fmt::Display for SleepCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.threads {
            1 => write!(f, "{}, 1 thread", self.algorithm),
            threads => write!(f, "{}, {threads} threads", self.algorithm),
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mode {
            Mode::Sound => f.pad(&self.name),
            Mode::AsPublished => f.pad(&format!("{} ({})", self.name, self.mode)),
        }
    }
}
