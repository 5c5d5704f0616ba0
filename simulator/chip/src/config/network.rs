//! The networks between cores.

use serde::{Deserialize, Serialize};

/// The electrical network: the table `[network.mesh]` or `[network.groups]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Network {
    /// A two-dimensional mesh of tiles with XY routing, a core a tile. Its width
    /// is the square root of the number of tiles (of a socket), rounded down.
    #[serde(rename_all = "kebab-case")]
    Mesh {
        /// Cycles in a router.
        router: u64,
        /// Cycles on a link.
        link: u64,
        /// Bits that cross a link in one cycle.
        flit_bits: u32,
        /// Whether messages delay each other.
        contention: Contention,
        /// Whether routers copy a broadcast (else it is a message a tile).
        broadcast_tree: bool,
        /// Several such meshes; without a value there is one.
        sockets: Option<Sockets>,
    },
    /// Core groups at distances from each other.
    #[serde(rename_all = "kebab-case")]
    Groups {
        /// The name and the one-way cost of each distance class.
        classes: Vec<Distance>,
        /// For each pair of groups the index of its class plus one; 0 on the
        /// diagonal.
        distance: Vec<Vec<u32>>,
        /// Cycles a message keeps the link between two groups.
        occupancy: u64,
    },
}

/// Sockets with a mesh each, of as many consecutive tiles. A message to another
/// socket goes as far on both meshes together as it would on one, from the
/// sender's place to the receiver's, and crosses the link between the two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Sockets {
    /// How many; each is one core group.
    pub count: u32,
    /// Cycles from one to another beyond the hops on the meshes.
    pub cycles: u64,
    /// Cycles a message keeps the link from one to another.
    pub occupancy: u64,
}

/// One distance class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Distance {
    /// As in tables of measurements: `same die`, `2 hops`.
    pub name: String,
    /// Latency of a message, one way.
    pub cycles: u64,
}

/// Whether the messages of a mesh delay each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contention {
    /// Hops are counted, messages pass through each other.
    HopCounter,
    /// Every output port carries one flit a cycle.
    HopByHop,
}

/// The optical broadcast network of the thesis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Optical {
    /// Sender to lambda queue.
    pub transport: u64,
    /// Lambda queue to message buffer, one message at a time.
    pub controller: u64,
    /// The core's look into its message buffer.
    pub check: u64,
    /// Setting the local filter.
    pub filter: u64,
    /// A level of the adder tree with which an interface counts simultaneous arrivals. The tree has
    /// enough levels to add one bit of each core.
    pub adder: u64,
    /// Bytes of long data that the waveguide carries in a cycle.
    pub bytes_per_cycle: u32,
}
