//! Changes the holders of a line: tags and directory together, so they always agree.

use super::Memory;
use super::cache::{LineId, State};
use super::line::TileId;
use crate::config::SharedCache;

impl Memory {
    /// `tile` gets the line; what must leave for it leaves.
    pub(super) fn fill(&mut self, line: LineId, tile: TileId, state: State, at: u64) {
        let group = self.places.group_of_tile(tile);
        match &self.config.llc {
            Some(SharedCache {
                inclusive: true, ..
            }) => {
                self.fill_group(line, group, State::Shared, at);
            }
            // An exclusive cache gives the line up to whoever writes to it.
            Some(_) if state != State::Shared => {
                self.drop_from_group(line, group);
            }
            _ => {}
        }
        if let Some((victim, state)) = self.put(line, tile, state) {
            self.leave_tile(victim, tile, state, at);
        }
    }

    /// Puts a line into a tile's tags. Returns the line that leaves them for it. A debug run counts the copies.
    pub(super) fn put(
        &mut self,
        line: LineId,
        tile: TileId,
        state: State,
    ) -> Option<(LineId, State)> {
        let tags = &mut self.tiles[tile as usize];
        if cfg!(debug_assertions) && tags.state(line).is_none() {
            self.lines.line(line).copies += 1;
        }
        let gone = tags.fill(line, state);
        if cfg!(debug_assertions)
            && let Some((victim, _)) = gone
        {
            self.lines.line(victim).copies -= 1;
        }
        gone
    }

    /// Removes a line from a tile's tags. Returns the state that it had there.
    pub(super) fn remove(&mut self, line: LineId, tile: TileId) -> Option<State> {
        let state = self.tiles[tile as usize].invalidate(line);
        if cfg!(debug_assertions) && state.is_some() {
            self.lines.line(line).copies -= 1;
        }
        state
    }

    /// A tile evicts a line.
    fn leave_tile(&mut self, line: LineId, tile: TileId, state: State, at: u64) {
        self.disturb(line, tile);
        let record = self.lines.line(line);
        if record.owner == Some(tile) {
            record.owner = None;
        } else {
            record.sharers.remove(tile);
        }
        let group = self.places.group_of_tile(tile);
        match &self.config.llc {
            Some(llc) => {
                let kept = llc.inclusive && state != State::Modified;
                if !kept {
                    self.fill_group(line, group, state, at);
                }
            }
            None if state == State::Modified => self.write_back(line, group, at),
            None => {}
        }
    }

    /// A group's cache gets the line, or what its tiles wrote to it.
    pub(super) fn fill_group(&mut self, line: LineId, group: u32, state: State, at: u64) {
        let tags = &mut self.shared[group as usize];
        let state = tags.state(line).map_or(state, |before| before.max(state));
        let victim = tags.insert(line, state);
        self.lines.line(line).groups.insert(group);
        if let Some((victim, mut state)) = victim {
            self.lines.line(victim).groups.remove(group);
            if self.config.llc.as_ref().is_some_and(|llc| llc.inclusive) {
                state = state.max(self.clear_group(victim, group));
            }
            if state == State::Modified {
                self.write_back(victim, group, at);
            }
        }
    }

    /// Takes a line from all tiles of a group: its inclusive cache lost it.
    /// The best state it was in.
    fn clear_group(&mut self, line: LineId, group: u32) -> State {
        let record = self.lines.line(line);
        let places = &self.places;
        let holders = record.sharers.iter().chain(record.owner);
        let tiles: Vec<TileId> = holders
            .filter(|&tile| places.group_of_tile(tile) == group)
            .collect();
        let mut best = State::Shared;
        for tile in tiles {
            best = best.max(self.take_from(line, tile).unwrap_or(State::Shared));
        }
        best
    }

    fn write_back(&mut self, line: LineId, group: u32, at: u64) {
        let home = self.places.home(line, group);
        let (controller, _) = self.places.controller(home, line);
        self.transfer(controller, line, at);
    }

    /// The line leaves a group's cache, its tiles keep it.
    fn drop_from_group(&mut self, line: LineId, group: u32) {
        self.shared[group as usize].remove(line);
        self.lines.line(line).groups.remove(group);
    }

    /// The owner keeps the line for reading; whether it had written to it.
    pub(super) fn downgrade(&mut self, line: LineId, owner: TileId, at: u64) -> bool {
        let dirty = self.tiles[owner as usize].downgrade(line);
        let record = self.lines.line(line);
        record.owner = None;
        record.sharers.insert(owner);
        let group = self.places.group_of_tile(owner);
        if dirty {
            match &self.config.llc {
                Some(llc) if llc.inclusive => self.fill_group(line, group, State::Modified, at),
                _ => self.write_back(line, group, at),
            }
        }
        dirty
    }

    /// Takes a line from one tile.
    pub(super) fn take_from(&mut self, line: LineId, tile: TileId) -> Option<State> {
        self.disturb(line, tile);
        let record = self.lines.line(line);
        if record.owner == Some(tile) {
            record.owner = None;
        }
        record.sharers.remove(tile);
        self.remove(line, tile)
    }

    /// Takes a line from all tiles but `writer`, which is about to write to it; returns how many
    /// had it. An owner's writes go with it, so nothing is written back.
    pub(super) fn take_from_all(&mut self, line: LineId, writer: TileId) -> u32 {
        let record = self.lines.line(line);
        let owner = record.owner.take();
        if record.sharers.is_empty() && record.groups.is_empty() {
            // The usual hand-over from writer to writer.
            let Some(owner) = owner.filter(|&owner| owner != writer) else {
                return 0;
            };
            self.disturb(line, owner);
            self.remove(line, owner);
            return 1;
        }
        let mut taken = 0;
        let record = self.lines.line(line);
        let sharers = std::mem::take(&mut record.sharers);
        let groups = record.groups.clone();
        self.disturb_all(line, |tile| {
            tile != writer && (sharers.contains(tile) || owner == Some(tile))
        });
        for tile in sharers.iter().chain(owner).filter(|&tile| tile != writer) {
            self.remove(line, tile);
            taken += 1;
        }
        let mine = self.places.group_of_tile(writer);
        for group in groups.iter().filter(|&group| group != mine) {
            self.drop_from_group(line, group);
            taken += 1;
        }
        taken
    }
}
