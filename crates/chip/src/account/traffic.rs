//! What the links of the electrical network carried.
//!
//! A message on a mesh goes along its row, then along its column. Each is one interval of links, so
//! counting it takes an addition at either end; the sums are taken when somebody asks.

use super::{Cycles, Histogram, LinkCounters};
use crate::config::{Config, Network};

/// The messages of one network.
#[derive(Debug)]
pub(crate) struct Traffic {
    links: Links,
    /// Cycles that messages waited on their way.
    pub(crate) waits: Histogram,
}

#[derive(Debug)]
enum Links {
    Mesh(Mesh),
    Groups {
        group_cores: u32,
        groups: usize,
        occupancy: Cycles,
        /// Messages by ordered pair.
        messages: Vec<u64>,
    },
}

/// The meshes of all sockets, and what crosses between them.
#[derive(Debug)]
struct Mesh {
    /// By core: its socket and its place there.
    places: Box<[Place]>,
    /// Cores and routers of one socket; sockets.
    cores: u32,
    routers: u32,
    sockets: u32,
    width: u32,
    height: u32,
    flit_bits: u32,
    tree: bool,
    /// By [`Way`], then by socket and router: what is on the link that leaves the router, less
    /// what is on the one before it in the same row or column.
    steps: [Vec<i64>; 4],
    /// Cycles that a message keeps the link between two sockets, and messages by ordered pair.
    occupancy: Cycles,
    crossings: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    socket: u32,
    x: u32,
    y: u32,
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
                Links::Groups {
                    group_cores: config.group_cores,
                    groups,
                    occupancy,
                    messages: vec![0; groups * groups],
                }
            }
        };
        Self {
            links,
            waits: Histogram::default(),
        }
    }

    /// A message of `bits` from one place to another waited so many cycles.
    pub(crate) fn message(&mut self, from: u32, to: u32, bits: u32, waited: Cycles) {
        self.waits.record(waited);
        match &mut self.links {
            Links::Mesh(mesh) => mesh.route(from, to, bits),
            Links::Groups {
                group_cores,
                groups,
                messages,
                ..
            } => {
                let [from, to] = [from, to].map(|core| (core / *group_cores) as usize);
                if from != to {
                    messages[from * *groups + to] += 1;
                }
            }
        }
    }

    /// A message of `bits` to everybody.
    pub(crate) fn broadcast(&mut self, from: u32, bits: u32) {
        match &mut self.links {
            Links::Mesh(mesh) if mesh.tree => mesh.flood(from, bits),
            Links::Mesh(mesh) => {
                for to in 0..mesh.places.len() as u32 {
                    mesh.route(from, to, bits);
                }
            }
            Links::Groups {
                group_cores,
                groups,
                messages,
                ..
            } => {
                let from = (from / *group_cores) as usize;
                for to in (0..*groups).filter(|&to| to != from) {
                    messages[from * *groups + to] += 1;
                }
            }
        }
    }

    /// Links that carried something.
    pub(crate) fn links(&self) -> Vec<LinkCounters> {
        match &self.links {
            Links::Mesh(mesh) => mesh.links(),
            Links::Groups {
                groups,
                occupancy,
                messages,
                ..
            } => {
                let link = |(pair, count): (usize, &u64)| LinkCounters {
                    from: (pair / groups) as u32,
                    to: (pair % groups) as u32,
                    busy: count * occupancy,
                };
                let links = messages.iter().enumerate().map(link);
                links.filter(|link| link.busy > 0).collect()
            }
        }
    }
}

impl Mesh {
    fn new(cores: u32, flit_bits: u32, tree: bool) -> Self {
        let width = cores.isqrt();
        let height = cores.div_ceil(width);
        let mesh = Self {
            places: Box::default(),
            cores,
            routers: width * height,
            sockets: 0,
            width,
            height,
            flit_bits,
            tree,
            steps: Default::default(),
            occupancy: 0,
            crossings: Vec::new(),
        };
        mesh.in_sockets(1, 0)
    }

