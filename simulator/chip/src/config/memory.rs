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
    /// Cycles from the core's request to its data, including the levels above.
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
    /// Cycles from a core's request to its data, including the levels above but not the hops of a
    /// mesh.
    pub latency: u64,
    /// Whether this cache also contains all lines of the group's private caches.
    pub inclusive: bool,
    /// Additional cycles if another core of the group must be asked for the line.
    pub snoop: u64,
    /// Additional cycles if the core that is asked has written the line.
    pub dirty: u64,
    /// Additional cycles if copies in the group's private caches must be invalidated.
    pub invalidate: u64,
    /// The placement of the cache's lines.
    pub slices: Slices,
}

/// The placement of lines in a shared cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Slices {
    /// Each line is at the same distance from every core of the group.
    Uniform,
    /// Lines are interleaved over the group's tiles and reached over the mesh.
    Tiles,
}

/// The protocol that keeps the copies of a line equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Coherence {
    /// The states of a line.
    pub protocol: Protocol,
    /// What a line's home ([`Home`]) knows about the copies.
    pub directory: Directory,
    /// The number of sharers that the directory `ackwise` can name. Other directories ignore this
    /// value.
    pub pointers: u32,
    /// Cycles to read and update a directory entry.
    pub latency: u64,
    /// After a read of a clean line, its home serves the line's next request only after this many cycles. After a
    /// write, the home serves the next request once the write is done.
    pub occupancy: u64,
    /// The place that serialises the requests to a line.
    pub home: Home,
    /// Whether a clean line that another group's caches hold comes from these caches and not from
    /// memory.
    pub clean_forward: bool,
    /// The path of a line that another group owns.
    pub data_path: DataPath,
    /// The place where writes are done.
    pub writes: Writes,
}

/// The states of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Modified, shared, invalid: the first write after a read asks the home.
    Msi,
    /// Modified, exclusive, shared, invalid: a sole reader may write without asking the home.
    Mesi,
}

/// What a line's home knows about its copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Directory {
    /// Every sharer is known.
    FullMap,
    /// Up to `pointers` sharers are known. More sharers are only counted: invalidations are
    /// broadcast, and only sharers answer.
    Ackwise,
    /// Only owners are known. Invalidations are broadcast, and every group answers.
    Broadcast,
}

/// The place that serialises the requests to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Home {
    /// Consecutive lines have consecutive tiles (or groups) as homes.
    Interleave,
    /// The home of a 4 KiB page is the group that touches the page first.
    FirstTouch,
}

/// The path of a line from its owner to the requester.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataPath {
    /// From the owner straight to the requester.
    Direct,
    /// From the owner to the home, and from there to the requester.
    ThroughHome,
}

/// The place where writes are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Writes {
    /// A write takes the line into the writer's cache.
    Back,
    /// A write is done at the line's home. Private caches hold only clean lines.
    Through,
}

/// The cycles of atomic operations in addition to the cycles for the line: E(A) in L(A,S) = R(S) + E(A) + O (Schweizer,
/// Besta, Hoefler, PACT'15). With `llsc`, these are the cycles between the load and the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Atomics {
    /// How atomic operations are executed.
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
    /// With `far`: the cycles of each atomic operation at the line's home, in addition to the directory's cycles.
    /// Without a value, an operation takes its own cycles there.
    pub at_home: Option<u64>,
    /// The cycles for which a core keeps a line that an atomic operation has brought to it. The next request for the
    /// line is served after these cycles. With `far`, the value concerns only a compare-and-swap: the core does this
    /// operation itself if the value is not 0, and the line's home does it otherwise. With `near`, the value concerns
    /// all atomic operations: a core uses the line until another core's request has reached the core. The default is 0.
    pub hold: Option<u64>,
    /// With `far`: whether a core continues after an addition or bit operation without waiting for
    /// the old value, as an out-of-order core does if the program does not use that value. The home
    /// still does a core's operations one after another. Without a value, a core waits.
    pub posted: Option<bool>,
}

/// How an atomic operation is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtomicKind {
    /// In the core's cache, which keeps the line until the operation is done.
    Near,
    /// At the line's home, unless the core's own cache may write to the line.
    Far,
    /// By a load that reserves the line, and a store that fails if the reservation was lost.
    Llsc,
}

/// Memory controllers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Memory {
    /// Cycles from the home's request to the controller until the data arrives.
    pub latency: u64,
    /// Bytes that each of a controller's channels transfers in a cycle.
    pub bytes_per_cycle: f64,
    /// Consecutive nodes ([`Config::nodes`](super::Config::nodes)) that share
    /// a controller.
    pub nodes_per_controller: u32,
    /// The channels of a controller, over which lines are spread. A channel serves requests in the
    /// order of arrival. Without a value: one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub channels: u32,
}

fn one() -> u32 {
    1
}

/// Takes a reference, because serde passes the field by reference.
fn is_one(channels: &u32) -> bool {
    *channels == one()
}
