//! The unit of latencies.

use crate::report::words;
use serde::{Deserialize, Serialize};

/// The unit of the native world, and the unit of a simulated world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Unit {
    #[serde(rename = "us")]
    Microseconds,
    #[serde(rename = "cycles")]
    Cycles,
    #[serde(rename = "ns")]
    Nanoseconds,
}

impl Unit {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Microseconds => "us",
            Self::Cycles => "cycles",
            Self::Nanoseconds => "ns",
        }
    }

    /// Formats a time. Microseconds have three digits or more, other units are whole.
    pub(crate) fn show(self, latency: f64) -> String {
        match (self, latency) {
            (Self::Cycles | Self::Nanoseconds, _) => format!("{latency:.0}"),
            (Self::Microseconds, ..10.0) => format!("{latency:.2}"),
            (Self::Microseconds, 10.0..1000.0) => format!("{latency:.1}"),
            (Self::Microseconds, _) => format!("{latency:.0}"),
        }
    }

    /// Formats a time for a sentence.
    pub(crate) fn say(self, latency: f64) -> String {
        match self {
            Self::Cycles | Self::Nanoseconds => {
                format!("{} {}", words::count(latency.round() as u64), self.name())
            }
            Self::Microseconds => format!("{} {}", self.show(latency), self.name()),
        }
    }

    /// Rounds a time to a nanosecond, which is the clock's resolution. Cycles stay as they are.
    pub(crate) fn round(self, latency: f64) -> f64 {
        match self {
            Self::Microseconds => (latency * 1e3).round() / 1e3,
            Self::Cycles => latency,
            Self::Nanoseconds => latency.round(),
        }
    }
}
