//! The tags of a set-associative cache: its lines and their states, in LRU order. The data are in
//! host memory.

/// A line's number: its simulated address divided by the line size.
pub(crate) type LineId = u32;

/// The state of a line in a cache. Absent lines are invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum State {
    /// The cache may read the line. Other caches may hold it too.
    Shared,
    /// The cache may read the line, and write to it without asking, since no other cache holds it.
    Exclusive,
    /// Like exclusive, and the line differs from its copy in lower levels.
    Modified,
}

#[derive(Clone, Copy)]
struct Entry {
    line: LineId,
    state: State,
}

/// No line has this number, since the largest number in `LineTable` is far smaller.
const NONE: LineId = LineId::MAX;
const EMPTY: Entry = Entry {
    line: NONE,
    state: State::Shared,
};

/// The tags of one cache. Each set begins with its most recently used line, so a usual hit takes
/// one comparison and changes nothing.
pub(crate) struct Tags {
    entries: Box<[Entry]>,
    ways: usize,
    sets: usize,
    /// The number of sets minus one, if the number of sets is a power of two.
    mask: Option<usize>,
}

impl Tags {
    pub(crate) fn new(size: u64, ways: u32, line: u32) -> Self {
        let ways = ways as usize;
        let sets = (size as usize / line as usize / ways).max(1);
        Self {
            entries: vec![EMPTY; sets * ways].into(),
            ways,
            sets,
            mask: sets.is_power_of_two().then_some(sets - 1),
        }
    }

    #[inline(always)]
    fn first(&self, line: LineId) -> usize {
        let set = match self.mask {
            Some(mask) => line as usize & mask,
            None => line as usize % self.sets,
        };
        set * self.ways
    }

    #[inline(always)]
    fn set(&mut self, line: LineId) -> &mut [Entry] {
        let first = self.first(line);
        &mut self.entries[first..first + self.ways]
    }

    /// Makes the line the most recently used line of its set. Returns the line's state.
    #[inline(always)]
    pub(crate) fn touch(&mut self, line: LineId) -> Option<State> {
        let set = self.set(line);
        if set[0].line == line {
            return Some(set[0].state);
        }
        touch_later(set, line)
    }

    pub(crate) fn state(&self, line: LineId) -> Option<State> {
        let first = self.first(line);
        let set = &self.entries[first..first + self.ways];
        set.iter()
            .find(|entry| entry.line == line)
            .map(|entry| entry.state)
    }

    /// Changes the state of a line. Returns `false` if the cache does not hold the line.
    pub(crate) fn set_state(&mut self, line: LineId, state: State) -> bool {
        let entry = self.set(line).iter_mut().find(|entry| entry.line == line);
        entry.map(|entry| entry.state = state).is_some()
    }

    /// Marks the most recently used line of the set as modified.
    #[inline(always)]
    pub(crate) fn dirty_first(&mut self, line: LineId) {
        self.set(line)[0].state = State::Modified;
    }

    /// Inserts a line as the most recently used line of its set. Returns the evicted line.
    pub(crate) fn insert(&mut self, line: LineId, state: State) -> Option<(LineId, State)> {
        let set = self.set(line);
        let last = set.len() - 1;
        let mut place = last;
        for (at, entry) in set.iter().enumerate().rev() {
            if entry.line == line {
                place = at;
                break;
            }
            if entry.line == NONE {
                place = at;
            }
        }
        let gone = set[place];
        if place > 0 {
            set.copy_within(..place, 1);
        }
        set[0] = Entry { line, state };
        (gone.line != line && gone.line != NONE).then_some((gone.line, gone.state))
    }

    /// Removes a line. Returns its state. Its place stays empty, so a contended line that soon
    /// comes back moves no other lines.
    pub(crate) fn remove(&mut self, line: LineId) -> Option<State> {
        let entry = self.set(line).iter_mut().find(|entry| entry.line == line)?;
        let state = entry.state;
        *entry = EMPTY;
        Some(state)
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = (LineId, State)> + '_ {
        self.entries
            .iter()
            .filter(|entry| entry.line != NONE)
            .map(|entry| (entry.line, entry.state))
    }
}

fn touch_later(set: &mut [Entry], line: LineId) -> Option<State> {
    let at = set.iter().position(|entry| entry.line == line)?;
    let entry = set[at];
    set.copy_within(..at, 1);
    set[0] = entry;
    Some(entry.state)
}

#[cfg(test)]
mod tests {
    use super::State::{Modified, Shared};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_least_recently_used_line_leaves() {
        let mut tags = Tags::new(256, 2, 64); // 2 sets of 2 ways
        assert_eq!(tags.insert(0, Shared), None);
        assert_eq!(tags.insert(2, Modified), None);
        assert_eq!(tags.touch(0), Some(Shared));
        assert_eq!(tags.insert(4, Shared), Some((2, Modified)));
        assert_eq!(tags.insert(1, Shared), None); // the other set
        assert_eq!(tags.state(2), None);
        assert_eq!(tags.remove(0), Some(Shared));
        assert_eq!(tags.insert(6, Shared), None);
        assert_eq!(tags.lines().count(), 3);
    }

    proptest! {
        /// Compares a set with a list of lines in the order of use.
        #[test]
        fn a_set_is_a_list_in_order_of_use(steps in prop::collection::vec((0u32..12, 0..3), 1..200)) {
            let mut tags = Tags::new(4 * 64, 4, 64);
            let mut model: Vec<LineId> = Vec::new();
            for (line, step) in steps {
                let held = model.iter().position(|&one| one == line);
                match step {
                    0 => {
                        prop_assert_eq!(tags.touch(line).is_some(), held.is_some());
                        if let Some(at) = held { model.remove(at); model.insert(0, line); }
                    }
                    1 => {
                        let left = tags.insert(line, Shared).map(|(line, _)| line);
                        if let Some(at) = held { model.remove(at); }
                        model.insert(0, line);
                        let expected = if model.len() > 4 { model.pop() } else { None };
                        prop_assert_eq!(left, expected);
                    }
                    _ => {
                        prop_assert_eq!(tags.remove(line).is_some(), held.is_some());
                        if let Some(at) = held { model.remove(at); }
                    }
                }
            }
        }
    }
}
