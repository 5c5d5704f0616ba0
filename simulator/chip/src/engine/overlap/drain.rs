//! Fences: a core waits until stores are done.

use super::{Flight, latest};
use crate::engine::Engine;

impl Engine {
    /// Whether the core must suspend, and ask again, because its stores are on their way.
    pub(crate) fn must_drain(&mut self, core: u32) -> bool {
        let port = &self.ports[core as usize];
        let Some(overlap) = &self.overlap else {
            return false;
        };
        let stores = overlap.tiles[port.tile as usize].flights.iter();
        let stores =
            stores.filter(|flight| flight.is_store_of(core) && flight.is_under_way(port.clock));
        latest(stores)
            .map(|landing| self.wait_for(core, landing))
            .is_some()
    }

    /// Whether the core must suspend, and ask again, because stores of any core that began until `since` are on their
    /// way.
    pub(crate) fn must_drain_all(&mut self, core: u32, since: u64) -> bool {
        let now = self.ports[core as usize].clock;
        let Some(overlap) = &self.overlap else {
            return false;
        };
        let is_old = |flight: &&Flight| {
            flight.is_store() && flight.began <= since && flight.is_under_way(now)
        };
        let tiles = (0..).zip(&overlap.tiles);
        let found = tiles
            .filter_map(|(tile, of)| Some((tile, latest(of.flights.iter().filter(is_old))?)))
            .max_by_key(|(_, landing)| landing.map_or(u64::MAX, |(at, _)| at));
        found
            .map(|(tile, landing)| self.wait_in(tile, core, landing))
            .is_some()
    }
}
