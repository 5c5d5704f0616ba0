//! A miss: its way to whoever can answer it, and what the answer does.
//!
//! [`Memory::arrive`] is called when the request reaches its group's
//! last-level cache, and again if it must travel on to the line's home. There
//! it takes effect at once: the directory, all tags and the word itself
//! change in that step, and the requester has its data at
//! [`Served::done`]. While the line is busy no other request for it is served.
//! So an access is one indivisible event at its line's home, and the order of
//! those events is the order of memory: the machine is sequentially
//! consistent.

use super::Memory;
use super::cache::{LineId, State};
use super::line::TileId;
use super::operation::{Operation, Word};
use super::private::Lookup;
use crate::config::{DataPath, Directory, Writes};

/// Bits of a message without and with a line of data: 64 bits of type,
/// address and tiles, and the line itself (Graphite's count for 64 tiles).
const CONTROL_BITS: u32 = 64;

/// One core's access on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) core: u32,
    pub(crate) line: LineId,
    pub(crate) stage: Stage,
    pub(crate) operation: Operation,
    pub(crate) word: Word,
    /// When it reached the stage.
    pub(crate) arrived: u64,
}

/// Where a request has got to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The last-level cache of the requester's group.
    Group,
    /// The line's home.
    Home,
}

/// Whose answer it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// A cache of the requester's own group.
    Group,
    /// A cache of another group.
    Remote,
    Memory,
}

/// An access that took effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served {
    /// When the requester has its answer and may go on.
    pub(crate) done: u64,
    /// The part of that for executing an atomic operation.
    pub(crate) execution: u64,
    pub(crate) class: Class,
    /// The word before the operation.
    pub(crate) value: u64,
    /// Whether the operation was done: a conditional store may not be.
    pub(crate) stored: bool,
    /// How many others had the line and have lost it, or may only read it now.
    pub(crate) taken: u32,
}

/// What became of an arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arrival {
    Served(Served),
    /// It reaches the next stage at this time.
    Travels(u64, Stage),
    /// It waits in the line's queue; `Some` if the caller must come back with
    /// [`Memory::next_waiting`] at that time, `None` if it already will.
    Queued(Option<u64>),
}

/// Where the data come from and when they are there.
struct Data {
    at: u64,
    class: Class,
}

impl Memory {
    /// An access to `line` as far as the core's own tile can tell; the cycles
    /// it takes there.
    pub(crate) fn lookup(&mut self, core: u32, line: LineId, write: bool) -> Lookup {
        let tile = self.places.tile(core);
        let (lookup, gone) = self.tiles[tile as usize].lookup(line, write);
        debug_assert!(gone.is_none(), "a hit evicts nothing from the tile");
        if write && lookup != Lookup::Miss && self.tiles[tile as usize].is_watched(line) {
            self.disturb(line, tile);
        }
        lookup
    }

    /// A request leaves its tile at `at`; when and where it arrives.
    pub(crate) fn depart(&mut self, core: u32, line: LineId, at: u64) -> (u64, Stage) {
        let at = at + self.places.request_latency();
        let tile = self.places.tile(core);
        let from = self.places.tile_place(tile);
        let group = self.places.group_of_tile(tile);
        if self.config.llc.is_some() {
            let to = self.places.group_place(group, line);
            (self.travel(from, to, CONTROL_BITS, at), Stage::Group)
        } else {
            let home = self.places.home(line, group);
            let to = self.places.home_place(home, line);
            (self.travel(from, to, CONTROL_BITS, at), Stage::Home)
        }
    }

    fn travel(&mut self, from: u32, to: u32, bits: u32, at: u64) -> u64 {
        if from == to {
            at
        } else {
            self.network.send(from, to, bits, at)
        }
    }

    /// A request arrives at its stage.
    pub(crate) fn arrive(&mut self, request: Request, now: u64) -> Arrival {
        let line = self.lines.line(request.line);
        if line.busy_until > now || !line.waiting.is_empty() {
            let first = line.waiting.is_empty();
            line.waiting.push_back(request);
            return Arrival::Queued(first.then_some(line.busy_until));
        }
        self.serve(request, now)
    }

    /// The line's home is free: its next request, and whether more wait. The
    /// caller serves it with [`serve_next`](Self::serve_next).
    pub(crate) fn next_waiting(&mut self, line: LineId) -> Option<Request> {
        self.lines.line(line).waiting.pop_front()
    }

