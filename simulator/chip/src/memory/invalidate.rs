//! Invalidation: all holders of a line drop the line and answer.

use super::Memory;
use super::cache::LineId;
use super::request::{CONTROL_BITS, Class, Request, Stage};
use crate::config::{Coherence, DataPath, Directory, SharedCache};

impl Memory {
    /// Whether all groups are asked to drop the line: the directory does not know sharers, and some tile (the caches of
    /// the hardware threads that share an L1) may read the line.
    pub(super) fn probes_blindly(&mut self, line: LineId) -> bool {
        self.config.coherence.directory == Directory::Broadcast
            && !self.lines.line(line).sharers.is_empty()
    }

    /// Makes all other holders of a clean line drop it. Returns the time when the last answer has
    /// reached the requester's tile.
    pub(super) fn invalidation(&mut self, request: &Request, at: u64) -> (u64, Class) {
        let stage = self.stage_place(request);
        let tile = self.places.tile(request.core);
        let mine = self.places.group_of_tile(tile);
        let record = self.lines.line(request.line);
        let (sharers, groups) = (record.sharers.clone(), record.groups.clone());
        let mut last = 0;
        let mut class = Class::Group;
        let Some(SharedCache {
            snoop, invalidate, ..
        }) = self.config.llc
        else {
            return self.invalidate_tiles(request, &sharers, at);
        };
        let blind = self.config.coherence.directory == Directory::Broadcast;
        let mut sent = 0;
        for group in 0..self.places.groups() {
            let place = self.places.group_place(group, request.line);
            let places = &self.places;
            let farthest = sharers
                .iter()
                .filter(|&one| one != tile && places.group_of_tile(one) == group)
                .map(|one| places.asked_place(one, request.line))
                .max_by_key(|&asked| self.network.latency(place, asked, CONTROL_BITS));
            let there = farthest.is_some() || groups.contains(group) && group != mine;
            let asked = there || blind && request.stage == Stage::Home;
            if !asked {
                continue;
            }
            let cost = match farthest {
                Some(_) => invalidate,
                None if blind => snoop,
                None => 0,
            };
            let told = self.travel(stage, place, CONTROL_BITS, at + sent);
            let asked = farthest.unwrap_or(place);
            let told = self.travel(place, asked, CONTROL_BITS, told) + cost;
            sent += 1;
            last = last.max(self.permission_from(request, asked, told));
            if group != mine {
                class = Class::Remote;
            }
        }
        (last, class)
    }

    /// Like [`invalidation`](Self::invalidation), on a machine without last-level caches. Sends one message to each
    /// sharer. If the directory cannot name all sharers, sends a broadcast, which only sharers answer.
    pub(super) fn invalidate_tiles(
        &mut self,
        request: &Request,
        sharers: &crate::core_set::CoreSet,
        at: u64,
    ) -> (u64, Class) {
        let home = self.stage_place(request);
        let tile = self.places.tile(request.core);
        let Coherence {
            directory,
            data_path,
            ..
        } = self.config.coherence;
        let cost = self.config.l2.as_ref().unwrap_or(&self.config.l1).latency;
        let overflow = match directory {
            Directory::FullMap => false,
            Directory::Ackwise => self.lines.line(request.line).overflowed,
            Directory::Broadcast => true,
        };
        let broadcast = overflow.then(|| self.network.broadcast(home, CONTROL_BITS, at));
        let mut last = 0;
        let mut sent = 0;
        let all_answer = directory == Directory::Broadcast;
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
            last = last.max(match data_path {
                DataPath::Direct => {
                    let mine = self.places.tile_place(tile);
                    self.travel(place, mine, CONTROL_BITS, answered)
                }
                DataPath::ThroughHome => self.travel(place, home, CONTROL_BITS, answered),
            });
        }
        if data_path == DataPath::ThroughHome {
            last = self.permission_from(request, home, last);
        }
        (last, Class::Remote)
    }
}
