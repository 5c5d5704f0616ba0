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

#[derive(Debug)]
struct Mesh {
    cores: u32,
    width: u32,
    height: u32,
    flit_bits: u32,
    tree: bool,
    /// By [`Way`], then by router: what is on the link that leaves the router, less
    /// what is on the one before it in the same row or column.
    steps: [Vec<i64>; 4],
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
                ..
            } => Links::Mesh(Mesh::new(config.cores, flit_bits, broadcast_tree)),
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
                for to in 0..mesh.cores {
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
        let steps = || vec![0; (width * height) as usize];
        Self {
            cores,
            width,
            height,
            flit_bits,
            tree,
            steps: [steps(), steps(), steps(), steps()],
        }
    }

    /// `flits` on the links that leave the routers `first..end` of a row or column,
    /// counted in the direction of the way; routers are `x, y` there.
    fn interval(&mut self, way: Way, across: u32, first: u32, end: u32, flits: i64) {
        let (width, height) = (self.width, self.height);
        let router = |along: u32| match way {
            Way::East => across * width + along,
            Way::West => across * width + (width - 1 - along),
            Way::South => along * width + across,
            Way::North => (height - 1 - along) * width + across,
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

    fn route(&mut self, from: u32, to: u32, bits: u32) {
        let flits = self.flits(bits);
        let (x, y) = (from % self.width, from / self.width);
        let (to_x, to_y) = (to % self.width, to / self.width);
        let (right, bottom) = (self.width - 1, self.height - 1);
        match x < to_x {
            true => self.interval(Way::East, y, x, to_x, flits),
            false => self.interval(Way::West, y, right - x, right - to_x, flits),
        }
        match y < to_y {
            true => self.interval(Way::South, to_x, y, to_y, flits),
            false => self.interval(Way::North, to_x, bottom - y, bottom - to_y, flits),
        }
    }

    /// Along the sender's row both ways, and from there along all columns, as far as there
    /// are cores.
    fn flood(&mut self, from: u32, bits: u32) {
        let flits = self.flits(bits);
        let (x, y) = (from % self.width, from / self.width);
        let (right, bottom) = (self.width - 1, self.height - 1);
        self.interval(Way::East, y, x, right, flits);
        self.interval(Way::West, y, right - x, right, flits);
        for column in 0..self.width {
            let last = (self.cores - 1 - column) / self.width;
            if y < last {
                self.interval(Way::South, column, y, last, flits);
            }
            self.interval(Way::North, column, bottom - y, bottom, flits);
        }
    }

    fn links(&self) -> Vec<LinkCounters> {
        let mut links = Vec::new();
        let (width, height) = (self.width, self.height);
        for across in 0..height {
            self.sum(
                Way::East,
                &mut links,
                (0..width).map(|x| across * width + x),
            );
            let back = (0..width).rev().map(|x| across * width + x);
            self.sum(Way::West, &mut links, back);
        }
        for across in 0..width {
            self.sum(
                Way::South,
                &mut links,
                (0..height).map(|y| y * width + across),
            );
            let back = (0..height).rev().map(|y| y * width + across);
            self.sum(Way::North, &mut links, back);
        }
        links.sort_unstable_by_key(|link| (link.from, link.to));
        links
    }

    /// The links of a row or column, whose routers are given in the direction of the way.
    fn sum(&self, way: Way, links: &mut Vec<LinkCounters>, routers: impl Iterator<Item = u32>) {
        let mut busy = 0;
        let mut routers = routers.peekable();
        while let Some(from) = routers.next() {
            busy += self.steps[way as usize][from as usize];
            if let Some(&to) = routers.peek()
                && busy > 0
            {
                let busy = busy as u64;
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
