//! Flights: outstanding requests for lines that no core waits for. A plain store in the store buffer, or the stride
//! prefetcher, makes such a request.
//!
//! These accesses change no values, since plain data (`Platform::read`, `Platform::write`) have no simulated value. An
//! atomic write waits until the core's earlier stores are done. So memory stays sequentially consistent. Like every
//! request, a flight travels to the line's home (the place that serialises the line's requests), queues there and takes
//! effect there.
//!
//! A core that needs a line that is on its way waits until the line arrives.

mod drain;
mod part;

use super::Engine;
use super::agenda::Event;
use super::asks::Asked;
use super::port::Mode;
use crate::account::{Activity, Source};
use crate::config;
use crate::memory::{Class, Operation, Request, Served, Word};

pub(super) struct Overlap {
    rules: config::Overlap,
    tiles: Box<[Tile]>,
}

#[derive(Clone, Default)]
struct Tile {
    flights: Vec<Flight>,
    streams: Vec<Stream>,
    /// The line that was read last. Another read of this line tells the prefetcher nothing new.
    last_read: Option<u32>,
    /// Cores that wait until a home has served any flight of this tile.
    waiting: Vec<u32>,
    /// The number of reads so far. A stream's age is measured by this count.
    reads: u64,
}

#[derive(Clone)]
struct Flight {
    request: Request,
    /// Other cores of the tile that have stored to the line since `request.core` requested it.
    joined: Vec<u32>,
    /// When the core asked for the line.
    began: u64,
    /// When the line arrives at the tile, and from where. `None` until the home has served the request.
    landing: Option<(u64, Class)>,
}

impl Flight {
    fn is_store(&self) -> bool {
        !self.request.operation.reads_only()
    }

    /// Whether `core` has stored to the line.
    fn is_store_of(&self, core: u32) -> bool {
        self.is_store() && (self.request.core == core || self.joined.contains(&core))
    }

    /// Whether the line arrives after `now`.
    fn is_under_way(&self, now: u64) -> bool {
        self.landing.is_none_or(|(at, _)| at > now)
    }
}

/// The landing of the flight that lands last. The inner `None` means that a home has not served its request yet.
fn latest<'a>(flights: impl Iterator<Item = &'a Flight>) -> Option<Option<(u64, Class)>> {
    flights
        .map(|flight| flight.landing)
        .max_by_key(|landing| landing.map_or(u64::MAX, |(at, _)| at))
}

/// Reads at a constant distance from each other, in lines.
#[derive(Clone, Copy)]
struct Stream {
    last: u32,
    stride: i64,
    /// How often the stride was seen in a row.
    seen: u32,
    /// The farthest line that the prefetcher has requested.
    ahead: i64,
    /// The tile's number of reads at this stream's last read.
    used: u64,
}

/// A read at most this far from a stream's last read may belong to the stream.
const REACH: u64 = 16;
/// The prefetcher follows a stride that it has seen this many times in a row.
const CONFIDENCE: u32 = 2;

impl Overlap {
    pub(super) fn new(config: &config::Config) -> Option<Self> {
        let tiles = config.cores / config.threads_per_core;
        config.core.overlap.clone().map(|rules| Self {
            rules,
            tiles: vec![Tile::default(); tiles as usize].into(),
        })
    }

    /// Whether an access to `line` waits for no flight and tells the prefetcher nothing new.
    #[inline]
    pub(super) fn is_settled(&self, tile: u32, line: u32, operation: Operation) -> bool {
        let tile = &self.tiles[tile as usize];
        tile.flights.is_empty() && (tile.last_read == Some(line) || !operation.reads_only())
    }
}

impl Tile {
    /// The landing of those flights that `operation` of `core` on `line` must wait for, in the form of [`latest`].
    fn blocks(&self, core: u32, line: u32, operation: Operation) -> Option<Option<(u64, Class)>> {
        let blocking = self.flights.iter().filter(|flight| {
            let same = flight.request.line == line;
            match operation {
                Operation::TouchWrite | Operation::TouchFill => same && !flight.is_store(),
                _ if operation.reads_only() => same,
                // An atomic write waits for all stores of its core. It waits for a sibling's store only if that store
                // is to the same line.
                _ => same || flight.is_store_of(core),
            }
        });
        latest(blocking)
    }

