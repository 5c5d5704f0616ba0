//! The networks between cores.

use serde::{Deserialize, Serialize};

/// The electrical network: the table `[network.mesh]` or `[network.groups]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Network {
    /// A two-dimensional mesh of tiles with XY routing and one core on each tile. Its width is the
    /// square root of the number of tiles (of a socket), rounded down.
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
        /// Whether routers copy a broadcast. If they do not, the sender sends a message to each tile.
        broadcast_tree: bool,
        /// Sockets with a mesh each. Without a value, there is one mesh.
        sockets: Option<Sockets>,
    },
    /// Core groups at distances from each other.
    #[serde(rename_all = "kebab-case")]
    Groups {
        /// The name and the one-way cost of each distance class.
        classes: Vec<Distance>,
        /// For each pair of groups, the index of the pair's class plus one. The diagonal has zeros.
        distance: Vec<Vec<u32>>,
        /// Cycles for which a message occupies the link between two groups.
        occupancy: u64,
    },
}

/// Sockets with a mesh each. Each socket has the same number of consecutive tiles. A message to another socket takes as
/// many hops as if the sender's and the receiver's places were on one mesh. It also crosses the link between the
/// sockets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Sockets {
    /// The number of sockets. Each is one core group.
    pub count: u32,
    /// Cycles from one socket to another, in addition to the hops on the meshes.
    pub cycles: u64,
    /// Cycles for which a message occupies the link from one socket to another.
    pub occupancy: u64,
}

/// One distance class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Distance {
    /// The name, as in tables of measurements: `same die`, `2 hops`.
    pub name: String,
    /// One-way latency of a message.
    pub cycles: u64,
}

/// Whether the messages of a mesh delay each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contention {
    /// Messages do not delay each other: only hops count.
    HopCounter,
    /// Each output port carries one flit in a cycle, so messages queue.
    HopByHop,
}

/// The optical broadcast network (Park, MIT 2013). All times are in cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Optical {
    /// The time from the sender to the receiver's lambda queue (of messages of the sender's wavelength).
    pub transport: u64,
    /// The time from the lambda queue to the message buffer. Only one message moves at a time.
    pub controller: u64,
    /// Cycles that a core takes to look into its message buffer.
    pub check: u64,
    /// Cycles to set the core's filter.
    pub filter: u64,
    /// Cycles of one level of the adder tree, which counts simultaneous arrivals. The tree has
    /// enough levels to add one bit for each core.
    pub adder: u64,
    /// Bytes of long data that the waveguide carries in a cycle.
    pub bytes_per_cycle: u32,
}
