//! What the links of the electrical network carried.
//!
//! A message on a mesh goes along its row, then along its column. The first part is known by the
//! sender and the column, the second by the sender's row and the receiver: counting a message
//! takes an addition to either table. What each link carried is summed when somebody asks.

use super::{Cycles, Histogram, LinkCounters};
use crate::config::{Config, Network};
use crate::network::Flits;

/// The messages of one network.
#[derive(Debug)]
pub(crate) struct Traffic {
    links: Links,
    /// Cycles that messages waited on their way, of those that did.
    waits: Histogram,
    /// Messages from one place to another, those that waited included.
    messages: u64,
}

#[derive(Debug)]
enum Links {
    Mesh(Mesh),
    Groups(Groups),
}

/// What crosses between core groups.
#[derive(Debug)]
struct Groups {
    /// The group of each core.
    group: Box<[u32]>,
    groups: usize,
    occupancy: Cycles,
    /// Messages by ordered pair.
    messages: Vec<u64>,
}

/// The meshes of all sockets, and what crosses between them.
#[derive(Debug)]
struct Mesh {
    /// By core: its socket and its place there.
    places: Box<[Place]>,
    /// By core: what counting a message that it sends or receives takes of that, so that it is
    /// found without a multiplication.
    starts: Box<[Start]>,
    ends: Box<[End]>,
    /// Cores and routers of one socket; sockets.
    cores: u32,
    routers: u32,
    sockets: u32,
    width: u32,
    height: u32,
    flits: Flits,
    tree: bool,
    /// Flits by sender and column: what goes along the sender's row to that column.
    along_rows: Vec<u64>,
    /// Flits by row of a sender's socket and router of it: what goes from that row along the
    /// router's column to the router.
    along_columns: Vec<u64>,
    /// Flits by sender that went to everybody.
    floods: Vec<u64>,
    /// Cycles that a message keeps the link between two sockets, and messages by ordered pair.
    occupancy: Cycles,
    crossings: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    socket: u32,
    x: u32,
    y: u32,
    /// The router, in its socket.
    router: u32,
}

/// Where a sender's part of `along_rows` and its row's of `along_columns` begin.
#[derive(Clone, Copy, Debug)]
struct Start {
    across: u32,
    down: u32,
}

/// The column and the router of a receiver.
#[derive(Clone, Copy, Debug)]
struct End {
    x: u32,
    router: u32,
}

/// The direction of a link.
#[derive(Clone, Copy)]
enum Way {
    East,
    West,
    South,
    North,
}

impl Traffic {
    pub(crate) fn new(config: &Config) -> Self {
        let links = match config.network {
            Network::Mesh {
                flit_bits,
                broadcast_tree,
                ref sockets,
                ..
            } => {
                let (count, occupancy) = match sockets {
                    Some(sockets) => (sockets.count, sockets.occupancy),
                    None => (1, 0),
                };
                let mesh = Mesh::new(config.cores / count, flit_bits, broadcast_tree);
                Links::Mesh(mesh.in_sockets(count, occupancy))
            }
            Network::Groups { occupancy, .. } => {
                let groups = config.groups() as usize;
                Links::Groups(Groups {
                    group: (0..config.cores)
                        .map(|core| core / config.group_cores)
                        .collect(),
                    groups,
                    occupancy,
                    messages: vec![0; groups * groups],
                })
            }
        };
        Self {
            links,
            waits: Histogram::default(),
            messages: 0,
        }
    }

    /// A message of `bits` goes from one place to another.
    #[inline(always)]
    pub(crate) fn message(&mut self, from: u32, to: u32, bits: u32) {
        self.messages += 1;
        match &mut self.links {
            Links::Mesh(mesh) => mesh.route(from, to, bits),
            Links::Groups(groups) => groups.cross(from, to),
        }
    }

    /// What is told beside, where messages compete: it waited so many cycles on its way. Meshes
    /// of several sockets are such a network, for their links.
    pub(crate) fn among_others(&mut self, from: u32, to: u32, waited: Cycles) {
        if waited > 0 {
            self.waits.record(waited);
        }
        if let Links::Mesh(mesh) = &mut self.links {
            mesh.cross(from, to);
        }
    }

    /// A message of `bits` to everybody.
    pub(crate) fn broadcast(&mut self, from: u32, bits: u32) {
        match &mut self.links {
            Links::Mesh(mesh) if mesh.tree => {
                mesh.floods[from as usize] += mesh.flits.of(bits);
            }
            Links::Mesh(mesh) => {
                for to in 0..mesh.places.len() as u32 {
                    mesh.route(from, to, bits);
                    mesh.cross(from, to);
                }
            }
            Links::Groups(groups) => groups.cross_all(from),
        }
    }

