//! Misses: the way of a request to the place that can answer it, and the effects of the answer.
//!
//! The engine calls [`Memory::arrive`] when a request reaches its group's last-level cache, and again at the line's
//! home if the group cannot answer. The request takes effect in that step: the directory, all tags and the word change,
//! and the requester has its data at [`Served::done`]. While the line is busy, no other request for the line is served.
//! So each access is one indivisible event, and memory sees these events in one order. The machine is therefore
//! sequentially consistent.

use super::Memory;
use super::cache::LineId;
use super::line::TileId;
use super::operation::Operation;
use super::private::Lookup;
use super::request::{Arrival, CONTROL_BITS, Class, Request, Served, Stage};
use crate::config::Directory;

impl Memory {
    /// Looks `line` up in the core's own tile (the caches of the hardware threads that share an L1).
    // This is inlined because it is part of every access.
    #[inline(always)]
    pub(crate) fn lookup(&mut self, core: u32, line: LineId, write: bool) -> Lookup {
        let tile = self.places.tile(core);
        let lookup = self.tiles[tile as usize].lookup(line, write);
        if write && lookup != Lookup::Miss && self.tiles[tile as usize].is_watched(line) {
            self.disturb(line, tile);
        }
        lookup
    }

    /// Sends a request from its tile at `at`. Returns its first stage and the time of its arrival.
    // This is inlined into both kinds of misses.
    #[inline(always)]
    pub(crate) fn depart(&mut self, core: u32, line: LineId, at: u64) -> (u64, Stage) {
        let at = at + self.perturbation.draw() + self.places.request_latency();
        let tile = self.places.tile(core);
        let from = self.places.tile_place(tile);
        let group = self.places.group_of_tile(tile);
        if self.config.llc.is_some() {
            let to = self.places.group_place(group, line);
            (self.travel(from, to, CONTROL_BITS, at), Stage::Group)
        } else {
            let home = self.places.home(line, group);
            let to = self.places.group_place(home, line);
            (self.travel(from, to, CONTROL_BITS, at), Stage::Home)
        }
    }

    // This is inlined into the loop of each front end, like `Engine::step`.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, mut request: Request, now: u64) -> Arrival {
        let line = self.lines.line(request.line);
        let is_busy = line.busy_until > now || !line.waiting.is_empty();
        request.found = line.waiting.len() as u32 + u32::from(line.busy_until > now);
        if is_busy {
            let first = line.waiting.is_empty();
            line.waiting.push_back(request);
            return Arrival::Queued(first.then_some(line.busy_until));
        }
        self.serve(request, now)
    }

    /// Takes the next waiting request of a line with a free home. The caller serves it with
    /// [`serve`](Self::serve).
    pub(crate) fn next_waiting(&mut self, line: LineId) -> Option<Request> {
        self.lines.line(line).waiting.pop_front()
    }

    /// The time at which the line's next waiting request can be served. `None` if no request waits.
    pub(crate) fn free_at(&mut self, line: LineId) -> Option<u64> {
        let line = self.lines.line(line);
        (!line.waiting.is_empty()).then_some(line.busy_until)
    }

    /// Serves a request for a free line.
    pub(crate) fn serve(&mut self, request: Request, now: u64) -> Arrival {
        if self.census.is_some() {
            self.count_look_up(&request);
        }
        if request.stage == Stage::Group && !self.group_can_answer(&request) {
            let tile = self.places.tile(request.core);
            let group = self.places.group_of_tile(tile);
            let home = self.places.home(request.line, group);
            if home != group {
                let from = self.places.group_place(group, request.line);
                let to = self.places.group_place(home, request.line);
                let at = self.travel(from, to, CONTROL_BITS, now);
                return Arrival::Travels(at, Stage::Home);
            }
            return self.serve_at(
                Request {
                    stage: Stage::Home,
                    ..request
                },
                now,
            );
        }
        self.serve_at(request, now)
    }

    /// Counts the look-up in the group's cache, if the request is at that stage.
    #[cold]
    fn count_look_up(&mut self, request: &Request) {
        let answers = request.stage == Stage::Group && self.group_can_answer(request);
        if let Some(census) = &mut self.census
            && request.stage == Stage::Group
        {
            let group = self.places.group_of_tile(self.places.tile(request.core));
            let line = self.lines.line(request.line);
            let has = line.groups.contains(group) && line.owner.is_none();
            census.looked_up(group, has && answers);
        }
    }

    /// Whether the requester's group can answer without the home.
    pub(super) fn group_can_answer(&mut self, request: &Request) -> bool {
        let broadcast = self.config.coherence.directory == Directory::Broadcast;
        let inclusive = self.config.llc.as_ref().is_some_and(|llc| llc.inclusive);
        let places = &self.places;
        let group = places.group_of_tile(places.tile(request.core));
        let line = self.lines.line(request.line);
        if let Some(owner) = line.owner {
            return places.group_of_tile(owner) == group;
        }
        let here = |tile: TileId| places.group_of_tile(tile) == group;
        let in_cache = line.groups.contains(group);
        let in_tiles = || line.sharers.iter().any(here);
        if request.operation.reads_only() {
            return in_cache || (!inclusive && in_tiles());
        }
        // A write must know that no other group holds a copy.
        let only_here = line.groups.iter().all(|one| one == group) && line.sharers.iter().all(here);
        let known = !broadcast || line.sharers.is_empty();
        only_here && known && (in_cache || in_tiles())
    }

    pub(super) fn serve_at(&mut self, request: Request, now: u64) -> Arrival {
        if let Some(census) = &mut self.census {
            census.home_queue.record(request.found.into());
        }
        let mut served = if request.operation.reads_only() {
            self.serve_read(&request, now)
        } else if let Operation::Conditional(_) = request.operation {
            let tile = self.places.tile(request.core);
            let line = self.lines.line(request.line);
            // The tile's copy of the line is the reservation that the load of the pair has made.
            if line.sharers.contains(tile) || line.owner == Some(tile) {
                self.serve_write(&request, now)
            } else {
                self.reservations.end(request.core);
                self.refuse(&request, now)
            }
        } else {
            self.serve_write(&request, now)
        };
        // Only a lost reservation makes a served operation store nothing.
        served.stored &= !self.reservations.refuses(request.core, request.operation);
        Arrival::Served(served)
    }

    /// Answers the store of an LL/SC pair that has lost its reservation.
    pub(super) fn refuse(&mut self, request: &Request, now: u64) -> Served {
        let from = self.stage_place(request);
        let tile = self.places.tile(request.core);
        let to = self.places.tile_place(tile);
        let at = self.travel(from, to, CONTROL_BITS, now);
        Served {
            done: at + self.places.reply_latency(),
            execution: 0,
            class: Class::Group,
            value: 0,
            stored: false,
            taken: 0,
        }
    }

    pub(super) fn stage_place(&mut self, request: &Request) -> u32 {
        let tile = self.places.tile(request.core);
        let group = self.places.group_of_tile(tile);
        match request.stage {
            Stage::Group => self.places.group_place(group, request.line),
            Stage::Home => {
                let home = self.places.home(request.line, group);
                self.places.group_place(home, request.line)
            }
        }
    }
}
