//! The places of hardware threads (in tiles, which have an L1 each), tiles (in groups) and lines (at homes, which
//! serialise the lines' requests).

use super::cache::LineId;
use super::line::TileId;
use crate::config::{Config, Home, Network, Slices};

/// Computes places in the network. A place is the number of a hardware thread. The place of a group is the place of its
/// first thread.
pub(crate) struct Places {
    cores: u32,
    threads_per_core: u32,
    group_cores: u32,
    groups: u32,
    /// A table, since a division takes longer.
    tile_of_core: Box<[TileId]>,
    group_of_tile: Box<[u32]>,
    /// The number of groups minus one, if the number of groups is a power of two.
    group_mask: Option<u32>,
    /// `out` is the cycles that a request takes to leave its tile. `back` is the cycles that an answer takes to enter
    /// the tile.
    out: u64,
    back: u64,
    sliced: bool,
    mesh: bool,
    first_touch: bool,
    lines_per_page: u32,
    /// For each page, the group that touched it first.
    pages: Vec<u16>,
    nodes_per_controller: u32,
}

const UNTOUCHED: u16 = u16::MAX;
const PAGE: u32 = 4096;

impl Places {
    pub(crate) fn new(config: &Config) -> Self {
        let groups = config.cores / config.group_cores;
        let private = config.l2.as_ref().unwrap_or(&config.l1).latency;
        let total = config.llc.as_ref().map_or(private, |llc| llc.latency);
        Self {
            cores: config.cores,
            threads_per_core: config.threads_per_core,
            group_cores: config.group_cores,
            groups,
            tile_of_core: (0..config.cores)
                .map(|core| core / config.threads_per_core)
                .collect(),
            group_of_tile: (0..config.cores / config.threads_per_core)
                .map(|tile| tile * config.threads_per_core / config.group_cores)
                .collect(),
            group_mask: groups.is_power_of_two().then_some(groups - 1),
            out: total / 2,
            back: total - total / 2,
            sliced: config
                .llc
                .as_ref()
                .is_some_and(|llc| llc.slices == Slices::Tiles),
            mesh: matches!(config.network, Network::Mesh { .. }),
            first_touch: config.coherence.home == Home::FirstTouch,
            lines_per_page: PAGE / config.line,
            pages: Vec::new(),
            nodes_per_controller: config.memory.nodes_per_controller,
        }
    }

    pub(crate) fn tiles(&self) -> u32 {
        self.cores / self.threads_per_core
    }

    pub(crate) fn groups(&self) -> u32 {
        self.groups
    }

    #[inline]
    pub(crate) fn tile(&self, core: u32) -> TileId {
        self.tile_of_core[core as usize]
    }

    pub(crate) fn group_of_tile(&self, tile: TileId) -> u32 {
        self.group_of_tile[tile as usize]
    }

    pub(crate) fn tile_place(&self, tile: TileId) -> u32 {
        tile * self.threads_per_core
    }

    /// The place at which a group answers requests for `line`: the slice of its cache that has the
    /// line, or the group's place.
    pub(crate) fn group_place(&self, group: u32, line: LineId) -> u32 {
        let first = group * self.group_cores;
        if self.sliced {
            let tiles = self.group_cores / self.threads_per_core;
            first + line % tiles * self.threads_per_core
        } else {
            first
        }
    }

    /// The tile with the slice of the group's cache that has `line`. `None` if the cache has no
    /// slices.
    pub(crate) fn tile_of_slice(&self, group: u32, line: LineId) -> Option<TileId> {
        self.sliced
            .then(|| self.tile(self.group_place(group, line)))
    }

    /// The place to which a group's cache sends a request for `line` in `tile`. With slices, this place is the tile,
    /// and the request travels over the mesh. Without slices, it is the group's place, since the snoop's cycles include
    /// the way to the tile.
    pub(crate) fn asked_place(&self, tile: TileId, line: LineId) -> u32 {
        if self.sliced {
            self.tile_place(tile)
        } else {
            self.group_place(self.group_of_tile(tile), line)
        }
    }

    /// Cycles from a core's request until it leaves the tile (for the last-level cache, if there is
    /// one).
    pub(crate) fn request_latency(&self) -> u64 {
        self.out
    }

    /// Cycles from an answer's arrival at the tile until the core has the data.
    pub(crate) fn reply_latency(&self) -> u64 {
        self.back
    }

    /// The home group of `line`, which `group` touches now.
    pub(crate) fn home(&mut self, line: LineId, group: u32) -> u32 {
        if !self.first_touch {
            return match self.group_mask {
                Some(mask) => line & mask,
                None => line % self.groups,
            };
        }
        let page = (line / self.lines_per_page) as usize;
        if self.pages.len() <= page {
            self.pages.resize(page + 1, UNTOUCHED);
        }
        if self.pages[page] == UNTOUCHED {
            self.pages[page] = group as u16;
        }
        self.pages[page].into()
    }

    /// Whether `line` already has a home.
    pub(crate) fn is_touched(&self, line: LineId) -> bool {
        let page = self.pages.get((line / self.lines_per_page) as usize);
        !self.first_touch || page.is_some_and(|&home| home != UNTOUCHED)
    }

    /// The controller of a line with the home `home`, and the controller's place. This is the place of the home's node,
    /// or of the middle node if several nodes share the controller.
    pub(crate) fn controller(&self, home: u32, line: LineId) -> (u32, u32) {
        let place = self.group_place(home, line);
        let node = if self.mesh { place } else { home };
        let which = node / self.nodes_per_controller;
        if !self.mesh || self.nodes_per_controller == 1 {
            return (which, place);
        }
        let middle = which * self.nodes_per_controller + self.nodes_per_controller / 2;
        (which, middle.min(self.cores - 1))
    }
}
