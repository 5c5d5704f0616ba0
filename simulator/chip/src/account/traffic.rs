//! The traffic on the links of the electrical network.
//!
//! A message on a mesh goes along the sender's row, then along the receiver's column. The sender and the column
//! determine the first part, and the sender's row and the receiver determine the second. So a message is counted by one
//! addition in each of two tables. The counts of the links are computed from the tables when the counts are read.

use super::{Cycles, Histogram, LinkCounters};

/// How long messages waited for other messages.
#[derive(Clone, Debug, Default)]
struct Waits {
    /// The waits of messages that waited.
    waits: Histogram,
    /// The number of all messages between two places.
    messages: u64,
}

impl Waits {
    #[inline(always)]
    fn message(&mut self, waited: Cycles) {
        self.messages += 1;
        if waited > 0 {
            self.waits.record(waited);
        }
    }

    fn all(&self) -> Histogram {
        let mut waits = self.waits.clone();
        waits.record_many(0, self.messages - waits.count());
        waits
    }
}

#[derive(Clone, Debug)]
pub(crate) struct GroupTraffic {
    /// Messages by ordered pair of groups.
    messages: Vec<u64>,
    waits: Waits,
}

/// The traffic on the meshes of all sockets and between the sockets.
#[derive(Clone, Debug)]
pub(crate) struct MeshTraffic {
    places: Box<[Place]>,
    /// The indices of each core, so that counting a message needs no multiplication.
    ends: Box<[End]>,
    /// The cores of one socket. `routers` is also for one socket.
    cores: u32,
    routers: u32,
    sockets: u32,
    width: u32,
    height: u32,
    /// By sender and column: the flits (parts of messages) that go along the sender's row to that column.
    along_rows: Vec<u64>,
    /// By row and router of the sender's socket: the flits that go from that row along the router's
    /// column to the router.
    along_columns: Vec<u64>,
    /// By sender: the flits of broadcasts.
    floods: Vec<u64>,
    /// Messages by ordered pair of sockets.
    crossings: Vec<u64>,
    waits: Waits,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    socket: u32,
    x: u32,
    y: u32,
    router: u32,
}

/// The indices for messages that a core sends or receives.
#[derive(Clone, Copy, Debug)]
struct End {
    /// `across` is the start of the sender's part of `along_rows`. `down` is the start of the part of `along_columns`
    /// for the sender's row.
    across: u32,
    down: u32,
    /// `x` is the receiver's column, and `router` the receiver's router.
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

impl GroupTraffic {
    pub(crate) fn new(groups: usize) -> Self {
        Self {
            messages: vec![0; groups * groups],
            waits: Waits::default(),
        }
    }

    /// Counts a message, which may stay in its group. The number of the `pair` is the sender's
    /// group times the number of groups plus the receiver's group.
    #[inline]
    pub(crate) fn message(&mut self, pair: usize, waited: Cycles) {
        self.messages[pair] += 1;
        self.waits.message(waited);
    }

    /// The links that carried messages. Each message occupied its link for `occupancy` cycles.
    pub(crate) fn links(&self, occupancy: Cycles) -> Vec<LinkCounters> {
        let groups = self.messages.len().isqrt();
        let link = |(pair, count): (usize, &u64)| LinkCounters {
            from: (pair / groups) as u32,
            to: (pair % groups) as u32,
            busy: count * occupancy,
        };
        let links = self.messages.iter().enumerate().map(link);
        links
            .filter(|link| link.from != link.to && link.busy > 0)
            .collect()
    }

    pub(crate) fn waits(&self) -> Histogram {
        self.waits.all()
    }
}

impl MeshTraffic {
    pub(crate) fn new(cores: u32, sockets: u32) -> Self {
        let width = cores.isqrt();
        let height = cores.div_ceil(width);
        let routers = width * height;
        let place = |core| {
            let (socket, router) = (core / cores, core % cores);
            let (x, y) = (router % width, router / width);
            Place {
                socket,
                x,
                y,
                router,
            }
        };
        let places: Box<[Place]> = (0..sockets * cores).map(place).collect();
        let end = |(core, place): (u32, &Place)| End {
            across: core * width,
            down: (place.socket * height + place.y) * routers,
            x: place.x,
            router: place.router,
        };
        let table = |rows: u32, columns: u32| vec![0; (rows * columns) as usize];
        Self {
            ends: (0..).zip(&places).map(end).collect(),
            places,
            cores,
            routers,
            sockets,
            width,
            height,
            along_rows: table(sockets * cores, width),
            along_columns: table(sockets * height, routers),
            floods: table(sockets, cores),
            crossings: table(sockets, sockets),
            waits: Waits::default(),
        }
    }

