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

    /// Barriers that are passed before anything is counted: threads start where they can,
    /// and the system needs some rounds of balancing to spread them.
    pub(super) fn unsettled(&self) -> usize {
        /// Longer than that takes.
        const SETTLED_NS: f64 = 4e8;
        const MOST: f64 = 200.0;
        let ns = match *self {
            Self::Interval { benchmark, .. } => benchmark.interval_ns(),
            Self::Sweep { ns, .. } => ns as f64,
        };
        (SETTLED_NS / ns).ceil().min(MOST) as usize
    }

    /// What a rank computes between two barriers, in the mean, if that is all it is.
    pub(super) fn interval_ns(&self) -> Option<f64> {
        match *self {
            Self::Interval { benchmark, .. } => Some(benchmark.interval_ns()),
            Self::Sweep { ns, .. } => Some(ns as f64),
        }
    }

    /// In percent, how far its ranks are from their mean.
    pub(super) fn skew(&self) -> u32 {
        match *self {
            Self::Interval { .. } => 0,
            Self::Sweep { skew, .. } => skew,
        }
    }

    /// What the longest rank computes, the mean being 1.
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
