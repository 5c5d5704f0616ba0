//! A two-dimensional mesh of tiles.

use super::queue::{HistoryList, QueueModel};
use super::{Broadcast, Cycles, Flits, Invalid};
use crate::account::{Counters, MeshTraffic};
use crate::config::{Contention, Sockets};

/// A mesh with XY routing and one core on each tile.
///
/// For n cores, the mesh is floor(√n) tiles wide and as high as needed. If the last row has too few cores, it still has
/// all its routers. A message takes the cycles of a router and a link for each hop, plus one cycle for each flit (part
/// of the message) at the receiver. A core's message to itself takes no time.
#[derive(Clone, Debug)]
pub(crate) struct Mesh {
    places: Box<[Place]>,
    width: u32,
    hop: Cycles,
    flits: Flits,
    broadcast_tree: bool,
    /// The queues by router and [`Port`]. Empty if messages do not delay each other.
    ports: Box<[HistoryList]>,
    links: Option<Links>,
    /// The traffic of the links, if it is counted.
    traffic: Option<Box<MeshTraffic>>,
    /// Whether messages do not delay each other and traffic is not counted.
    is_plain: bool,
}

#[derive(Clone, Debug)]
struct Links {
    /// `cores` is the number of cores of one mesh, and `count` the number of meshes.
    cores: u32,
    count: u32,
    cycles: Cycles,
    occupancy: Cycles,
    /// The queues by ordered pair of meshes.
    queues: Box<[HistoryList]>,
}

impl Links {
    /// The link between the meshes of two cores. `None` if both are on one mesh.
    #[inline]
    fn between(&self, from: u32, to: u32) -> Option<usize> {
        let (from, to) = (from / self.cores, to / self.cores);
        (from != to).then_some((from * self.count + to) as usize)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    x: u32,
    y: u32,
}

/// The parts that carry one flit in each cycle: a router's outputs to its neighbours and to its own core, and the
/// core's output to the router.
#[derive(Clone, Copy)]
enum Port {
    West,
    East,
    North,
    South,
    Core,
    Inject,
}

const PORTS: usize = 6;

impl Mesh {
    pub(super) fn new(
        cores: u32,
        hop: Cycles,
        flit_bits: u32,
        contention: Contention,
        broadcast_tree: bool,
    ) -> Result<Self, Invalid> {
        if cores == 0 {
            return Err(Invalid::Zero("cores"));
        }
        if flit_bits == 0 {
            return Err(Invalid::Zero("network.flit-bits"));
        }
        let width = cores.isqrt();
        let routers = (width * cores.div_ceil(width)) as usize;
        let ports = match contention {
            Contention::HopCounter => 0,
            Contention::HopByHop => routers * PORTS,
        };
        Ok(Self {
            places: (0..cores)
                .map(|core| Place {
                    x: core % width,
                    y: core / width,
                })
                .collect(),
            width,
            hop,
            flits: Flits::new(flit_bits),
            broadcast_tree,
            ports: vec![HistoryList::new(1); ports].into(),
            links: None,
            traffic: None,
            is_plain: contention == Contention::HopCounter,
        })
    }

    /// Divides the tiles into sockets with a mesh each.
    pub(super) fn in_sockets(mut self, sockets: Option<&Sockets>) -> Self {
        let Some(sockets) = sockets else {
            return self;
        };
        let cores = self.places.len() as u32 / sockets.count;
        self.width = cores.isqrt();
        for (core, place) in (0..).zip(&mut self.places) {
            let core = core % cores;
            *place = Place {
                x: core % self.width,
                y: core / self.width,
            };
        }
        let pairs = (sockets.count * sockets.count) as usize;
        self.links = Some(Links {
            cores,
            count: sockets.count,
            cycles: sockets.cycles,
            occupancy: sockets.occupancy,
            queues: vec![HistoryList::new(sockets.occupancy); pairs].into(),
        });
        self.is_plain = false;
        self
    }

    pub(super) fn count(&mut self) {
        let cores = self.places.len() as u32;
        let sockets = self.links.as_ref().map_or(1, |links| links.count);
        self.traffic = Some(Box::new(MeshTraffic::new(cores / sockets, sockets)));
        self.is_plain = false;
    }

    pub(super) fn add_to(&self, counters: &mut Counters) {
        if let Some(traffic) = &self.traffic {
            let occupancy = self.links.as_ref().map_or(0, |links| links.occupancy);
            counters.links = traffic.links(occupancy);
            counters.latencies.network_wait = traffic.waits();
        }
    }

    #[inline(always)]
    pub(super) fn hops(&self, from: u32, to: u32) -> u32 {
        let (from, to) = (self.places[from as usize], self.places[to as usize]);
        from.x.abs_diff(to.x) + from.y.abs_diff(to.y)
    }

    #[inline]
    pub(super) fn latency(&self, from: u32, to: u32, bits: u32) -> Cycles {
        if from == to {
            return 0;
        }
        let crosses = |links: &Links| links.between(from, to).map_or(0, |_| links.cycles);
        let link = self.links.as_ref().map_or(0, crosses);
        self.latency_within(from, to, bits) + link
    }

    /// The latency between two places of one mesh. Two places on different meshes have the latency that they would have
    /// on one mesh.
    #[inline(always)]
    fn latency_within(&self, from: u32, to: u32, bits: u32) -> Cycles {
        Cycles::from(self.hops(from, to)) * self.hop + self.flits.of(bits)
    }

    fn competes(&self) -> bool {
        !self.ports.is_empty() || self.links.is_some()
    }

