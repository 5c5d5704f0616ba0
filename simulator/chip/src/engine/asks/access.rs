//! Accesses of a core to memory: completes hits and sends requests for misses.

use super::Asked;
use crate::account::Activity;
use crate::engine::agenda::Event;
use crate::engine::overlap::Overlap;
use crate::engine::port::Mode;
use crate::engine::{Engine, Reply};
use crate::memory::{Lookup, Operation, Request, State, Word};

impl Engine {
    /// Does an access if it hits the core's L1 before the horizon (the time up to which the core may run), as nearly
    /// all accesses do. Reads the port and one set of the L1's tags.
    #[inline(always)]
    pub(crate) fn hit(
        &mut self,
        core: u32,
        host: usize,
        operation: Operation,
        word: Word,
    ) -> Option<u64> {
        let port = &mut self.ports[core as usize];
        if port.clock >= port.horizon {
            return None;
        }
        let line = (self.addresses.simulated(host) >> self.line_shift) as u32;
        let settled = |overlap: &Overlap| overlap.is_settled(port.tile, line, operation);
        if !self.overlap.as_ref().is_none_or(settled) {
            return None;
        }
        let tile = &mut self.memory.tiles[port.tile as usize];
        let Some(state) = tile.l1.touch(line) else {
            return self.hit_l2(core, line, operation, word);
        };
        if !operation.reads_only() {
            if state == State::Shared || self.write_through || tile.is_watched(line) {
                return None;
            }
            tile.l1.dirty_first(line);
            self.lines.wrote(line);
            port.pass(Activity::Atomic, operation.execution(&self.config.atomics));
        }
        port.pass(Activity::L1, self.config.l1.latency);
        let reservations = &mut self.memory.reservations;
        Some(reservations.apply(core, line, operation, word))
    }

    /// Like [`hit`](Self::hit), for a plain access that hits the L2. A read-modify-write that misses the L1 most likely
    /// misses the L2 too, so it skips this look-up.
    #[inline(never)]
    fn hit_l2(&mut self, core: u32, line: u32, operation: Operation, word: Word) -> Option<u64> {
        let port = &mut self.ports[core as usize];
        let tile = &mut self.memory.tiles[port.tile as usize];
        let write = !operation.reads_only();
        if operation.is_read_modify_write() || write && tile.is_watched(line) {
            return None;
        }
        let Lookup::L2(cycles) = tile.lookup(line, write) else {
            return None;
        };
        port.pass(Activity::L2, cycles);
        if write {
            self.lines.wrote(line);
        }
        let reservations = &mut self.memory.reservations;
        Some(reservations.apply(core, line, operation, word))
    }

    /// Does an access to `line`, or sends its request.
    // This is inlined into both front ends, which have one call each. A real call would take as long as a hit.
    #[inline(always)]
    pub(crate) fn access(
        &mut self,
        core: u32,
        line: u32,
        operation: Operation,
        word: Word,
    ) -> Asked {
        if self.ports[core as usize].clock >= self.ports[core as usize].horizon
            && self.others_first(core, self.lookahead)
        {
            return Asked::Again;
        }
        if self.overlap.is_some()
            && let Some(asked) = self.meet_flights(core, line, operation)
        {
            return asked;
        }
        let write = !operation.reads_only();
        let (activity, cycles) = match self.memory.lookup(core, line, write) {
            Lookup::L1(cycles) => (Activity::L1, cycles),
            Lookup::L2(cycles) => (Activity::L2, cycles),
            Lookup::Miss => return self.miss(core, line, operation, word),
        };
        let port = &mut self.ports[core as usize];
        if write {
            self.lines.wrote(line);
        }
        port.pass(activity, cycles);
        port.pass(Activity::Atomic, operation.execution(&self.config.atomics));
        if self.overlap.is_some() {
            self.look_ahead(core, line, operation);
        }
        let port = &self.ports[core as usize];
        let at = port.clock;
        let reservations = &mut self.memory.reservations;
        let value = reservations.apply(core, line, operation, word);
        if self.wake_disturbed(at) {
            self.set_horizon(core);
        }
        Asked::Done(value)
    }

    /// Sends the request of an access that missed the caches of the core's tile.
    #[inline(never)]
    fn miss(&mut self, core: u32, line: u32, operation: Operation, word: Word) -> Asked {
        if self.overlap.is_some()
            && let Some(asked) = self.buffer_store(core, line, operation)
        {
            return asked;
        }
        let clock = self.ports[core as usize].clock;
        let (at, stage) = self.memory.depart(core, line, clock);
        let port = &mut self.ports[core as usize];
        port.mode = Mode::Missing;
        port.request = Some(Request {
            core,
            line,
            stage,
            operation,
            word,
            arrived: at,
            found: 0,
            awaited: true,
        });
        self.agenda.plan(at, core, Event::Arrive);
        if self.overlap.is_some() {
            self.look_ahead(core, line, operation);
        }
        Asked::Suspend
    }

    /// The answer to the request for which the thread on `core` suspended.
    pub(crate) fn reply(&mut self, core: u32) -> (u64, bool) {
        let thread = self.ports[core as usize].thread;
        let reply =
            thread.map_or_else(Reply::default, |thread| self.threads[thread as usize].reply);
        (reply.value, reply.stored)
    }
}
