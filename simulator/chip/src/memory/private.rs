//! The private caches of a tile (the hardware threads that share an L1).

use super::cache::{LineId, State, Tags};
use crate::config::{Config, Writes};

/// The L1 and L2 of one tile. The L2 holds all lines of the L1.
pub(crate) struct Private {
    pub(crate) l1: Tags,
    l2: Option<Tags>,
    l1_latency: u64,
    l2_latency: u64,
    /// The few lines that a thread of this tile spins on. Writes to them must be noticed.
    watched: Vec<LineId>,
    write_through: bool,
}

/// The answer of a tile's caches to an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// A hit in the L1, which takes this number of cycles. `L2` is a hit in the L2.
    L1(u64),
    L2(u64),
    /// A miss: the request must leave the tile.
    Miss,
}

impl Private {
    pub(crate) fn new(config: &Config) -> Self {
        let tags = |cache: &crate::config::Cache| Tags::new(cache.size, cache.ways, config.line);
        Self {
            l1: tags(&config.l1),
            l2: config.l2.as_ref().map(tags),
            l1_latency: config.l1.latency,
            l2_latency: config.l2.as_ref().map_or(0, |l2| l2.latency),
            watched: Vec::new(),
            write_through: config.coherence.writes == Writes::Through,
        }
    }

    pub(crate) fn lookup(&mut self, line: LineId, write: bool) -> Lookup {
        if write && self.write_through {
            return Lookup::Miss;
        }
        if let Some(state) = self.l1.touch(line) {
            if !write {
                return Lookup::L1(self.l1_latency);
            }
            if state == State::Shared {
                return Lookup::Miss;
            }
            self.l1.dirty_first(line);
            return Lookup::L1(self.l1_latency);
        }
        let Some(state) = self.l2.as_mut().and_then(|l2| l2.touch(line)) else {
            return Lookup::Miss;
        };
        if write && state == State::Shared {
            return Lookup::Miss;
        }
        let state = if write { State::Modified } else { state };
        let gone = self.promote(line, state);
        debug_assert!(gone.is_none(), "the L2 keeps what leaves the L1");
        Lookup::L2(self.l2_latency)
    }

    /// Puts a line that the L2 holds into the L1. With an L2, no line leaves the tile.
    fn promote(&mut self, line: LineId, state: State) -> Option<(LineId, State)> {
        let victim = self.l1.insert(line, state)?;
        match &mut self.l2 {
            // The L2 holds all lines of the L1, so it holds the victim.
            Some(l2) => {
                if victim.1 == State::Modified {
                    l2.set_state(victim.0, State::Modified);
                }
                None
            }
            None => Some(victim),
        }
    }

    /// Inserts a line. Returns the line that leaves the tile.
    pub(super) fn fill(&mut self, line: LineId, state: State) -> Option<(LineId, State)> {
        let gone = self.l2.as_mut().and_then(|l2| l2.insert(line, state));
        let gone = gone.map(|(victim, below)| {
            let above = self.l1.remove(victim);
            (victim, above.map_or(below, |above| above.max(below)))
        });
        // Only a tile without an L2 evicts a line here.
        self.promote(line, state).or(gone)
    }

    /// The highest state of the line in this tile.
    pub(crate) fn state(&self, line: LineId) -> Option<State> {
        let below = self.l2.as_ref().and_then(|l2| l2.state(line));
        self.l1.state(line).max(below)
    }

    /// Whether this tile has written to the line. If the L1 holds the line, the state in the L1 decides.
    pub(crate) fn is_modified(&self, line: LineId) -> bool {
        let state = self
            .l1
            .state(line)
            .or_else(|| self.l2.as_ref()?.state(line));
        state == Some(State::Modified)
    }

    /// Removes the line. Returns its state.
    pub(super) fn invalidate(&mut self, line: LineId) -> Option<State> {
        let below = self.l2.as_mut().and_then(|l2| l2.remove(line));
        self.l1.remove(line).max(below)
    }

    /// Makes the line read-only. Returns whether it was modified.
    pub(crate) fn downgrade(&mut self, line: LineId) -> bool {
        let dirty = self.is_modified(line);
        self.l1.set_state(line, State::Shared);
        if let Some(l2) = &mut self.l2 {
            l2.set_state(line, State::Shared);
        }
        dirty
    }

    pub(crate) fn watch(&mut self, line: LineId) {
        if !self.watched.contains(&line) {
            self.watched.push(line);
        }
    }

    pub(crate) fn unwatch(&mut self, line: LineId) {
        self.watched.retain(|&one| one != line);
    }

    #[inline(always)]
    pub(crate) fn is_watched(&self, line: LineId) -> bool {
        !self.watched.is_empty() && self.watched.contains(&line)
    }

    /// Whether the L2 holds all lines of the L1.
    pub(crate) fn is_inclusive(&self) -> bool {
        self.l2
            .as_ref()
            .is_none_or(|l2| self.l1.lines().all(|(line, _)| l2.state(line).is_some()))
    }
}
