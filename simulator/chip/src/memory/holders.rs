//! Changes the holders of a line. Each change concerns both the tags and the directory, so that they always agree.

use super::Memory;
use super::cache::{LineId, State};
use super::line::TileId;
use crate::config::SharedCache;

impl Memory {
    /// Gives the line to `tile` (the caches of the hardware threads that share an L1), and evicts the line that must
    /// make room for it.
    pub(super) fn fill(&mut self, line: LineId, tile: TileId, mut state: State, at: u64) {
        let group = self.places.group_of_tile(tile);
        match &self.config.llc {
            Some(SharedCache {
                inclusive: true, ..
            }) => {
                self.fill_group(line, group, State::Shared, at);
            }
            // A last-level cache that is not inclusive drops a line that one of its tiles may write
            // to. If the dropped copy was modified, only the tile has the data now.
            Some(_) if state != State::Shared => {
                let dropped = self.drop_from_group(line, group);
                state = dropped.map_or(state, |dropped| dropped.max(state));
            }
            _ => {}
        }
        if let Some((victim, state)) = self.put(line, tile, state) {
            self.leave_tile(victim, tile, state, at);
        }
    }

    /// Puts a line into a tile's tags. Returns the evicted line. A debug run counts the copies.
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

    /// Removes a line from a tile's tags. Returns its state.
    pub(super) fn remove(&mut self, line: LineId, tile: TileId) -> Option<State> {
        let state = self.tiles[tile as usize].invalidate(line);
        if cfg!(debug_assertions) && state.is_some() {
            self.lines.line(line).copies -= 1;
        }
        state
    }

    /// Handles a line that a tile has evicted.
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

    /// Gives the line, or its modified data, to a group's cache.
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

    /// Called when the inclusive cache of a group evicts a line. Removes the line from all tiles of the group. Returns
    /// the highest state of the line in a tile.
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

    /// Removes a line from a group's cache. The group's tiles keep the line. Returns the state of the removed copy.
    pub(super) fn drop_from_group(&mut self, line: LineId, group: u32) -> Option<State> {
        self.lines.line(line).groups.remove(group);
        self.shared[group as usize].remove(line)
    }

    /// Lets the owner keep the line only for reading. Returns whether the owner had written to it.
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

    /// Removes a line from one tile. The tile's cores that spin on the line must load it again.
    pub(super) fn take_from(&mut self, line: LineId, tile: TileId) -> Option<State> {
        self.disturb(line, tile);
        let record = self.lines.line(line);
        if record.owner == Some(tile) {
            record.owner = None;
        }
        record.sharers.remove(tile);
        self.remove(line, tile)
    }

    /// Removes a line from all tiles except `writer`, which is about to write to it, and from other
    /// groups' caches. Returns how many copies there were. The modified data go to the writer, so
    /// nothing is written back.
    pub(super) fn take_from_all(&mut self, line: LineId, writer: TileId) -> u32 {
        let record = self.lines.line(line);
        let owner = record.owner.take();
        if record.sharers.is_empty() && record.groups.is_empty() {
            // The usual case: the line moves from one writer to the next.
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