    /// Links that carried something.
    pub(crate) fn links(&self) -> Vec<LinkCounters> {
        match &self.links {
            Links::Mesh(mesh) => mesh.links(),
            Links::Groups(groups) => groups.links(),
        }
    }

    /// How long messages waited on their way.
    pub(crate) fn waits(&self) -> Histogram {
        let mut waits = self.waits.clone();
        waits.record_many(0, self.messages - waits.count());
        waits
    }
}

impl Groups {
    #[inline]
    fn cross(&mut self, from: u32, to: u32) {
        let [from, to] = [from, to].map(|core| self.group[core as usize] as usize);
        // The diagonal is no link.
        self.messages[from * self.groups + to] += 1;
    }

    fn cross_all(&mut self, from: u32) {
        let from = self.group[from as usize] as usize;
        let row = from * self.groups;
        for messages in &mut self.messages[row..row + self.groups] {
            *messages += 1;
        }
    }

    fn links(&self) -> Vec<LinkCounters> {
        let link = |(pair, count): (usize, &u64)| LinkCounters {
            from: (pair / self.groups) as u32,
            to: (pair % self.groups) as u32,
            busy: count * self.occupancy,
        };
        let links = self.messages.iter().enumerate().map(link);
        links
            .filter(|link| link.from != link.to && link.busy > 0)
            .collect()
    }
}

impl Mesh {
    fn new(cores: u32, flit_bits: u32, tree: bool) -> Self {
        let width = cores.isqrt();
        let height = cores.div_ceil(width);
        let mesh = Self {
            places: Box::default(),
            starts: Box::default(),
            ends: Box::default(),
            cores,
            routers: width * height,
            sockets: 0,
            width,
            height,
            flits: Flits::new(flit_bits),
            tree,
            along_rows: Vec::new(),
            along_columns: Vec::new(),
            floods: Vec::new(),
            occupancy: 0,
            crossings: Vec::new(),
        };
        mesh.in_sockets(1, 0)
    }

    /// So many of these, each two of which have a link.
    fn in_sockets(mut self, count: u32, occupancy: Cycles) -> Self {
        let place = |core| {
            let (socket, router) = (core / self.cores, core % self.cores);
            let (x, y) = (router % self.width, router / self.width);
            Place {
                socket,
                x,
                y,
                router,
            }
        };
        self.places = (0..count * self.cores).map(place).collect();
        let starts = (0..)
            .zip(&self.places)
            .map(|(core, place): (u32, _)| Start {
                across: core * self.width,
                down: (place.socket * self.height + place.y) * self.routers,
            });
        self.starts = starts.collect();
        let end = |&Place { x, router, .. }: &Place| End { x, router };
        self.ends = self.places.iter().map(end).collect();
        self.sockets = count;
        let table = |rows: u32, columns: u32| vec![0; (rows * columns) as usize];
        self.along_rows = table(count * self.cores, self.width);
        self.along_columns = table(count * self.height, self.routers);
        self.floods = table(count, self.cores);
        self.occupancy = occupancy;
        self.crossings = table(count, count);
        self
    }

    /// Along the row and the column in the sender's socket, to where the receiver is in its own.
    #[inline(always)]
    fn route(&mut self, from: u32, to: u32, bits: u32) {
        let flits = self.flits.of(bits);
        let (start, end) = (self.starts[from as usize], self.ends[to as usize]);
        self.along_rows[(start.across + end.x) as usize] += flits;
        self.along_columns[(start.down + end.router) as usize] += flits;
    }

    /// Between the two sockets, if they are two.
    fn cross(&mut self, from: u32, to: u32) {
        let [from, to] = [from, to].map(|core| self.places[core as usize].socket);
        if from != to {
            self.crossings[(from * self.sockets + to) as usize] += 1;
        }
    }

    /// The number of a socket's router: its core's, or one after all cores.
    fn number(&self, socket: u32, router: u32) -> u32 {
        match router.checked_sub(self.cores) {
            None => socket * self.cores + router,
            Some(beyond) => {
                self.sockets * self.cores + socket * (self.routers - self.cores) + beyond
            }
        }
    }

