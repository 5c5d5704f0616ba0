//! The invariants of coherence, as assertions.

use super::Memory;
use super::cache::State;

impl Memory {
    /// One writer or many readers; the directory names exactly the tiles that
    /// hold the line; an inclusive cache has what its tiles have. For one
    /// line: cheap enough for every access of a debug run.
    pub(crate) fn check_line(&mut self, line: u32) -> Result<(), String> {
        let record = self.lines.line(line);
        let (owner, sharers) = (record.owner, record.sharers.clone());
        let groups = record.groups.clone();
        if owner.is_some() && !sharers.is_empty() {
            return Err(format!(
                "line {line}: owner {owner:?} beside readers {sharers:?}"
            ));
        }
        for tile in 0..self.places.tiles() {
            let held = self.tiles[tile as usize].state(line);
            let expected = match held {
                Some(State::Shared) => sharers.contains(tile),
                Some(_) => owner == Some(tile),
                None => !sharers.contains(tile) && owner != Some(tile),
            };
            if !expected {
                return Err(format!(
                    "line {line}: tile {tile} has it as {held:?}; directory: owner {owner:?}, readers {sharers:?}"
                ));
            }
        }
        let inclusive = self.config.llc.as_ref().is_some_and(|llc| llc.inclusive);
        for group in 0..self.shared.len() as u32 {
            let held = self.shared[group as usize].state(line).is_some();
            if held != groups.contains(group) {
                return Err(format!(
                    "line {line}: group {group} holds it: {held}, directory otherwise"
                ));
            }
            let mut tiles = sharers.iter().chain(owner);
            if inclusive && !held && tiles.any(|tile| self.places.group_of_tile(tile) == group) {
                return Err(format!(
                    "line {line}: tiles of group {group} have it, its cache has not"
                ));
            }
        }
        Ok(())
    }

    /// The same for every line, and that each L2 holds its L1.
    pub(crate) fn check(&mut self) -> Result<(), String> {
        let lines: Vec<u32> = self.lines.iter().map(|(line, _)| line).collect();
        for line in lines {
            self.check_line(line)?;
        }
        for (tile, private) in self.tiles.iter().enumerate() {
            if !private.is_inclusive() {
                return Err(format!("tile {tile}: its L2 lacks a line of its L1"));
            }
        }
        Ok(())
    }
}
