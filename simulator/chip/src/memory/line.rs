//! The record of each line: its directory entry and its waiting requests. A line has one record for the whole chip. The
//! record serves as the directory of the line's home (the place that serialises the line's requests) and of all groups.

use super::cache::LineId;
use super::request::Request;
use crate::core_set::CoreSet;
use std::collections::VecDeque;

/// A private cache hierarchy: the caches of the hardware threads that share an L1.
pub(crate) type TileId = u32;

#[derive(Default)]
pub(crate) struct Line {
    /// The tile that may write to the line (exclusive or modified).
    pub(crate) owner: Option<TileId>,
    /// The tiles that may read the line, if no tile may write to it.
    pub(crate) sharers: CoreSet,
    /// ACKwise: at some time since the line last had an owner or no sharers, it had more sharers than
    /// pointers. So the directory does not know their names, even if fewer are left.
    pub(crate) overflowed: bool,
    /// The groups with the line in their last-level cache.
    pub(crate) groups: CoreSet,
    /// The home serves no other request for the line before this time.
    pub(crate) busy_until: u64,
    /// The time when all readers that did not keep the line busy have their data. No write is done before this time.
    pub(crate) readers_until: u64,
    /// Requests that arrived while the line was busy, in the order of arrival.
    pub(crate) waiting: VecDeque<Request>,
    /// The tile that last requested an atomic operation at the home.
    pub(crate) last_far: Option<TileId>,
    /// The cores that spin on the line. They load the line again only after it was taken away.
    pub(crate) watchers: Vec<u32>,
    /// The number of tiles that hold the line, for `check`. Only debug runs count it.
    pub(crate) copies: u32,
}

const CHUNK: usize = 1 << 10;

/// The records by line number, in chunks. The first touch of a line makes its chunk.
#[derive(Default)]
pub(crate) struct LineTable {
    chunks: Vec<Option<Box<[Line]>>>,
}

impl LineTable {
    #[inline]
    pub(crate) fn line(&mut self, line: LineId) -> &mut Line {
        let (chunk, at) = (line as usize / CHUNK, line as usize % CHUNK);
        if self.chunks.get(chunk).is_none_or(Option::is_none) {
            self.grow(chunk);
        }
        match &mut self.chunks[chunk] {
            Some(lines) => &mut lines[at],
            None => unreachable!("just made"),
        }
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Line> {
        self.chunks
            .iter_mut()
            .flatten()
            .flat_map(|lines| lines.iter_mut())
    }

    /// Whether the line's chunk exists.
    pub(crate) fn is_known(&self, line: LineId) -> bool {
        let chunk = self.chunks.get(line as usize / CHUNK);
        chunk.is_some_and(Option::is_some)
    }

    #[cold]
    fn grow(&mut self, chunk: usize) {
        if self.chunks.len() <= chunk {
            self.chunks.resize_with(chunk + 1, || None);
        }
        self.chunks[chunk] = Some((0..CHUNK).map(|_| Line::default()).collect());
    }

    /// All lines of the chunks that exist, with their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (LineId, &Line)> {
        self.chunks.iter().enumerate().flat_map(|(chunk, lines)| {
            let lines = lines.iter().flat_map(|lines| lines.iter().enumerate());
            lines.map(move |(at, line)| ((chunk * CHUNK + at) as LineId, line))
        })
    }
}
