//! What was measured, in medians.

use super::point::{Point, Sample, Summary};
use crate::study::trial;

/// Every point's summary.
#[derive(Clone, Debug)]
pub(in crate::study) struct Measured {
    pub(in crate::study) all: Vec<Summary>,
}

impl Measured {
    pub(in crate::study) fn new(measured: &trial::Measured<Point>) -> Self {
        let summary = |runs: &trial::Runs<Point>| {
            let samples: Vec<&Sample> = runs.outcomes.iter().collect();
            Summary::of(&runs.trial, &samples)
        };
        Self {
            all: measured.0.iter().map(summary).collect(),
        }
    }

    /// A point, if it was measured.
    pub(in crate::study) fn of(&self, point: &Point) -> Option<&Summary> {
        self.all.iter().find(|summary| summary.point == *point)
    }
}