    /// When the line's next waiting request can be served; `None` if there is
    /// none.
    pub(crate) fn free_at(&mut self, line: LineId) -> Option<u64> {
        let line = self.lines.line(line);
        (!line.waiting.is_empty()).then_some(line.busy_until)
    }

    /// Serves a request whose line is free.
    pub(crate) fn serve(&mut self, request: Request, now: u64) -> Arrival {
        if request.stage == Stage::Group && !self.group_can_answer(&request) {
            let tile = self.places.tile(request.core);
            let group = self.places.group_of_tile(tile);
            let home = self.places.home(request.line, group);
            if home != group {
                let from = self.places.group_place(group, request.line);
                let to = self.places.home_place(home, request.line);
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

    /// Whether the requester's group needs nobody outside.
    fn group_can_answer(&mut self, request: &Request) -> bool {
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
        // To write, it must know that nobody else reads.
        let only_here = line.groups.iter().all(|one| one == group) && line.sharers.iter().all(here);
        let known = !broadcast || line.sharers.is_empty();
        only_here && known && (in_cache || in_tiles())
    }

    fn serve_at(&mut self, request: Request, now: u64) -> Arrival {
        let served = if request.operation.reads_only() {
            self.serve_read(&request, now)
        } else if let Operation::Conditional(_) = request.operation {
            let tile = self.places.tile(request.core);
            let line = self.lines.line(request.line);
            // The reservation is the copy itself: lost with it.
            if line.sharers.contains(tile) || line.owner == Some(tile) {
                self.serve_write(&request, now)
            } else {
                self.refuse(&request, now)
            }
        } else {
            self.serve_write(&request, now)
        };
        Arrival::Served(served)
    }

    /// The store of an LL/SC pair whose reservation is gone.
    fn refuse(&mut self, request: &Request, now: u64) -> Served {
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

    fn stage_place(&mut self, request: &Request) -> u32 {
        let tile = self.places.tile(request.core);
        let group = self.places.group_of_tile(tile);
        match request.stage {
            Stage::Group => self.places.group_place(group, request.line),
            Stage::Home => {
                let home = self.places.home(request.line, group);
                self.places.home_place(home, request.line)
            }
        }
    }

    fn data_bits(&self) -> u32 {
        CONTROL_BITS + 8 * self.config.line
    }

    /// Asks the caches of the tile that owns `line` for it: from the place of
    /// the request's stage at `at` to the requester's tile.
    fn fetch_from_owner(&mut self, request: &Request, owner: TileId, dirty: bool, at: u64) -> Data {
        let stage = self.stage_place(request);
        let tile = self.places.tile(request.core);
        let (mine, its) = (
            self.places.group_of_tile(tile),
            self.places.group_of_tile(owner),
        );
        let (ask, answer) = match &self.config.llc {
            Some(llc) => (
                self.places.group_place(its, request.line),
                llc.snoop + if dirty { llc.dirty } else { 0 },
            ),
            None => (
                self.places.tile_place(owner),
                self.config.l2.as_ref().unwrap_or(&self.config.l1).latency,
            ),
        };
        let asked = self.travel(stage, ask, CONTROL_BITS, at);
        let answered = asked + answer;
        let back = if mine == its && self.config.llc.is_some() {
            // Inside the group, through its cache.
            self.reply_through(request, ask, answered)
        } else if self.config.coherence.data_path == DataPath::ThroughHome {
            let bits = self.data_bits();
            let home = self.travel(ask, stage, bits, answered) + self.config.coherence.latency;
            self.reply_from(request, stage, home)
        } else {
            self.reply_from(request, ask, answered)
        };
        Data {
            at: back,
            class: if mine == its {
                Class::Group
            } else {
                Class::Remote
            },
        }
    }

    /// Data travel from `place` to the requester's tile.
    fn reply_from(&mut self, request: &Request, place: u32, at: u64) -> u64 {
        let tile = self.places.tile(request.core);
        let bits = self.data_bits();
        let to = if self.config.llc.is_some() {
            let group = self.places.group_of_tile(tile);
            let entry = self.places.group_place(group, request.line);
            let at = self.travel(place, entry, bits, at);
            return self.reply_through(request, entry, at);
        } else {
            self.places.tile_place(tile)
        };
        self.travel(place, to, bits, at)
    }

    /// Data travel from the group's cache to the requester's tile.
    fn reply_through(&mut self, request: &Request, entry: u32, at: u64) -> u64 {
        let to = self.places.tile_place(self.places.tile(request.core));
        let bits = self.data_bits();
        self.travel(entry, to, bits, at)
    }

    /// A clean line, from the nearest cache that has it or from memory.
    fn fetch_clean(&mut self, request: &Request, at: u64) -> Data {
        let tile = self.places.tile(request.core);
        let mine = self.places.group_of_tile(tile);
        let stage = self.stage_place(request);
        let line = self.lines.line(request.line);
        if let Some(llc) = &self.config.llc {
            let snoop = llc.snoop;
            if line.groups.contains(mine) && request.stage == Stage::Group {
                let back = self.reply_through(request, stage, at);
                return Data {
                    at: back,
                    class: Class::Group,
                };
            }
            let tile_here = line
                .sharers
                .iter()
                .any(|one| self.places.group_of_tile(one) == mine);
            if tile_here && request.stage == Stage::Group {
                let back = self.reply_through(request, stage, at + snoop);
                return Data {
                    at: back,
                    class: Class::Group,
                };
            }
        }
        let home = self.places.home(request.line, mine);
        if let Some((source, snoop)) = self.clean_source(request.line, home, mine) {
            let from = match self.config.llc {
                Some(_) => self.places.group_place(source, request.line),
                None => source,
            };
            let asked = self.travel(stage, from, CONTROL_BITS, at) + snoop;
            let back = self.reply_from(request, from, asked);
            return Data {
                at: back,
                class: if source == mine {
                    Class::Group
                } else {
                    Class::Remote
                },
            };
        }
        let (controller, place) = self.places.controller(home, request.line);
        let asked = self.travel(stage, place, CONTROL_BITS, at);
        let read = self.controllers.access(controller, asked);
        let read = match self.config.coherence.data_path {
            DataPath::ThroughHome => {
                let bits = self.data_bits();
                self.travel(place, stage, bits, read)
            }
            DataPath::Direct => read,
        };
        let from = match self.config.coherence.data_path {
            DataPath::ThroughHome => stage,
            DataPath::Direct => place,
        };
        Data {
            at: self.reply_from(request, from, read),
            class: Class::Memory,
        }
    }

    /// The group (without last-level caches: the place of the tile) that
    /// supplies a clean line, and what asking it costs beside the way. The
    /// home's own cache first, then, if caches supply clean lines at all, the
    /// one nearest to the home.
    fn clean_source(&mut self, line: LineId, home: u32, mine: u32) -> Option<(u32, u64)> {
        let forward = self.config.coherence.clean_forward;
        let record = self.lines.line(line);
        let Some(llc) = &self.config.llc else {
            let cost = self.config.l2.as_ref().unwrap_or(&self.config.l1).latency;
            let from = self.places.home_place(home, line);
            let places = &self.places;
            let near = |&tile: &TileId| {
                let place = places.tile_place(tile);
                (self.network.latency(from, place, CONTROL_BITS), tile)
            };
            let nearest = record.sharers.iter().filter(|_| forward).min_by_key(near)?;
            return Some((places.tile_place(nearest), cost));
        };
        if record.groups.contains(home) {
            return Some((home, 0));
        }
        if !forward {
            return None;
        }
        let from = self.places.home_place(home, line);
        let mut best: Option<(u64, u32, u64)> = None;
        let with_tiles = record
            .sharers
            .iter()
            .map(|tile| (self.places.group_of_tile(tile), llc.snoop));
        let in_caches = record.groups.iter().map(|group| (group, 0));
        for (group, snoop) in in_caches
            .chain(with_tiles)
            .filter(|&(group, _)| group != mine || forward)
        {
            let way =
                self.network
                    .latency(from, self.places.group_place(group, line), CONTROL_BITS);
            let candidate = (way + snoop, group, snoop);
            if best.is_none_or(|best| candidate < best) {
                best = Some(candidate);
            }
        }
        best.map(|(_, group, snoop)| (group, snoop))
    }

    fn serve_read(&mut self, request: &Request, now: u64) -> Served {
        let value = request.word.apply(request.operation);
        let coherence = self.config.coherence.clone();
        let at = now
            + if request.stage == Stage::Home {
                coherence.latency
            } else {
                0
            };
        let tile = self.places.tile(request.core);
        let line = self.lines.line(request.line);
        let owner = line.owner;
        let alone = line.uncached();
        let data = match owner {
            Some(owner) => {
                let dirty = self.downgrade(request.line, owner, at);
                self.fetch_from_owner(request, owner, dirty, at)
            }
            None => self.fetch_clean(request, at),
        };
        let done = data.at + self.places.reply_latency();
        let exclusive = alone && self.mesi() && coherence.writes == Writes::Back;
        let line = self.lines.line(request.line);
        if exclusive {
            line.owner = Some(tile);
        } else {
            line.sharers.insert(tile);
        }
        if exclusive
            || owner.is_some()
            || data.class == Class::Memory && coherence.writes == Writes::Back && alone
        {
            line.busy_until = done;
        } else {
            line.busy_until = now + coherence.occupancy;
            line.readers_until = line.readers_until.max(done);
        }
        let state = if exclusive {
            State::Exclusive
        } else {
            State::Shared
        };
        self.fill(request.line, tile, state, done);
        Served {
            done,
            execution: 0,
            class: data.class,
            value,
            stored: true,
            taken: owner.is_some().into(),
        }
    }

    fn serve_write(&mut self, request: &Request, now: u64) -> Served {
        let value = request.word.apply(request.operation);
        let at = now
            + if request.stage == Stage::Home {
                self.config.coherence.latency
            } else {
                0
            };
        let tile = self.places.tile(request.core);
        let execution = request.operation.execution(&self.config.atomics);
        let line = self.lines.line(request.line);
        // Readers that are still being served have their data before anybody
        // writes.
        let readers_until = line.readers_until;
        let owner = line.owner.filter(|&owner| owner != tile);
        if self.config.coherence.writes == Writes::Through {
            return self.write_through(request, at, value, readers_until);
        }
        let (ready, class) = match owner {
            Some(owner) => {
                let dirty = self.tiles[owner as usize].state(request.line) == Some(State::Modified);
                let data = self.fetch_from_owner(request, owner, dirty, at);
                (data.at, data.class)
            }
            None => {
                let line = self.lines.line(request.line);
                let had_it = line.sharers.contains(tile) || line.owner == Some(tile);
                let mine = self.places.group_of_tile(tile);
                let others = line.sharers.iter().any(|one| one != tile)
                    || line.groups.iter().any(|one| one != mine);
                let data = if had_it {
                    // Permission alone, from where the request is.
                    let stage = self.stage_place(request);
                    let at = self.permission_from(request, stage, at);
                    Data {
                        at,
                        class: Class::Group,
                    }
                } else {
                    self.fetch_clean(request, at)
                };
                let shared = others || self.probes_blindly(request.line);
                let (acked, class) = if shared {
                    self.invalidation(request, at)
                } else {
                    (0, Class::Group)
                };
                (data.at.max(acked), data.class.max(class))
            }
        };
        let done = (ready + self.places.reply_latency()).max(readers_until) + execution;
        let taken = self.take_from_all(request.line, tile);
        let line = self.lines.line(request.line);
        line.owner = Some(tile);
        line.busy_until = done;
        self.fill(request.line, tile, State::Modified, done);
        Served {
            done,
            execution,
            class,
            value,
            stored: true,
            taken,
        }
    }

    /// Leave to write travels from `place` to the requester's tile.
    fn permission_from(&mut self, request: &Request, place: u32, at: u64) -> u64 {
        let tile = self.places.tile(request.core);
        let to = self.places.tile_place(tile);
        if self.config.llc.is_some() {
            let entry = self
                .places
                .group_place(self.places.group_of_tile(tile), request.line);
            let at = self.travel(place, entry, CONTROL_BITS, at);
            return self.travel(entry, to, CONTROL_BITS, at);
        }
        self.travel(place, to, CONTROL_BITS, at)
    }

    /// Without knowledge of sharers, a line that some tile may read is probed
    /// for everywhere.
    fn probes_blindly(&mut self, line: LineId) -> bool {
        self.config.coherence.directory == Directory::Broadcast
            && !self.lines.line(line).sharers.is_empty()
    }

    /// Tells all other holders of a clean line to drop it; when the last
    /// answer has reached the requester's tile.
    fn invalidation(&mut self, request: &Request, at: u64) -> (u64, Class) {
        let stage = self.stage_place(request);
        let tile = self.places.tile(request.core);
        let mine = self.places.group_of_tile(tile);
        let record = self.lines.line(request.line);
        let (sharers, groups) = (record.sharers.clone(), record.groups.clone());
        let mut last = 0;
        let mut class = Class::Group;
        let Some(llc) = self.config.llc.clone() else {
            return self.invalidate_tiles(request, &sharers, at);
        };
        let blind = self.config.coherence.directory == Directory::Broadcast;
        let mut sent = 0;
        for group in 0..self.places.groups() {
            let in_tiles = sharers
                .iter()
                .any(|one| one != tile && self.places.group_of_tile(one) == group);
            let there = in_tiles || groups.contains(group) && group != mine;
            let asked = there || blind && request.stage == Stage::Home;
            if !asked {
                continue;
            }
            let cost = match () {
                () if in_tiles => llc.invalidate,
                () if blind => llc.snoop,
                () => 0,
            };
            let place = self.places.group_place(group, request.line);
            let told = self.travel(stage, place, CONTROL_BITS, at + sent) + cost;
            sent += 1;
            last = last.max(self.permission_from(request, place, told));
            if group != mine {
                class = Class::Remote;
            }
        }
        (last, class)
    }

    /// The same between tiles without last-level caches: one message a
    /// sharer, or a broadcast that only sharers answer when the directory
    /// could not name them all.
    fn invalidate_tiles(
        &mut self,
        request: &Request,
        sharers: &crate::core_set::CoreSet,
        at: u64,
    ) -> (u64, Class) {
        let home = self.stage_place(request);
        let tile = self.places.tile(request.core);
        let coherence = self.config.coherence.clone();
        let cost = self.config.l2.as_ref().unwrap_or(&self.config.l1).latency;
        let overflow = match coherence.directory {
            Directory::FullMap => false,
            Directory::Ackwise => sharers.len() > coherence.pointers,
            Directory::Broadcast => true,
        };
        let broadcast = overflow.then(|| self.network.broadcast(home, CONTROL_BITS, at));
        let mut last = 0;
        let mut sent = 0;
        let all_answer = coherence.directory == Directory::Broadcast;
        for target in 0..self.places.tiles() {
            if target == tile || !(sharers.contains(target) || all_answer) {
                continue;
            }
            let place = self.places.tile_place(target);
            let told = match &broadcast {
                Some(broadcast) => broadcast.arrival(place),
                None => {
                    sent += 1;
                    self.travel(home, place, CONTROL_BITS, at + sent - 1)
                }
            };
            let answered = told + cost;
            last = last.max(match coherence.data_path {
                DataPath::Direct => {
                    let mine = self.places.tile_place(tile);
                    self.travel(place, mine, CONTROL_BITS, answered)
                }
                DataPath::ThroughHome => self.travel(place, home, CONTROL_BITS, answered),
            });
        }
        if coherence.data_path == DataPath::ThroughHome {
            last = self.permission_from(request, home, last);
        }
        (last, Class::Remote)
    }

    /// A write done at its line's home; private caches keep clean copies only.
    fn write_through(
        &mut self,
        request: &Request,
        at: u64,
        value: u64,
        readers_until: u64,
    ) -> Served {
        let tile = self.places.tile(request.core);
        let execution = request.operation.execution(&self.config.atomics);
        let llc = self.config.llc.clone();
        let (write, invalidate) = llc.map_or((0, 0), |llc| (llc.dirty, llc.invalidate));
        let group = self.places.group_of_tile(tile);
        let record = self.lines.line(request.line);
        let others = record.sharers.iter().any(|one| one != tile);
        let cached = record.groups.contains(group);
        let data = if cached {
            Data {
                at,
                class: Class::Group,
            }
        } else {
            let home = self.places.home(request.line, group);
            let (controller, _) = self.places.controller(home, request.line);
            Data {
                at: self.controllers.access(controller, at),
                class: Class::Memory,
            }
        };
        let atomic = execution > 0;
        let own = if atomic { execution } else { write };
        let executed = data.at + own + if others { invalidate } else { 0 };
        let executed = executed.max(readers_until);
        let stage = self.stage_place(request);
        let done = self.permission_from(request, stage, executed) + self.places.reply_latency();
        let keeps = !atomic && self.lines.line(request.line).sharers.contains(tile);
        let taken = self.take_from_all(request.line, tile);
        if keeps {
            self.lines.line(request.line).sharers.insert(tile);
            self.disturb(request.line, tile);
        } else {
            self.take_from(request.line, tile);
        }
        self.fill_group(request.line, group, State::Modified, executed);
        self.lines.line(request.line).busy_until = executed;
        Served {
            done,
            execution: if atomic { execution } else { 0 },
            class: data.class,
            value,
            stored: true,
            taken,
        }
    }
}
