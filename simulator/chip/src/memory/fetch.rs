//! Fetches lines: from an owner, from a clean copy, or from memory.

use super::Memory;
use super::cache::LineId;
use super::line::TileId;
use super::request::{CONTROL_BITS, Class, Data, Request, Stage};
use crate::config::DataPath;

impl Memory {
    pub(super) fn travel(&mut self, from: u32, to: u32, bits: u32, at: u64) -> u64 {
        if from == to {
            return at;
        }
        self.network.send(from, to, bits, at)
    }

    /// Reads or writes `line` at controller `which` from `at` on. Returns the time when the transfer is done.
    pub(super) fn transfer(&mut self, which: u32, line: LineId, at: u64) -> u64 {
        let done = self.controllers.access(which, line, at);
        if let Some(census) = &mut self.census {
            let waited = done - at - self.config.memory.latency;
            census.transferred(which, waited);
        }
        done
    }

    pub(super) fn data_bits(&self) -> u32 {
        CONTROL_BITS + 8 * self.config.line
    }

    /// Fetches `line` from the tile (the caches of the hardware threads that share an L1) that owns it. The place of
    /// the request's stage asks at `at`, and the data go to the requester's tile.
    pub(super) fn fetch_from_owner(
        &mut self,
        request: &Request,
        owner: TileId,
        dirty: bool,
        at: u64,
    ) -> Data {
        let stage = self.stage_place(request);
        let tile = self.places.tile(request.core);
        let (mine, its) = (
            self.places.group_of_tile(tile),
            self.places.group_of_tile(owner),
        );
        let (ask, answer) = match &self.config.llc {
            Some(llc) => (
                self.places.asked_place(owner, request.line),
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
            // Inside the group, the data come from the group's cache. On a mesh, they come from the tile.
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

    pub(super) fn reply_from(&mut self, request: &Request, place: u32, at: u64) -> u64 {
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

    /// Sends data from a place in the requester's group to its tile.
    pub(super) fn reply_through(&mut self, request: &Request, entry: u32, at: u64) -> u64 {
        let to = self.places.tile_place(self.places.tile(request.core));
        let bits = self.data_bits();
        self.travel(entry, to, bits, at)
    }

    /// Fetches a clean line from the nearest cache that holds it, or from memory.
    pub(super) fn fetch_clean(&mut self, request: &Request, at: u64) -> Data {
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
            let places = &self.places;
            let nearest = line
                .sharers
                .iter()
                .filter(|&one| places.group_of_tile(one) == mine)
                .map(|one| places.asked_place(one, request.line))
                .min_by_key(|&place| self.network.latency(stage, place, CONTROL_BITS));
            if let Some(asked) = nearest
                && request.stage == Stage::Group
            {
                let at = self.travel(stage, asked, CONTROL_BITS, at);
                let back = self.reply_through(request, asked, at + snoop);
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
            let places = &self.places;
            let its = match self.config.llc {
                Some(_) => source,
                None => places.group_of_tile(places.tile(source)),
            };
            return Data {
                at: back,
                class: if its == mine {
                    Class::Group
                } else {
                    Class::Remote
                },
            };
        }
        let (controller, place) = self.places.controller(home, request.line);
        let asked = self.travel(stage, place, CONTROL_BITS, at);
        let read = self.transfer(controller, request.line, asked);
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

    /// The group that supplies a clean line (or the place of a tile, if there are no last-level caches), and the cycles
    /// to ask it, without the cycles of the network. The cache of the home (the place that serialises the line's
    /// requests) is the first choice. If other caches may supply clean lines, the cache nearest to the home is the
    /// second choice.
    pub(super) fn clean_source(
        &mut self,
        line: LineId,
        home: u32,
        mine: u32,
    ) -> Option<(u32, u64)> {
        let forward = self.config.coherence.clean_forward;
        let record = self.lines.line(line);
        let Some(llc) = &self.config.llc else {
            if !forward {
                return None;
            }
            let cost = self.config.l2.as_ref().unwrap_or(&self.config.l1).latency;
            let from = self.places.group_place(home, line);
            let places = &self.places;
            let near = |&tile: &TileId| {
                let place = places.tile_place(tile);
                (self.network.latency(from, place, CONTROL_BITS), tile)
            };
            let nearest = record.sharers.iter().min_by_key(near)?;
            return Some((places.tile_place(nearest), cost));
        };
        if record.groups.contains(home) {
            return Some((home, 0));
        }
        if !forward {
            return None;
        }
        let from = self.places.group_place(home, line);
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

    pub(super) fn permission_from(&mut self, request: &Request, place: u32, at: u64) -> u64 {
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
}
