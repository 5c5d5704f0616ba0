//! The summaries of all points.

use super::point::{PointSummary, TeamPoint};
use crate::study::trial::Runs;

#[derive(Clone, Debug)]
pub(in crate::study) struct TeamMeasured {
    pub(in crate::study) all: Vec<PointSummary>,
}

impl TeamMeasured {
    pub(in crate::study) fn new(measured: &[Runs<TeamPoint>]) -> Self {
        Self {
            all: measured.iter().map(PointSummary::of).collect(),
        }
    }

    pub(in crate::study) fn of(&self, point: &TeamPoint) -> Option<&PointSummary> {
        self.all.iter().find(|summary| summary.point == *point)
    }
}
