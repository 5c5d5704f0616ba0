//! Warming: accesses outside of simulated time. Tags and directories change as the accesses
//! themselves would change them; networks, controllers and accounts do not.

use super::operation::{Operation, Word};
use super::private::Lookup;
use super::request::{Arrival, Request, Stage};
use super::{LineId, Memory};

impl Memory {
    /// An access to `line`, which begins at `now`; when it is done.
    pub(crate) fn warm(
        &mut self,
        core: u32,
        line: LineId,
        operation: Operation,
        word: Word,
        now: u64,
    ) -> u64 {
        let write = !operation.reads_only();
        if self.lookup(core, line, write) != Lookup::Miss {
            return now;
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
            awaited: false,
        };
        let mut at = now;
        loop {
            match self.serve(request, at) {
                Arrival::Served(served) => return served.done.max(at),
                Arrival::Travels(then, stage) => (request.stage, at) = (stage, then),
                Arrival::Queued(_) => return at,
            }
        }
    }

    /// Takes over what a memory that was warmed holds. Nothing is under way.
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
