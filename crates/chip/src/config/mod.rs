//! A machine as data: what a TOML file says, section by section.
//!
//! All latencies are cycles of the machine's one clock; sizes are bytes.
//! Nothing here has a default: a missing key is an error, so that a preset
//! says all that decides its results.

use serde::{Deserialize, Serialize};

/// A simulated machine: everything that decides a simulation beside the
/// program and its seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// The name by which results refer to it.
    pub name: String,
    /// The real machine, or where the imagined one comes from.
    pub title: String,
    /// Hardware threads; each runs one software thread at a time.
    pub cores: u32,
    /// Hardware threads that share an L1 and an L2. They do not compete for
    /// the pipeline.
    pub threads_per_core: u32,
    /// Consecutive cores that share a last-level cache, or are one node of the
    /// network between groups.
    pub group_cores: u32,
    /// Clock frequency in GHz: cycles in a nanosecond.
    pub ghz: f64,
    /// Bytes in a cache line, a power of two.
    pub line: u32,
    pub core: Core,
    pub l1: Cache,
    pub l2: Option<Cache>,
    pub llc: Option<SharedCache>,
    pub coherence: Coherence,
    pub atomics: Atomics,
    pub memory: Memory,
    pub network: Network,
    pub optical: Option<Optical>,
    pub os: Os,
    /// Where each value comes from: a section (`l1`) or a key (`l1.latency`)
    /// to a citation.
    pub sources: std::collections::BTreeMap<String, String>,
}

/// The pipeline, as far as it is modelled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Core {
    /// Cycles an instruction of `compute` takes.
    pub cpi: f64,
    /// Cycles from one look at a word to the next in a spin loop, the spin
    /// hint (`pause`) included.
    pub spin_period: u64,
}

/// A private cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Cache {
    pub size: u64,
    pub ways: u32,
    /// From the core's request to its data, all levels above included.
    pub latency: u64,
}

/// A last-level cache shared by the cores of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SharedCache {
    /// Of one group's cache.
    pub size: u64,
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
    pub slices: Slices,
}

/// Where the lines of a shared cache are.
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
    pub protocol: Protocol,
    pub directory: Directory,
    /// Sharers a limited directory (`ackwise`) can name; ignored by others.
    pub pointers: u32,
    /// Cycles to read and update a directory entry.
    pub latency: u64,
    /// Cycles for which a read of a clean line keeps its home from serving
    /// the line's next request. Writes keep it until they are done.
    pub occupancy: u64,
    pub home: Home,
    /// Whether a clean line held by another group's caches is taken from
    /// there and not from memory.
    pub clean_forward: bool,
    pub data_path: DataPath,
    pub writes: Writes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Modified, shared, invalid: the first write after a read asks the home.
    Msi,
    /// And exclusive: a sole reader may write without asking.
    Mesi,
}

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Home {
    /// Lines take turns over the tiles (or groups).
    Interleave,
    /// A 4 KiB page's home is the group that touches it first.
    FirstTouch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataPath {
    /// From the owner straight to the requester.
    Direct,
    /// From the owner to the home, and from there to the requester.
    ThroughHome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Writes {
    /// A write takes the line into the writer's cache.
    Back,
    /// A write is done at the line's home; private caches hold clean lines.
    Through,
}

/// What atomic operations cost beyond getting the line: E(A) of
/// L(A,S) = R(S) + E(A) + O.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Atomics {
    pub kind: AtomicKind,
    pub cas: u64,
    pub faa: u64,
    pub swap: u64,
    pub tas: u64,
    /// A full fence.
    pub fence: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtomicKind {
    /// In the core's cache, which holds the line until the operation is done.
    Near,
    /// At the line's home.
    Far,
    /// A load that reserves the line and a store that fails if it was lost.
    Llsc,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Memory {
    /// From the home's request to the controller to its data.
    pub latency: u64,
    /// Of one controller, bytes a cycle.
    pub bytes_per_cycle: f64,
    /// Of the chip; spread evenly over the tiles or groups.
    pub controllers: u32,
}

/// The electrical network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "kind")]
pub enum Network {
    /// A two-dimensional mesh of tiles with XY routing, a core a tile.
    #[serde(rename_all = "kebab-case")]
    Mesh {
        /// Cycles in a router.
        router: u64,
        /// Cycles on a link.
        link: u64,
        /// Bits that cross a link in one cycle.
        flit_bits: u32,
        contention: Contention,
        /// Whether routers copy a broadcast (else it is a message a tile).
        broadcast_tree: bool,
    },
    /// Core groups at distances from each other.
    #[serde(rename_all = "kebab-case")]
    Groups {
        /// What each distance class is called and costs, one way.
        classes: Vec<Distance>,
        /// For each pair of groups the index of its class plus one; 0 on the
        /// diagonal.
        distance: Vec<Vec<u32>>,
        /// Cycles a message keeps the link between two groups.
        occupancy: u64,
    },
}

/// One distance class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Distance {
    pub name: String,
    pub cycles: u64,
}

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
    /// Bytes of long data that the waveguide carries in a cycle.
    pub bytes_per_cycle: u32,
}

/// The operating system: times in cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Os {
    /// The scheduler's clock interrupt.
    pub tick: u64,
    /// What the interrupt takes from the thread it interrupts.
    pub tick_cost: u64,
    /// In this time every runnable thread of a core runs once.
    pub latency: u64,
    /// But none for less than this.
    pub min_granularity: u64,
    /// How far behind a woken thread must be to displace the running one.
    pub wakeup_granularity: u64,
    /// From one thread to another on a core.
    pub switch: u64,
    /// Added when a thread runs on another core than before.
    pub migration: u64,
    /// Into the kernel and back.
    pub syscall: u64,
    /// What a futex wait does in the kernel before the thread sleeps.
    pub futex_wait: u64,
    /// What a futex wake does in the kernel for each thread it wakes.
    pub futex_wake: u64,
    /// From the wake to the moment an idle core picks the thread up.
    pub wake_latency: u64,
    /// Added when that core has been idle for `deep_after`.
    pub deep_latency: u64,
    pub deep_after: u64,
    /// Making a thread, for the maker.
    pub spawn: u64,
    /// Between two rounds of periodic balancing on an idle core, for each core
    /// of its group (Linux: 1 ms).
    pub balance: u64,
    /// Times as long between them on a busy core (Linux: 16 since 5.10, 32
    /// before).
    pub balance_busy: u64,
    /// How long a thread's data is taken to stay in its core's caches:
    /// balancing moves no thread that ran less than this ago, and a core whose
    /// idle times are shorter looks for no work elsewhere (Linux:
    /// `sched_migration_cost_ns`, 0.5 ms).
    pub hot: u64,
    /// Spread of timer interrupts: a timed sleep ends up to this late.
    pub timer_slack: u64,
}