    #[inline]
    pub(super) fn send(&mut self, from: u32, to: u32, bits: u32, at: Cycles) -> Cycles {
        if from == to {
            return at;
        }
        match self.is_plain {
            true => at + self.latency_within(from, to, bits),
            false => self.send_counted(from, to, bits, at),
        }
    }

    #[inline(never)]
    fn send_counted(&mut self, from: u32, to: u32, bits: u32, at: Cycles) -> Cycles {
        if self.competes() {
            return self.send_among_others(from, to, bits, at);
        }
        let flits = self.flits.of(bits);
        if let Some(traffic) = &mut self.traffic {
            traffic.message(from, to, flits, 0);
        }
        at + Cycles::from(self.hops(from, to)) * self.hop + flits
    }

    #[inline(never)]
    fn send_among_others(&mut self, from: u32, to: u32, bits: u32, at: Cycles) -> Cycles {
        let flits = self.flits.of(bits);
        let alone = self.latency(from, to, bits);
        let mut wait = 0;
        if !self.ports.is_empty() {
            wait = self.route(from, to, flits, at) - at - alone;
        } else if let Some(links) = &mut self.links
            && let Some(link) = links.between(from, to)
        {
            wait = links.queues[link].delay(at, links.occupancy);
        }
        if let Some(traffic) = &mut self.traffic {
            traffic.message(from, to, flits, wait);
            traffic.cross(from, to);
        }
        at + wait + alone
    }

    fn route(&mut self, from: u32, to: u32, flits: Cycles, at: Cycles) -> Cycles {
        let (mut place, to) = (self.places[from as usize], self.places[to as usize]);
        let mut head = self.pass(place, Port::Inject, flits, at);
        while place.x != to.x {
            let east = place.x < to.x;
            head = self.pass(
                place,
                if east { Port::East } else { Port::West },
                flits,
                head,
            );
            place.x = if east { place.x + 1 } else { place.x - 1 };
        }
        while place.y != to.y {
            let south = place.y < to.y;
            head = self.pass(
                place,
                if south { Port::South } else { Port::North },
                flits,
                head,
            );
            place.y = if south { place.y + 1 } else { place.y - 1 };
        }
        self.pass(place, Port::Core, flits, head) + flits
    }

    /// Lets the head of a message request the port at the time `head`. Returns the time when the message's head has
    /// passed the port.
    fn pass(&mut self, at: Place, port: Port, flits: Cycles, head: Cycles) -> Cycles {
        let wait = match self.ports.is_empty() {
            true => 0,
            false => {
                let router = (at.y * self.width + at.x) as usize;
                self.ports[router * PORTS + port as usize].delay(head, flits)
            }
        };
        let travel = match port {
            Port::Core | Port::Inject => 0,
            _ => self.hop,
        };
        head + wait + travel
    }

    pub(super) fn broadcast(&mut self, from: u32, bits: u32, at: Cycles) -> Broadcast {
        let flits = self.flits.of(bits);
        let mut arrivals = vec![at; self.places.len()].into_boxed_slice();
        if self.broadcast_tree {
            if let Some(traffic) = &mut self.traffic {
                traffic.flood(from, flits);
            }
            self.flood(from, flits, at, &mut arrivals);
        } else {
            let mut injected = at;
            for to in (0..self.places.len() as u32).filter(|&to| to != from) {
                arrivals[to as usize] = self.send(from, to, bits, injected);
                injected += flits;
            }
        }
        Broadcast { arrivals }
    }

    /// Sends a broadcast along the sender's row in both directions, and from each tile of the row
    /// along its column in both directions. These are the routes of single messages, but each link
    /// is used once.
    fn flood(&mut self, from: u32, flits: Cycles, at: Cycles, arrivals: &mut [Cycles]) {
        let home = self.places[from as usize];
        let head = self.pass(home, Port::Inject, flits, at);
        self.flood_column(home, flits, head, arrivals);
        let (mut place, mut west) = (home, head);
        while place.x > 0 {
            west = self.pass(place, Port::West, flits, west);
            place.x -= 1;
            self.flood_column(place, flits, west, arrivals);
        }
        let (mut place, mut east) = (home, head);
        while place.x + 1 < self.width {
            east = self.pass(place, Port::East, flits, east);
            place.x += 1;
            self.flood_column(place, flits, east, arrivals);
        }
        arrivals[from as usize] = at;
    }

    fn flood_column(&mut self, at: Place, flits: Cycles, head: Cycles, arrivals: &mut [Cycles]) {
        self.hand_over(at, flits, head, arrivals);
        let (mut place, mut north) = (at, head);
        while place.y > 0 {
            north = self.pass(place, Port::North, flits, north);
            place.y -= 1;
            self.hand_over(place, flits, north, arrivals);
        }
        let (mut place, mut south) = (at, head);
        while self.core(Place {
            y: place.y + 1,
            ..place
        }) < arrivals.len()
        {
            south = self.pass(place, Port::South, flits, south);
            place.y += 1;
            self.hand_over(place, flits, south, arrivals);
        }
    }

    fn hand_over(&mut self, at: Place, flits: Cycles, head: Cycles, arrivals: &mut [Cycles]) {
        if let Some(arrival) = arrivals.get_mut(self.core(at)) {
            *arrival = self.pass(at, Port::Core, flits, head) + flits;
        }
    }

    fn core(&self, at: Place) -> usize {
        (at.y * self.width + at.x) as usize
    }
}

#[cfg(test)]
mod tests;
