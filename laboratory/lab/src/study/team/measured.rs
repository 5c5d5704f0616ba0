//! What was measured, in medians.

use super::point::{PointSummary, TeamPoint, TeamSample};
use crate::study::trial::{MeasuredTrials, Runs};

/// Every point's summary.
#[derive(Clone, Debug)]
pub(in crate::study) struct TeamMeasured {
    pub(in crate::study) all: Vec<PointSummary>,
}

impl TeamMeasured {
    pub(in crate::study) fn new(measured: &MeasuredTrials<TeamPoint>) -> Self {
        let summary = |runs: &Runs<TeamPoint>| {
            let samples: Vec<&TeamSample> = runs.outcomes.iter().collect();
            PointSummary::of(&runs.trial, &samples)
        };
        Self {
            all: measured.0.iter().map(summary).collect(),
        }
    }

    /// A point, if it was measured.
    pub(in crate::study) fn of(&self, point: &TeamPoint) -> Option<&PointSummary> {
        self.all.iter().find(|summary| summary.point == *point)
    }
}
