//! What is run.

use super::benchmark::Benchmark;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A program, and how much of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Load {
    /// Nothing but equal intervals, as long as the poster's table I says for the program.
    Interval {
        benchmark: Benchmark,
        intervals: usize,
    },
    /// Intervals in which rank i of the T computes `ns`, times from 1 - `skew` to 1 + `skew`.
    Sweep {
        ns: u64,
        /// In percent.
        skew: u32,
        intervals: usize,
    },
}

impl Load {
    pub(super) fn benchmark(&self) -> Option<Benchmark> {
        match *self {
            Self::Interval { benchmark, .. } => Some(benchmark),
            Self::Sweep { .. } => None,
        }
    }

    /// The name in tables.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Interval { benchmark, .. } => benchmark.to_string(),
            Self::Sweep { skew: 0, .. } => "equal".into(),
            Self::Sweep { .. } => "unequal".into(),
        }
    }

    /// The input's size.
    pub(super) fn class(&self) -> String {
        match self {
            Self::Interval { .. } => "table I".into(),
            Self::Sweep { ns, .. } => interval(*ns),
        }
    }

    /// What a rank computes from the begin to the end, in the mean.
    pub(super) fn work_ns(&self) -> f64 {
        match *self {
            Self::Interval {
                benchmark,
                intervals,
            } => benchmark.interval_ns() * intervals as f64,
            Self::Sweep { ns, intervals, .. } => ns as f64 * intervals as f64,
        }
    }

    /// What the longest rank computes, the mean being 1.
    pub(super) fn longest(&self) -> f64 {
        match self {
            Self::Interval { .. } => 1.0,
            Self::Sweep { skew, .. } => 1.0 + f64::from(*skew) / 100.0,
        }
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
