//! Caches, the directories that keep them coherent, and memory.
//!
//! Values are in host memory. This module decides when an access is done and how it changes the
//! tags of all caches. An access takes up to three steps:
//!
//! 1. [`private`]: the core's own tile completes a hit. A tile is the caches of the hardware
//!    threads that share an L1.
//! 2. [`transaction`]: a miss travels to the group's last-level cache, and if the group cannot
//!    answer it, from there to the line's home. Each line has one record ([`line`]), which serves
//!    as the directory of its home and of all groups. [`serve`] changes this record, and uses
//!    [`fetch`] and [`invalidate`].
//! 3. The home serves requests for one line in the order of arrival. After a write or a change of owner, the next
//!    request waits until that access is done. This queue models contention on a word.

mod address;
mod cache;
mod check;
mod controller;
mod far;
mod fetch;
mod holders;
mod invalidate;
mod line;
mod operation;
mod perturb;
mod places;
mod private;
mod request;
mod reservation;
mod serve;
mod transaction;
mod warm;

pub(crate) use address::{AddressMap, CAPACITY, FIRST_ADDRESS};
pub(crate) use cache::State;
use cache::{LineId, Tags};
pub(crate) use line::TileId;
pub(crate) use operation::Word;
pub use operation::{Operation, Rmw, Width};
pub(crate) use private::{Lookup, Private};
pub(crate) use request::{Arrival, Class, Request, Served};

use crate::account::{Counters, MemoryCensus};
use crate::config::{Config, Protocol};
use crate::network::{self, Electrical};
use controller::Controllers;
use line::LineTable;
use perturb::Perturbation;
use places::Places;
use reservation::Reservations;

pub(crate) struct Memory {
    pub(crate) config: Config,
    places: Places,
    pub(crate) tiles: Box<[Private]>,
    shared: Box<[Tags]>,
    lines: LineTable,
    network: Electrical,
    controllers: Controllers,
    pub(crate) perturbation: Perturbation,
    pub(crate) reservations: Reservations,
    /// The counters, if the run asked for them.
    pub(crate) census: Option<Box<MemoryCensus>>,
    /// The lines that spinning cores have lost since the engine last emptied this list, each with
    /// its core.
    pub(crate) disturbed: Vec<(LineId, u32)>,
}

impl Memory {
    pub(crate) fn new(config: &Config) -> Result<Self, network::Invalid> {
        let places = Places::new(config);
        let shared = config.llc.as_ref().map_or_else(Vec::new, |llc| {
            (0..places.groups())
                .map(|_| Tags::new(llc.size, llc.ways, config.line))
                .collect()
        });
        Ok(Self {
            tiles: (0..places.tiles()).map(|_| Private::new(config)).collect(),
            shared: shared.into(),
            lines: LineTable::default(),
            network: Electrical::new(&config.network, config.cores, config.group_cores)?,
            controllers: Controllers::new(&config.memory, config.controllers(), config.line),
            places,
            perturbation: Perturbation::new(config),
            reservations: Reservations::new(config.cores),
            census: None,
            disturbed: Vec::new(),
            config: config.clone(),
        })
    }

    /// Does a request's operation on its word, and returns the previous value.
    fn apply(&mut self, request: &Request) -> u64 {
        let Request {
            core,
            line,
            operation,
            word,
            ..
        } = *request;
        self.reservations.apply(core, line, operation, word)
    }

    /// Counts from now on.
    pub(crate) fn count(&mut self) {
        self.census = Some(Box::new(MemoryCensus::new(&self.config)));
        self.network.count();
    }

    /// Adds this module's counters to `counters`, if the run counts.
    pub(crate) fn add_to(&self, counters: &mut Counters) {
        if let Some(census) = &self.census {
            census.add_to(counters);
        }
        self.network.add_to(counters);
    }

    pub(crate) fn tile_of(&self, core: u32) -> TileId {
        self.places.tile(core)
    }

    /// The place of the home of `line`. On a machine that places pages by their first touch, this call counts as a
    /// touch by `core`.
    pub(crate) fn home(&mut self, core: u32, line: LineId) -> u32 {
        let group = self.places.group_of_tile(self.places.tile(core));
        let home = self.places.home(line, group);
        self.places.group_place(home, line)
    }

    /// Whether `line` is in memory that the program has used. Only such lines are prefetched, so a
    /// prefetch is never the first touch of a page.
    pub(crate) fn is_known(&self, line: LineId) -> bool {
        self.places.is_touched(line) && self.lines.is_known(line)
    }

    fn mesi(&self) -> bool {
        self.config.coherence.protocol == Protocol::Mesi
    }

    /// The least time in which an event at one core can change another tile's caches. While a core only hits its own
    /// caches, it may run this far ahead of cores of other tiles.
    pub(crate) fn lookahead(&self) -> u64 {
        self.places.request_latency()
    }

    /// Notes that `core` spins on `line` from now on. The core's tile holds the line.
    pub(crate) fn watch(&mut self, line: LineId, core: u32) {
        let tile = self.places.tile(core);
        self.lines.line(line).watchers.push(core);
        self.tiles[tile as usize].watch(line);
    }

    pub(crate) fn unwatch(&mut self, line: LineId, core: u32) {
        let watchers = &mut self.lines.line(line).watchers;
        if let Some(at) = watchers.iter().position(|&one| one == core) {
            watchers.remove(at);
        }
        if watchers.is_empty() {
            let tile = self.places.tile(core);
            self.tiles[tile as usize].unwatch(line);
        }
    }

    /// Makes cores of `tile` that spin on `line` load the line again, after a core of `tile` wrote the line or `tile`
    /// lost it.
    fn disturb(&mut self, line: LineId, tile: TileId) {
        self.disturb_all(line, |one| one == tile);
    }

    /// Like [`disturb`](Self::disturb), for all tiles that satisfy `is_disturbed`.
    fn disturb_all(&mut self, line: LineId, is_disturbed: impl Fn(TileId) -> bool) {
        let places = &self.places;
        let watchers = &mut self.lines.line(line).watchers;
        if watchers.is_empty() {
            return;
        }
        let first = self.disturbed.len();
        let disturbed = &mut self.disturbed;
        watchers.retain(|&core| {
            let here = is_disturbed(places.tile(core));
            if here {
                disturbed.push((line, core));
            }
            !here
        });
        let here = &mut disturbed[first..];
        here.sort_by_key(|&(_, core)| places.tile(core));
        for &mut (_, core) in here {
            self.tiles[places.tile(core) as usize].unwatch(line);
        }
    }
}
