//! What a reader shall know first.

use super::config::Clustering;
use crate::study::team::{PointSummary, Race};

/// The figure's title.
pub(super) fn message(race: Race<'_, Clustering<'_>>) -> String {
    let config = race.config.config;
    let unit = config.setup.unit();
    let show = |summary: &PointSummary| unit.say(summary.total.median);
    race.headline(config.compared_at(), "the program takes", show)
}

/// The section's first sentences.
pub(super) const LEAD: &str = "Streamcluster, a program of the PARSEC benchmarks, groups points around centres. Its threads \
     meet at a barrier (a place where each waits for all others) very often, so the barrier decides \
     how long it takes. channel, the barrier of S. J. Park's thesis (MIT, 2013), is made for a network \
     that tells all cores at once; on a machine without one its messages go through memory.";
