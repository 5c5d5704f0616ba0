//! Teams that threads keep for their next region.

use super::Team;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

/// A team between two regions. Its threads wait for the next region.
pub(crate) struct Hot {
    pub(crate) team: Arc<Team>,
    /// The number of members that the region wanted. The team is smaller if there was no room for more threads.
    pub(crate) wanted: u32,
}

impl Hot {
    /// A team whose only member is its leader.
    pub(crate) fn alone() -> Self {
        Self {
            team: Team::alone(),
            wanted: 1,
        }
    }
}

impl Drop for Hot {
    fn drop(&mut self) {
        self.team.dismissed.store(true, SeqCst);
        self.team.epoch.fetch_add(1, SeqCst);
        self.team.bell.ring_after_rmw();
        if let Some(carrier) = self.team.carrier {
            carrier.release();
        }
    }
}
