//! The programs that the study runs.

use super::benchmark::Benchmark;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A program and its size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Load {
    /// The program's phases at the size on the poster (`mod.rs` names it). Their costs are the operations of the
    /// algorithm.
    Declared {
        benchmark: Benchmark,
        /// The least number of barriers. A run has at least one step.
        intervals: usize,
    },
    /// The program itself, on a small input.
    Real { benchmark: Benchmark },
    /// Only intervals between barriers, each as long as the program's interval in the poster's table I.
    Interval {
        benchmark: Benchmark,
        intervals: usize,
    },
    /// Intervals of `ns` times a factor, which rises from 1 - `skew` for the first rank (thread of the team) to 1 +
    /// `skew` for the last.
    Sweep {
        ns: u64,
        /// In percent of the mean.
        skew: u32,
        intervals: usize,
    },
}

manycore_programs::by_name! {
    /// How the study runs the poster's programs.
    pub(super) enum Kind: "unknown kind of program", "expected some of" {
        Declared = "declared",
        Intervals = "intervals",
        Real = "real",
    }
}

impl Kind {
    /// The kind in words.
    pub(super) fn meaning(self) -> &'static str {
        match self {
            Self::Declared => "declared phases",
            Self::Intervals => "intervals of the poster",
            Self::Real => "run on small inputs",
        }
    }

    /// A program of this kind, for about `intervals` barriers.
    pub(super) fn load(self, benchmark: Benchmark, intervals: usize) -> Load {
        match self {
            Self::Declared => Load::Declared {
                benchmark,
                intervals,
            },
            Self::Intervals => Load::Interval {
                benchmark,
                intervals,
            },
            Self::Real => Load::Real { benchmark },
        }
    }
}

impl Load {
    pub(super) fn benchmark(&self) -> Option<Benchmark> {
        match *self {
            Self::Declared { benchmark, .. }
            | Self::Real { benchmark }
            | Self::Interval { benchmark, .. } => Some(benchmark),
            Self::Sweep { .. } => None,
        }
    }

    /// The name in tables.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Declared { benchmark, .. }
            | Self::Real { benchmark }
            | Self::Interval { benchmark, .. } => benchmark.to_string(),
            Self::Sweep { skew: 0, .. } => "equal".into(),
            Self::Sweep { .. } => "unequal".into(),
        }
    }

    /// The input's size.
    pub(super) fn class(&self) -> String {
        match self {
            Self::Declared { benchmark, .. } => benchmark.dataset().into(),
            Self::Real { benchmark } => benchmark.small().into(),
            Self::Interval { .. } => "table I".into(),
            Self::Sweep { ns, .. } => interval(*ns),
        }
    }

    /// The mean computation of a rank between two barriers, if the program does nothing else.
    pub(super) fn interval_ns(&self) -> Option<f64> {
        match *self {
            Self::Interval { benchmark, .. } => Some(benchmark.interval_ns()),
            Self::Sweep { ns, .. } => Some(ns as f64),
            Self::Declared { .. } | Self::Real { .. } => None,
        }
    }

    /// The largest difference of a rank from the mean, in percent.
    pub(super) fn skew(&self) -> u32 {
        match *self {
            Self::Sweep { skew, .. } => skew,
            _ => 0,
        }
    }

    /// The computation of the longest rank, if the mean is 1.
    pub(super) fn longest(&self) -> f64 {
        1.0 + f64::from(self.skew()) / 100.0
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name(), self.class())
    }
}

/// A length of time, in the unit that suits it.
pub(super) fn interval(ns: u64) -> String {
    match ns {
        1_000_000.. => format!("{} ms", ns as f64 / 1e6),
        _ => format!("{} us", ns as f64 / 1e3),
    }
}
