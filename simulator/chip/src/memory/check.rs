//! Checks the invariants of coherence.

use super::Memory;
use super::cache::{LineId, State};
use super::line::Line;

impl Memory {
    /// Checks one line: it has one writer or many readers, the directory names exactly the tiles (caches of hardware
    /// threads with one L1) that hold the line, and an inclusive cache holds the line if one of its tiles does. A debug
    /// run calls this after each access, so the function only looks at the tiles that the directory names. It compares
    /// the number of these tiles with [`Line::copies`], which `holders` counts when tags change.
    pub(crate) fn check_line(&mut self, line: LineId) -> Result<(), String> {
        let Line {
            owner,
            sharers,
            groups,
            copies,
            ..
        } = self.lines.line(line);
        if owner.is_some() && !sharers.is_empty() {
            return Err(format!(
                "line {line}: owner {owner:?} beside readers {sharers:?}"
            ));
        }
        let named = || sharers.iter().chain(*owner);
        for tile in named() {
            let held = self.tiles[tile as usize].state(line);
            let expected = match held {
                Some(State::Shared) => *owner != Some(tile),
                Some(_) => *owner == Some(tile),
                None => false,
            };
            if !expected {
                return Err(format!(
                    "line {line}: tile {tile} has it as {held:?}; directory: owner {owner:?}, readers {sharers:?}"
                ));
            }
        }
        let count = sharers.len() + u32::from(owner.is_some());
        if *copies != count {
            return Err(format!(
                "line {line}: {copies} tiles have it; directory: owner {owner:?}, readers {sharers:?}"
            ));
        }
        let inclusive = self.config.llc.as_ref().is_some_and(|llc| llc.inclusive);
        for group in 0..self.shared.len() as u32 {
            let held = self.shared[group as usize].state(line).is_some();
            if held != groups.contains(group) {
                return Err(format!(
                    "line {line}: group {group} holds it: {held}, directory otherwise"
                ));
            }
            if inclusive && !held && named().any(|tile| self.places.group_of_tile(tile) == group) {
                return Err(format!(
                    "line {line}: tiles of group {group} have it, its cache has not"
                ));
            }
        }
        Ok(())
    }

    /// Checks each line, compares the counts of copies with the tags of all tiles, and checks that
    /// each L2 holds the lines of its L1.
    pub(crate) fn check(&mut self) -> Result<(), String> {
        let lines: Vec<_> = self
            .lines
            .iter()
            .map(|(line, record)| (line, record.copies))
            .collect();
        for (line, copies) in lines {
            self.check_line(line)?;
            let held = self.tiles.iter().filter(|tile| tile.state(line).is_some());
            let held = held.count();
            if held != copies as usize {
                return Err(format!(
                    "line {line}: {held} tiles have it, {copies} were counted"
                ));
            }
        }
        for (tile, private) in self.tiles.iter().enumerate() {
            if !private.is_inclusive() {
                return Err(format!("tile {tile}: its L2 lacks a line of its L1"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::memory::operation::{Operation, Word};

    const READ: LineId = 4_096;
    const WRITTEN: LineId = 4_097;

    /// Tiles 0 to 3 have read one line, and tile 5 has written to another line.
    fn memory(preset: &str) -> Memory {
        let mut memory = Memory::new(&Config::preset(preset).unwrap()).unwrap();
        let mut access = |core, line, operation| {
            memory.warm(core, line, operation, Word::none(), 0);
            memory.check_line(line).unwrap();
        };
        (0..4).for_each(|core| access(core, READ, Operation::TouchRead));
        access(1, WRITTEN, Operation::TouchRead);
        access(5, WRITTEN, Operation::TouchWrite);
        memory.check().unwrap();
        memory
    }

    /// A memory with a last-level cache, and one without.
    fn memories() -> [Memory; 2] {
        ["graviton2-64", "atac-64"].map(memory)
    }

    fn error(memory: &mut Memory, line: LineId) -> String {
        memory.check_line(line).expect_err("it is incoherent")
    }

    #[test]
    fn a_copy_that_the_directory_does_not_name_is_found_at_once() {
        for line in [READ, WRITTEN] {
            for mut memory in memories() {
                memory.put(line, 9, State::Shared);
                assert!(error(&mut memory, line).contains("tiles have it; directory"));
            }
        }
        for mut memory in memories() {
            memory.lines.line(READ).sharers.remove(2);
            error(&mut memory, READ);
            memory.lines.line(WRITTEN).owner = None;
            error(&mut memory, WRITTEN);
        }
    }

    #[test]
    fn a_copy_that_is_gone_is_found_at_once() {
        for (line, tile) in [(READ, 2), (WRITTEN, 5)] {
            for mut memory in memories() {
                memory.remove(line, tile);
                assert!(error(&mut memory, line).contains("has it as None"));
            }
        }
    }

    #[test]
    fn a_reader_that_may_write_and_a_writer_that_may_not_are_found() {
        for (line, tile, state) in [(READ, 2, State::Modified), (WRITTEN, 5, State::Shared)] {
            for mut memory in memories() {
                memory.remove(line, tile);
                memory.put(line, tile, state);
                assert!(error(&mut memory, line).contains("has it as"));
            }
        }
    }

    #[test]
    fn a_writer_beside_readers_is_found() {
        for mut memory in memories() {
            memory.lines.line(READ).owner = Some(9);
            assert!(error(&mut memory, READ).contains("beside readers"));
        }
    }

    #[test]
    fn a_last_level_cache_that_lost_a_line_is_found() {
        let mut memory = memory("e5-2640x2");
        let group = memory.lines.line(READ).groups.iter().next().unwrap();
        memory.shared[group as usize].remove(READ);
        assert!(error(&mut memory, READ).contains("directory otherwise"));
    }

    /// Counts are compared with the tags of all tiles when the run ends.
    #[test]
    fn an_uncounted_copy_is_found_at_the_end() {
        for mut memory in memories() {
            memory.tiles[9].fill(READ, State::Shared);
            assert_eq!(memory.check_line(READ), Ok(()));
            assert!(memory.check().unwrap_err().contains("were counted"));
        }
    }
}