    /// Adds a read of `line` to the stream that it continues. Returns the stream if the prefetcher follows it.
    fn train(&mut self, line: u32, most: usize) -> Option<&mut Stream> {
        self.reads += 1;
        let distance = |stream: &Stream| i64::from(line) - i64::from(stream.last);
        let near = |stream: &Stream| distance(stream).unsigned_abs() <= REACH;
        let next = |stream: &Stream| distance(stream) == stream.stride;
        let streams = &mut self.streams;
        let found = streams
            .iter()
            .position(next)
            .or_else(|| streams.iter().position(near));
        let at = found.unwrap_or_else(|| {
            let fresh = Stream {
                last: line,
                stride: 0,
                seen: 0,
                ahead: i64::from(line),
                used: 0,
            };
            if streams.len() < most {
                streams.push(fresh);
                return streams.len() - 1;
            }
            let oldest = (0..most).min_by_key(|&at| streams[at].used).unwrap_or(0);
            streams[oldest] = fresh;
            oldest
        });
        let stream = &mut streams[at];
        stream.used = self.reads;
        let stride = i64::from(line) - i64::from(stream.last);
        if stride == 0 {
            return None;
        }
        if stride == stream.stride {
            stream.seen += 1;
        } else {
            (stream.stride, stream.seen, stream.ahead) = (stride, 1, i64::from(line));
        }
        stream.last = line;
        (stream.seen >= CONFIDENCE).then_some(stream)
    }
}

pub(super) fn activity(class: Class) -> Activity {
    match class {
        Class::Group => Activity::Group,
        Class::Remote => Activity::Remote,
        Class::Memory => Activity::Memory,
    }
}

impl Engine {
    /// Checks an access to `line` against the flights. Returns `None` if the access may continue with the caches.
    pub(super) fn meet_flights(
        &mut self,
        core: u32,
        line: u32,
        operation: Operation,
    ) -> Option<Asked> {
        let port = &mut self.ports[core as usize];
        let tile = &mut self.overlap.as_mut()?.tiles[port.tile as usize];
        let now = port.clock;
        tile.flights.retain(|flight| flight.is_under_way(now));
        if let Some(blocking) = tile.blocks(core, line, operation) {
            return Some(self.wait_for(core, blocking));
        }
        // The line is on its way for a store, and the store buffer takes this store too.
        let mut flights = tile.flights.iter_mut();
        let flight = flights.find(|flight| flight.request.line == line)?;
        if !flight.is_store_of(core) {
            flight.joined.push(core);
        }
        port.pass(Activity::L1, self.config.l1.latency);
        Some(Asked::Done(0))
    }

    pub(crate) fn buffers_stores(&self) -> bool {
        self.overlap.is_some()
    }

    /// Puts a plain store that missed into the store buffer. Returns `None` if there is no store buffer, so that the
    /// core waits for its stores.
    pub(super) fn buffer_store(
        &mut self,
        core: u32,
        line: u32,
        operation: Operation,
    ) -> Option<Asked> {
        if !matches!(operation, Operation::TouchWrite | Operation::TouchFill) {
            return None;
        }
        let tile = self.ports[core as usize].tile;
        let overlap = self.overlap.as_ref()?;
        let (rules, tile) = (&overlap.rules, &overlap.tiles[tile as usize]);
        if rules.store_buffer == 0 {
            return None;
        }
        let flights = || tile.flights.iter();
        let is_own = |flight: &&Flight| flight.request.core == core;
        let stores = || flights().filter(|it| it.is_store());
        // A core that has used up its part of the places waits for a flight of its own.
        let own_stores = stores().filter(is_own).count() >= self.part(core, rules.store_buffer);
        let own_lines = flights().filter(is_own).count() >= self.part(core, rules.lines);
        let full = stores().count() >= rules.store_buffer as usize;
        if own_stores || own_lines || full || tile.flights.len() >= rules.lines as usize {
            // Whichever of the four conditions holds, `wanted` has a flight.
            let wanted = flights().filter(|it| !own_stores && !own_lines || is_own(it));
            let wanted = wanted.filter(|it| !(own_stores || full && !own_lines) || it.is_store());
            let first = wanted.min_by_key(|flight| flight.landing.map_or(u64::MAX, |(at, _)| at));
            let first = first.and_then(|flight| flight.landing);
            return Some(self.wait_for(core, first));
        }
        self.launch(core, line, operation);
        if let Some(census) = &mut self.census {
            census.buffered(core);
        }
        let latency = self.config.l1.latency;
        self.ports[core as usize].pass(Activity::L1, latency);
        self.set_horizon(core);
        Some(Asked::Done(0))
    }