    /// So many of these, each two of which have a link.
    fn in_sockets(mut self, count: u32, occupancy: Cycles) -> Self {
        let place = |core| {
            let at = core % self.cores;
            Place {
                socket: core / self.cores,
                x: at % self.width,
                y: at / self.width,
            }
        };
        self.places = (0..count * self.cores).map(place).collect();
        self.sockets = count;
        let steps = || vec![0; (count * self.routers) as usize];
        self.steps = [steps(), steps(), steps(), steps()];
        self.occupancy = occupancy;
        self.crossings = vec![0; (count * count) as usize];
        self
    }

    /// `flits` on the links of a socket that leave the routers `first..end` of a row or column,
    /// counted in the direction of the way; routers are `x, y` there.
    fn interval(
        &mut self,
        socket: u32,
        way: Way,
        across: u32,
        (first, end): (u32, u32),
        flits: i64,
    ) {
        let (width, height) = (self.width, self.height);
        let before = socket * self.routers;
        let router = |along: u32| {
            before
                + match way {
                    Way::East => across * width + along,
                    Way::West => across * width + (width - 1 - along),
                    Way::South => along * width + across,
                    Way::North => (height - 1 - along) * width + across,
                }
        };
        if first == end {
            return;
        }
        let steps = &mut self.steps[way as usize];
        steps[router(first) as usize] += flits;
        // No link leaves the last router of a row or column in its direction.
        let length = match way {
            Way::East | Way::West => width,
            Way::South | Way::North => height,
        };
        if end < length {
            steps[router(end) as usize] -= flits;
        }
    }

    fn flits(&self, bits: u32) -> i64 {
        bits.div_ceil(self.flit_bits).into()
    }

    /// Along the row and the column in the sender's socket, to where the receiver is in its own,
    /// and from there across.
    fn route(&mut self, from: u32, to: u32, bits: u32) {
        let flits = self.flits(bits);
        let [from, to] = [from, to].map(|core| self.places[core as usize]);
        let socket = from.socket;
        let (right, bottom) = (self.width - 1, self.height - 1);
        let (way, along) = match from.x < to.x {
            true => (Way::East, (from.x, to.x)),
            false => (Way::West, (right - from.x, right - to.x)),
        };
        self.interval(socket, way, from.y, along, flits);
        let (way, along) = match from.y < to.y {
            true => (Way::South, (from.y, to.y)),
            false => (Way::North, (bottom - from.y, bottom - to.y)),
        };
        self.interval(socket, way, to.x, along, flits);
        if to.socket != socket {
            self.crossings[(socket * self.sockets + to.socket) as usize] += 1;
        }
    }

