//! What a reader shall know first.

use super::config::BarrierConfig;
use crate::study::team::{PointSummary, Race};

/// The figure's title.
pub(super) fn message(race: Race<'_, BarrierConfig>) -> String {
    let unit = race.config.setup.unit();
    let show = |summary: &PointSummary| unit.say(summary.an_episode());
    race.headline(race.config.compared_at(), "a wait takes", show)
}

/// The section's first sentences.
pub(super) const LEAD: &str = "A barrier is a place in a program where each thread waits until all have come. Such a wait \
     costs time even if all come at once, and more on more cores. Here ways to build a barrier are \
     compared: through memory and, where a machine has one, over a network that tells all cores at \
     once. channel, the barrier of S. J. Park's thesis (MIT, 2013), is made for such a network, which in \
     the thesis is made of light; on a machine without one its messages go through memory.";