    /// Requests the next lines of a stream after the core has read `line`.
    pub(super) fn look_ahead(&mut self, core: u32, line: u32, operation: Operation) {
        let tile = self.ports[core as usize].tile;
        let Some(overlap) = &self.overlap else {
            return;
        };
        let (streams, distance) = (overlap.rules.streams as usize, overlap.rules.distance);
        let of_tile = &overlap.tiles[tile as usize];
        if streams == 0 || !operation.reads_only() || of_tile.last_read == Some(line) {
            return;
        }
        let (lines, part) = (overlap.rules.lines, self.part(core, overlap.rules.lines));
        let Some(overlap) = &mut self.overlap else {
            return;
        };
        let of_tile = &mut overlap.tiles[tile as usize];
        of_tile.last_read = Some(line);
        let own = of_tile.flights.iter().filter(|it| it.request.core == core);
        let room = part.saturating_sub(own.count());
        let room = room.min((lines as usize).saturating_sub(of_tile.flights.len()));
        let Some(stream) = of_tile.train(line, streams) else {
            return;
        };
        let (at, stride) = (stream.last, stream.stride);
        let asked = (stream.ahead - i64::from(at)) / stride;
        let mut wanted = Vec::new();
        for step in asked.max(0) + 1..=i64::from(distance) {
            let target = i64::from(at) + stride * step;
            let Ok(target) = u32::try_from(target) else {
                break;
            };
            if wanted.len() >= room || !self.memory.is_known(target) {
                break;
            }
            stream.ahead = i64::from(target);
            wanted.push(target);
        }
        let of_tile = &overlap.tiles[tile as usize];
        let is_here = |line: u32| {
            let mut flights = of_tile.flights.iter();
            self.memory.tiles[tile as usize].state(line).is_some()
                || flights.any(|flight| flight.request.line == line)
        };
        wanted.retain(|&line| !is_here(line));
        for line in wanted {
            self.launch(core, line, Operation::TouchRead);
        }
        self.set_horizon(core);
    }

    fn launch(&mut self, core: u32, line: u32, operation: Operation) {
        let port = &self.ports[core as usize];
        let tile = port.tile;
        let began = port.clock;
        let (at, stage) = self.memory.depart(core, line, began);
        let request = Request {
            core,
            line,
            stage,
            operation,
            word: Word::none(),
            arrived: at,
            found: 0,
            awaited: false,
        };
        if let Some(overlap) = &mut self.overlap {
            overlap.tiles[tile as usize].flights.push(Flight {
                request,
                joined: Vec::new(),
                began,
                landing: None,
            });
            self.agenda.plan(at, core, Event::Flight { line });
        }
    }

    /// Suspends the core until the time in `landing`. Without a time, suspends it until a home has served any flight of
    /// the core's tile. The core then repeats its access.
    fn wait_for(&mut self, core: u32, landing: Option<(u64, Class)>) -> Asked {
        let tile = self.ports[core as usize].tile;
        self.wait_in(tile, core, landing)
    }

    /// Like [`wait_for`](Self::wait_for), for a flight of `tile`, which need not be the core's tile.
    fn wait_in(&mut self, tile: u32, core: u32, landing: Option<(u64, Class)>) -> Asked {
        let port = &mut self.ports[core as usize];
        match landing {
            Some((at, class)) => {
                port.pass_until(activity(class), at.max(port.clock));
                self.agenda.go_on(port);
            }
            None => {
                port.mode = Mode::Missing;
                if let Some(overlap) = &mut self.overlap {
                    overlap.tiles[tile as usize].waiting.push(core);
                }
            }
        }
        Asked::Again
    }

    fn flight_of(&mut self, core: u32, line: u32) -> Option<&mut Flight> {
        let tile = self.ports[core as usize].tile;
        let flights = &mut self.overlap.as_mut()?.tiles[tile as usize].flights;
        let mut flights = flights.iter_mut();
        flights.find(|flight| flight.request.line == line && flight.landing.is_none())
    }

    /// Handles the arrival of a request without a waiting thread at its next stage.
    pub(super) fn flight_arrives(&mut self, core: u32, line: u32, at: u64) {
        let Some(flight) = self.flight_of(core, line) else {
            return;
        };
        let request = flight.request;
        debug_assert_eq!(request.arrived, at);
        self.hash.fold(at, u64::from(line) << 16 | u64::from(core));
        let arrival = self.memory.arrive(request, at);
        self.after(request, arrival, at);
    }

    /// Sends a request without a waiting thread to its next stage.
    pub(super) fn flight_travels(&mut self, request: Request, reaches: u64) {
        if let Some(flight) = self.flight_of(request.core, request.line) {
            flight.request = request;
            let line = request.line;
            self.agenda
                .plan(reaches, request.core, Event::Flight { line });
        }
    }

    /// Records that the home has served a request without a waiting thread.
    pub(super) fn land(&mut self, request: Request, served: &Served, source: Source, at: u64) {
        let mut latency = None;
        if let Some(flight) = self.flight_of(request.core, request.line) {
            flight.landing = Some((served.done, served.class));
            latency = flight.is_store().then(|| served.done - flight.began);
        }
        if let (Some(census), Some(latency)) = (&mut self.census, latency) {
            census.landed(request.core, source, latency);
        }
        let tile = self.ports[request.core as usize].tile;
        let waiting = match &mut self.overlap {
            Some(overlap) => std::mem::take(&mut overlap.tiles[tile as usize].waiting),
            None => Vec::new(),
        };
        for core in waiting {
            let port = &mut self.ports[core as usize];
            port.pass_until(activity(served.class), at.max(port.clock));
            let interrupted = std::mem::take(&mut port.interrupted);
            port.pass(Activity::Switch, interrupted);
            port.mode = Mode::Running;
            self.agenda.go_on(port);
        }
    }
}