    /// Along the sender's row both ways, and from there along all columns, as far as there
    /// are cores.
    fn flood(&mut self, from: u32, bits: u32) {
        let flits = self.flits(bits);
        let Place { socket, x, y } = self.places[from as usize];
        let (right, bottom) = (self.width - 1, self.height - 1);
        self.interval(socket, Way::East, y, (x, right), flits);
        self.interval(socket, Way::West, y, (right - x, right), flits);
        for column in 0..self.width {
            let last = (self.cores - 1 - column) / self.width;
            if y < last {
                self.interval(socket, Way::South, column, (y, last), flits);
            }
            self.interval(socket, Way::North, column, (bottom - y, bottom), flits);
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
            let mut sum = |way, routers: &mut dyn Iterator<Item = u32>| {
                self.sum(socket, way, &mut links, routers);
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

    /// The links of a row or column, whose routers are given in the direction of the way.
    fn sum(
        &self,
        socket: u32,
        way: Way,
        links: &mut Vec<LinkCounters>,
        routers: &mut dyn Iterator<Item = u32>,
    ) {
        let mut busy = 0;
        let mut routers = routers.peekable();
        while let Some(from) = routers.next() {
            busy += self.steps[way as usize][(socket * self.routers + from) as usize];
            if let Some(&to) = routers.peek()
                && busy > 0
            {
                let busy = busy as u64;
                let [from, to] = [from, to].map(|router| self.number(socket, router));
                links.push(LinkCounters { from, to, busy });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Step by step: what the intervals must come to.
    fn walked(width: u32, messages: &[(u32, u32)]) -> BTreeMap<(u32, u32), u64> {
        let mut links = BTreeMap::new();
        for &(from, to) in messages {
            let mut at = from;
            while at != to {
                let next = match (at % width).cmp(&(to % width)) {
                    std::cmp::Ordering::Less => at + 1,
                    std::cmp::Ordering::Greater => at - 1,
                    std::cmp::Ordering::Equal if at < to => at + width,
                    std::cmp::Ordering::Equal => at - width,
                };
                *links.entry((at, next)).or_insert(0) += 1;
                at = next;
            }
        }
        links
    }

    fn found(mesh: &Mesh) -> BTreeMap<(u32, u32), u64> {
        let links = mesh.links();
        links
            .iter()
            .map(|one| ((one.from, one.to), one.busy))
            .collect()
    }

    proptest! {
        #[test]
        fn intervals_are_walks(
            cores in 1_u32..80, ends in prop::collection::vec((any::<u32>(), any::<u32>()), 0..30),
        ) {
            let ends: Vec<_> = ends.iter().map(|(a, b)| (a % cores, b % cores)).collect();
            let mut mesh = Mesh::new(cores, 64, true);
            ends.iter().for_each(|&(from, to)| mesh.route(from, to, 64));
            prop_assert_eq!(found(&mesh), walked(mesh.width, &ends));
        }

        /// Each socket's links are those of a machine of its own; crossings are counted apart.
        #[test]
        fn sockets_have_links_of_their_own(
            cores in 2_u32..40, ends in prop::collection::vec((any::<u32>(), any::<u32>()), 0..30),
        ) {
            let all = 3 * cores;
            let ends: Vec<_> = ends.iter().map(|(a, b)| (a % all, b % all)).collect();
            let mut mesh = Mesh::new(cores, 64, false).in_sockets(3, 7);
            ends.iter().for_each(|&(from, to)| mesh.route(from, to, 64));
            let mut expected = BTreeMap::new();
            for socket in 0..3 {
                let from_here = ends.iter().filter(|(from, _)| from / cores == socket);
                let local: Vec<_> = from_here.map(|(a, b)| (a % cores, b % cores)).collect();
                for ((from, to), busy) in walked(mesh.width, &local) {
                    let ends = (mesh.number(socket, from), mesh.number(socket, to));
                    *expected.entry(ends).or_insert(0) += busy;
                }
            }
            for (from, to) in ends.iter().map(|(a, b)| (a / cores * cores, b / cores * cores)) {
                if from != to {
                    *expected.entry((from, to)).or_insert(0) += 7;
                }
            }
            let mut total = BTreeMap::new();
            for link in mesh.links() {
                *total.entry((link.from, link.to)).or_insert(0) += link.busy;
            }
            prop_assert_eq!(total, expected);
        }

        /// A tree has each router's core below it once: as many links as other cores, or more
        /// by the routers of a ragged row that only pass the message on.
        #[test]
        fn a_flood_reaches_each_core_over_one_link(cores in 1_u32..80, from: u32) {
            let from = from % cores;
            let mut mesh = Mesh::new(cores, 64, true);
            mesh.flood(from, 64);
            let links = found(&mesh);
            prop_assert!(links.values().all(|&flits| flits == 1), "{links:?}");
            for core in (0..cores).filter(|&core| core != from) {
                let into = links.keys().filter(|(_, to)| *to == core).count();
                prop_assert_eq!(into, 1, "core {} of {}, from {}", core, cores, from);
            }
        }
    }
}
