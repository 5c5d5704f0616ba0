//! Networks: compute when a message from one core arrives at another.
//!
//! Times are arguments and results, so this module does not depend on the engine. Most calls are in the order of time.
//! If messages compete for a link, a queue of intervals ([`queue`]) handles calls that are out of order.

mod groups;
mod mesh;
pub mod optical;
pub mod queue;

pub use optical::Channel;
pub(crate) use optical::Optical;

use crate::account::Counters;
use crate::config;
use groups::Groups;
use mesh::Mesh;

/// A time or a duration on the simulated machine's one clock.
pub type Cycles = u64;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Flits {
    bits: u32,
    /// The binary logarithm of `bits`, if `bits` is a power of two. A shift by it avoids a slow division.
    shift: Option<u32>,
}

impl Flits {
    /// Flits (parts of a message) of `bits` bits. `bits` is not 0.
    pub(crate) fn new(bits: u32) -> Self {
        Self {
            bits,
            shift: bits.is_power_of_two().then(|| bits.ilog2()),
        }
    }

    #[inline]
    pub(crate) fn of(self, message: u32) -> Cycles {
        match self.shift {
            Some(shift) => Cycles::from((message + self.bits - 1) >> shift),
            None => Cycles::from(message.div_ceil(self.bits)),
        }
    }
}

/// The reason why a network cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// A size that must not be zero.
    #[error("`{0}` must not be 0")]
    Zero(&'static str),
    /// The size of the matrix of distances does not suit the machine.
    #[error("`network.distance` must have {groups} rows of {groups}, one for each core group")]
    Shape {
        /// The number of the machine's core groups.
        groups: usize,
    },
    /// A pair of groups without a distance class.
    #[error(
        "`network.distance` has {found} for groups {from} and {to}: 0 on the diagonal, else 1 to {classes}"
    )]
    Class {
        /// The row.
        from: usize,
        /// The column.
        to: usize,
        /// The number in the configuration.
        found: u32,
        /// The number of classes.
        classes: usize,
    },
}

/// The electrical network. Its nodes are cores.
#[derive(Clone, Debug)]
pub(crate) enum Electrical {
    Mesh(Mesh),
    Groups(Groups),
}

impl Electrical {
    pub(crate) fn new(
        config: &config::Network,
        cores: u32,
        group_cores: u32,
    ) -> Result<Self, Invalid> {
        match *config {
            config::Network::Mesh {
                router,
                link,
                flit_bits,
                contention,
                broadcast_tree,
                ref sockets,
            } => {
                let mesh = Mesh::new(cores, router + link, flit_bits, contention, broadcast_tree)?;
                Ok(Self::Mesh(mesh.in_sockets(sockets.as_ref())))
            }
            config::Network::Groups {
                ref classes,
                ref distance,
                occupancy,
            } => Groups::new(cores, group_cores, classes, distance, occupancy).map(Self::Groups),
        }
    }

    /// Sends a message of `bits` from `from` at `at`. Returns the time when the whole message has arrived at `to`,
    /// after the messages that compete with it.
    #[inline]
    pub(crate) fn send(&mut self, from: u32, to: u32, bits: u32, at: Cycles) -> Cycles {
        match self {
            Self::Mesh(mesh) => mesh.send(from, to, bits, at),
            Self::Groups(groups) => groups.send(from, to, at),
        }
    }

    /// Counts the traffic of links from now on.
    pub(crate) fn count(&mut self) {
        match self {
            Self::Mesh(mesh) => mesh.count(),
            Self::Groups(groups) => groups.count(),
        }
    }

    /// Adds the counters of links, if the run counts.
    pub(crate) fn add_to(&self, counters: &mut Counters) {
        match self {
            Self::Mesh(mesh) => mesh.add_to(counters),
            Self::Groups(groups) => groups.add_to(counters),
        }
    }

    /// Cycles that a message takes without competing messages.
    #[inline]
    pub(crate) fn latency(&self, from: u32, to: u32, bits: u32) -> Cycles {
        match self {
            Self::Mesh(mesh) => mesh.latency(from, to, bits),
            Self::Groups(groups) => groups.latency(from, to),
        }
    }

    pub(crate) fn broadcast(&mut self, from: u32, bits: u32, at: Cycles) -> Broadcast {
        match self {
            Self::Mesh(mesh) => mesh.broadcast(from, bits, at),
            Self::Groups(groups) => groups.broadcast(from, at),
        }
    }
}

/// The times when a broadcast arrives at each node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broadcast {
    arrivals: Box<[Cycles]>,
}

impl Broadcast {
    #[inline]
    pub(crate) fn arrival(&self, node: u32) -> Cycles {
        self.arrivals[node as usize]
    }
}