    /// Counts a message of `flits` flits that `waited`. The message is counted on the sender's mesh, up to the place
    /// that the receiver has on its own mesh.
    #[inline(always)]
    pub(crate) fn message(&mut self, from: u32, to: u32, flits: u64, waited: Cycles) {
        let (start, end) = (&self.ends[from as usize], &self.ends[to as usize]);
        self.along_rows[(start.across + end.x) as usize] += flits;
        self.along_columns[(start.down + end.router) as usize] += flits;
        self.waits.message(waited);
    }

    /// Counts the message on the link to the receiver's socket, if that is another socket.
    pub(crate) fn cross(&mut self, from: u32, to: u32) {
        let [from, to] = [from, to].map(|core| self.places[core as usize].socket);
        if from != to {
            self.crossings[(from * self.sockets + to) as usize] += 1;
        }
    }

    /// Counts a broadcast of `flits` flits, which goes once over each link of a tree.
    pub(crate) fn flood(&mut self, from: u32, flits: u64) {
        self.floods[from as usize] += flits;
    }

    pub(crate) fn waits(&self) -> Histogram {
        self.waits.all()
    }

    /// The number of a socket's router. A router with a core has the core's number. A router without a core has a
    /// number after all cores.
    fn number(&self, socket: u32, router: u32) -> u32 {
        match router.checked_sub(self.cores) {
            None => socket * self.cores + router,
            Some(beyond) => {
                self.sockets * self.cores + socket * (self.routers - self.cores) + beyond
            }
        }
    }

    /// The links that carried messages. A message between sockets occupied their link for
    /// `occupancy` cycles.
    pub(crate) fn links(&self, occupancy: Cycles) -> Vec<LinkCounters> {
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
            let busy = messages * occupancy;
            if busy > 0 {
                // The socket's first core represents its end of the link.
                let [from, to] = [from, to].map(|socket| socket * self.cores);
                links.push(LinkCounters { from, to, busy });
            }
        }
        links.sort_unstable_by_key(|link| (link.from, link.to));
        links
    }

    /// The changes of the traffic along a socket's rows and columns.
    fn steps(&self, socket: u32) -> Steps {
        let mut steps = Steps::new(self.width, self.height);
        let first = socket * self.cores;
        for core in first..first + self.cores {
            let at = self.places[core as usize];
            for to in 0..self.width {
                let flits = self.along_rows[(self.ends[core as usize].across + to) as usize];
                steps.row(at.y, (at.x, to), flits);
            }
            self.spread(at, self.floods[core as usize], &mut steps);
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

    /// Adds a broadcast: along the sender's row in both directions, and from there along all
    /// columns, up to the last core.
    fn spread(&self, from: Place, flits: u64, steps: &mut Steps) {
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

/// The traffic on a mesh as differences between neighbouring links: an interval of links in a row
/// or column is added at its start and subtracted at its end.
struct Steps {
    width: u32,
    /// By [`Way`], then by router: the flits on the link that leaves the router, minus those on the
    /// previous link of the row or column.
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

    fn row(&mut self, y: u32, (from, to): (u32, u32), flits: u64) {
        let way = if from < to { Way::East } else { Way::West };
        let first = y * self.width;
        self.interval(way, first + from, first + to, flits);
    }

    fn column(&mut self, x: u32, (from, to): (u32, u32), flits: u64) {
        let way = if from < to { Way::South } else { Way::North };
        self.interval(way, from * self.width + x, to * self.width + x, flits);
    }

    /// Adds `flits` between two routers of one row or column. The entry of the last router of the
    /// row or column has no effect, since no link leaves that router.
    fn interval(&mut self, way: Way, from: u32, to: u32, flits: u64) {
        if from != to {
            let steps = &mut self.ways[way as usize];
            steps[from as usize] += flits as i64;
            steps[to as usize] -= flits as i64;
        }
    }

    /// The links of a row or column that carried flits. `routers` are its routers in the direction
    /// of `way`.
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
