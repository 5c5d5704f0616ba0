//! Hardware threads of one core share the places for lines on their way.

use crate::engine::Engine;

impl Engine {
    /// The part that `core` has of its tile's places for flights, of which there are `all`. Cores of a tile that run
    /// threads have equal parts, so that none of them keeps the others from their stores.
    pub(super) fn part(&self, core: u32, all: u32) -> usize {
        let threads = self.config.threads_per_core;
        let first = core - core % threads;
        let tile = &self.ports[first as usize..(first + threads) as usize];
        let busy = tile.iter().filter(|port| port.thread.is_some()).count();
        (all as usize / busy.max(1)).max(1)
    }
}
