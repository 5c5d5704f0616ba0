//! Warming: accesses outside of simulated time. The run keeps the warmed memory's tags and directories, but not its
//! networks, controllers and accounts.

use super::operation::{Operation, Word};
use super::private::Lookup;
use super::request::{Arrival, Request, Stage};
use super::{LineId, Memory};

impl Memory {
    /// Does an access to `line` that begins at `now`. Returns the time that it takes in the tile's caches, and the time when
    /// it ends elsewhere. A hit in the tile ends at `now`.
    pub(crate) fn warm(
        &mut self,
        core: u32,
        line: LineId,
        operation: Operation,
        word: Word,
        now: u64,
    ) -> (u64, u64) {
        let write = !operation.reads_only();
        if let Lookup::L1(cycles) | Lookup::L2(cycles) = self.lookup(core, line, write) {
            return (cycles, now);
        }
        let stage = match self.config.llc {
            Some(_) => Stage::Group,
            None => Stage::Home,
        };
        let mut request = Request {
            core,
            line,
            stage,
            operation,
            word,
            arrived: now,
            found: 0,
            awaited: false,
        };
        let mut at = now;
        loop {
            match self.serve(request, at) {
                Arrival::Served(served) => return (0, served.done.max(at)),
                Arrival::Travels(then, stage) => (request.stage, at) = (stage, then),
                Arrival::Queued(_) => return (0, at),
            }
        }
    }

    /// Takes over the contents of a warmed memory. No request is on its way.
    pub(crate) fn take_over(&mut self, warm: Self) {
        self.tiles = warm.tiles;
        self.shared = warm.shared;
        self.places = warm.places;
        self.lines = warm.lines;
        for line in self.lines.iter_mut() {
            (line.busy_until, line.readers_until) = (0, 0);
        }
    }
}
