//! Caches, coherence, atomic operations and memory controllers.

use serde::{Deserialize, Serialize};

/// A private cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Cache {
    /// Bytes.
    pub size: u64,
    /// Lines in a set.
    pub ways: u32,
    /// From the core's request to its data, all levels above included.
    pub latency: u64,
}

/// A last-level cache shared by the cores of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SharedCache {
    /// Bytes of one group's cache.
    pub size: u64,
    /// Lines in a set.
    pub ways: u32,
    /// From a core's request to its data, all levels above included, hops of
    /// a mesh not included.
    pub latency: u64,
    /// Whether all lines in a private cache of the group are in it too.
    pub inclusive: bool,
    /// Added when another core of the group must be asked for the line.
    pub snoop: u64,
    /// Added when that core had written to it.
    pub dirty: u64,
    /// Added when copies in the group's private caches must be invalidated.
    pub invalidate: u64,
    /// The placement of its lines.
    pub slices: Slices,
}

/// The placement of lines in a shared cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Slices {
    /// At the same distance from every core of the group.
    Uniform,
    /// Interleaved by line over the group's tiles, reached over the mesh.
    Tiles,
}

/// How copies of a line are kept equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Coherence {
    /// The states of a line.
    pub protocol: Protocol,
    /// The knowledge of a line's home.
    pub directory: Directory,
    /// Sharers a limited directory (`ackwise`) can name; ignored by others.
    pub pointers: u32,
    /// Cycles to read and update a directory entry.
    pub latency: u64,
    /// How long a read of a clean line keeps its home from serving the line's next request. Writes
    /// keep it until they are done.
    pub occupancy: u64,
    /// Which place serialises the requests to a line.
    pub home: Home,
    /// Whether a clean line held by another group's caches is taken from
    /// there and not from memory.
    pub clean_forward: bool,
    /// The way of a line that another group owns.
    pub data_path: DataPath,
    /// The place of a write.
    pub writes: Writes,
}

/// The states of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Modified, shared, invalid: the first write after a read asks the home.
    Msi,
    /// And exclusive: a sole reader may write without asking.
    Mesi,
}

/// The knowledge of a line's home about its copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Directory {
    /// Every sharer is known.
    FullMap,
    /// Up to `pointers` sharers are known; beyond that they are counted,
    /// invalidations are broadcast, and only sharers answer.
    Ackwise,
    /// Owners are known, sharers are not: invalidations are broadcast and
    /// every group answers.
    Broadcast,
}

/// The place that serialises the requests to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Home {
    /// Lines take turns over the tiles (or groups).
    Interleave,
    /// A 4 KiB page's home is the group that touches it first.
    FirstTouch,
}

/// The way of a line from its owner to the requester.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataPath {
    /// From the owner straight to the requester.
    Direct,
    /// From the owner to the home, and from there to the requester.
    ThroughHome,
}

/// The place of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Writes {
    /// A write takes the line into the writer's cache.
    Back,
    /// A write is done at the line's home; private caches hold clean lines.
    Through,
}

/// The costs of atomic operations beyond getting the line: E(A) of L(A,S) = R(S) + E(A) + O
/// (Schweizer, Besta, Hoefler, PACT'15). With `llsc` they are the cycles between the load and the
/// store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Atomics {
    /// The place of their execution.
    pub kind: AtomicKind,
    /// Compare-and-swap, whether it succeeds or not.
    pub cas: u64,
    /// Fetch-and-add and the other read-modify-writes.
    pub faa: u64,
    /// Exchange.
    pub swap: u64,
    /// Test-and-set: an exchange with a fixed new value.
    pub tas: u64,
    /// A full fence.
    pub fence: u64,
    /// With `far`: cycles of any atomic operation at the line's home, beyond its directory's. The
    /// default is the operation's own value.
    pub at_home: Option<u64>,
    /// The cycles for which a core keeps a line after an atomic operation has brought the line to it. Only then the
    /// next request for the line is served. With `far` this concerns a compare-and-swap, which the core then does
    /// itself. Without a value the line's home does it. With `near` this concerns all atomic operations: a core uses
    /// the line until another core's request has reached it. The default is 0.
    pub hold: Option<u64>,
    /// With `far`: a core sends additions and bit operations ahead and does not wait
    /// for the old value, as an out-of-order core that has no use for it. One core's
    /// operations still follow each other at the pace of the home. Without a value a
    /// core waits for the old value.
    pub posted: Option<bool>,
}

/// The place of an atomic operation's execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtomicKind {
    /// In the core's cache, which holds the line until the operation is done.
    Near,
    /// At the line's home, unless the core's own cache may write to the line.
    Far,
    /// A load that reserves the line and a store that fails if it was lost.
    Llsc,
}

/// Memory controllers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Memory {
    /// From the home's request to the controller to its data.
    pub latency: u64,
    /// Bytes a cycle of one controller.
    pub bytes_per_cycle: f64,
    /// Consecutive nodes ([`Config::nodes`](super::Config::nodes)) that share
    /// a controller.
    pub nodes_per_controller: u32,
    /// Channels of a controller. Lines are spread over them, and the bytes a cycle are per channel.
    /// They take exact fractions of cycles and let a later request pass an earlier one that has not
    /// arrived yet. Without a value a controller serves in the order of asking, each line in whole
    /// cycles (Graphite's controller).
    pub channels: Option<u32>,
}