    fn links(&self) -> Vec<LinkCounters> {
        let mut links = Vec::new();
        let (width, height) = (self.width, self.height);
        for socket in 0..self.sockets {
            let steps = self.steps(socket);
            let mut sum = |way, routers: &mut dyn Iterator<Item = u32>| {
                let links_of = steps.sum(way, routers);
                links.extend(links_of.into_iter().map(|(from, to, busy)| {
                    let [from, to] = [from, to].map(|router| self.number(socket, router));
                    LinkCounters { from, to, busy }
                }));
            };
            for across in 0..height {
                sum(Way::East, &mut (0..width).map(|x| across * width + x));
                sum(Way::West, &mut (0..width).rev().map(|x| across * width + x));
            }
            for across in 0..width {
                sum(Way::South, &mut (0..height).map(|y| y * width + across));
                sum(
                    Way::North,
                    &mut (0..height).rev().map(|y| y * width + across),
                );
            }
        }
        for (pair, &messages) in (0..).zip(&self.crossings) {
            let (from, to): (u32, u32) = (pair / self.sockets, pair % self.sockets);
            let busy = messages * self.occupancy;
            if busy > 0 {
                // The first core of a socket stands for its end of the link.
                let [from, to] = [from, to].map(|socket| socket * self.cores);
                links.push(LinkCounters { from, to, busy });
            }
        }
        links.sort_unstable_by_key(|link| (link.from, link.to));
        links
    }

    /// Where what went over a socket's mesh began and ended.
    fn steps(&self, socket: u32) -> Steps {
        let mut steps = Steps::new(self.width, self.height);
        let first = socket * self.cores;
        for core in first..first + self.cores {
            let at = self.places[core as usize];
            for to in 0..self.width {
                let flits = self.along_rows[(self.starts[core as usize].across + to) as usize];
                steps.row(at.y, (at.x, to), flits);
            }
            self.flood(at, self.floods[core as usize], &mut steps);
        }
        for row in 0..self.height {
            let first = (socket * self.height + row) * self.routers;
            for router in 0..self.routers {
                let flits = self.along_columns[(first + router) as usize];
                let (column, to) = (router % self.width, router / self.width);
                steps.column(column, (row, to), flits);
            }
        }
        steps
    }

    /// Along the sender's row both ways, and from there along all columns, as far as there
    /// are cores.
    fn flood(&self, from: Place, flits: u64, steps: &mut Steps) {
        if flits == 0 {
            return;
        }
        steps.row(from.y, (from.x, self.width - 1), flits);
        steps.row(from.y, (from.x, 0), flits);
        for column in 0..self.width {
            let last = (self.cores - 1 - column) / self.width;
            if from.y < last {
                steps.column(column, (from.y, last), flits);
            }
            steps.column(column, (from.y, 0), flits);
        }
    }
}

/// What is on the links of a mesh, by its ends: each interval of links of a row or column is
/// added where it begins and taken off where it ends.
struct Steps {
    width: u32,
    /// By [`Way`], then by router: what is on the link that leaves the router, less what is on
    /// the one before it in the same row or column.
    ways: [Vec<i64>; 4],
}

impl Steps {
    fn new(width: u32, height: u32) -> Self {
        let steps = || vec![0; (width * height) as usize];
        Self {
            width,
            ways: [steps(), steps(), steps(), steps()],
        }
    }

    /// `flits` along row `y`.
    fn row(&mut self, y: u32, (from, to): (u32, u32), flits: u64) {
        let way = if from < to { Way::East } else { Way::West };
        let first = y * self.width;
        self.interval(way, first + from, first + to, flits);
    }

    /// `flits` along column `x`.
    fn column(&mut self, x: u32, (from, to): (u32, u32), flits: u64) {
        let way = if from < to { Way::South } else { Way::North };
        self.interval(way, from * self.width + x, to * self.width + x, flits);
    }

    /// Between two routers of one row or column. The entry of the last router in that direction
    /// counts for no link: none leaves it.
    fn interval(&mut self, way: Way, from: u32, to: u32, flits: u64) {
        if from != to {
            let steps = &mut self.ways[way as usize];
            steps[from as usize] += flits as i64;
            steps[to as usize] -= flits as i64;
        }
    }

    /// The links of a row or column that carried something, whose routers are given in the
    /// direction of the way.
    fn sum(&self, way: Way, routers: &mut dyn Iterator<Item = u32>) -> Vec<(u32, u32, u64)> {
        let mut links = Vec::new();
        let mut busy = 0;
        let mut routers = routers.peekable();
        while let Some(from) = routers.next() {
            busy += self.ways[way as usize][from as usize];
            if let Some(&to) = routers.peek()
                && busy > 0
            {
                links.push((from, to, busy as u64));
            }
        }
        links
    }
}

#[cfg(test)]
mod tests;
