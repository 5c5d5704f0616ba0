//! A machine as data: what a TOML file says, section by section.
//!
//! All latencies are cycles of the machine's one clock; sizes are bytes.
//! Nothing here has a default: a missing key is an error, so that a preset
//! says all that decides its results.
//!
//! ```
//! use manycore_chip::config::Config;
//!
//! let mut chip = Config::preset("atac-64").unwrap();
//! chip.set("cores=256").unwrap();
//! chip.set("coherence.protocol=mesi").unwrap();
//! assert_eq!(chip.nodes(), 256);
//!
//! let error = chip.set("l1.latencyy=2").unwrap_err().to_string();
//! assert!(error.starts_with("--set l1.latencyy=2: l1.latencyy: unknown key `latencyy`"));
//! ```

mod bounds;
mod energy;
mod error;
mod load;
mod memory;
mod network;
mod os;
mod presets;
mod set;
mod sizes;
mod topology;
mod validate;

#[cfg(test)]
mod closed_form;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use bounds::{keys, range};
pub use energy::Energies;
pub use error::ConfigError;
pub use memory::{
    AtomicKind, Atomics, Cache, Coherence, DataPath, Directory, Home, Memory, Protocol,
    SharedCache, Slices, Writes,
};
pub use network::{Contention, Distance, Network, Optical, Sockets};
pub use os::{Governor, Os};
pub use presets::{PUBLISHED_CONTENDED, PUBLISHED_SERVERS, PUBLISHED_SOSP13, preset_names};
pub use topology::{CacheLevel, Topology, Unit};

/// A simulated machine: everything that decides a simulation, except the
/// program and its seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// The name in results.
    pub name: String,
    /// The real machine, or where the imagined one comes from.
    pub title: String,
    /// Hardware threads; each runs one software thread at a time.
    pub cores: u32,
    /// Hardware threads that share an L1 and an L2, and the pipeline if
    /// [`Core::shared_cpi`] says so.
    pub threads_per_core: u32,
    /// Consecutive hardware threads that share a last-level cache, or are one
    /// node of the network between groups.
    pub group_cores: u32,
    /// Consecutive hardware threads in one package, as an operating system
    /// shows it; nothing else depends on it. Without a value a socket of
    /// meshes is one, else a NUMA node.
    pub package_cores: Option<u32>,
    /// Clock frequency in GHz: cycles in a nanosecond.
    pub ghz: f64,
    /// Bytes in a cache line, a power of two.
    pub line: u32,
    /// The most cycles of a random delay. Each access that leaves the private
    /// caches draws its own, from 0 on. Runs under several `perturb-seed`s
    /// sample the interleavings of the program's threads (Alameldeen and Wood,
    /// HPCA 2003). Without a value there is no delay.
    pub perturb: Option<u64>,
    /// Seed of these delays; 1 without a value.
    pub perturb_seed: Option<u64>,
    /// The pipeline.
    pub core: Core,
    /// The first cache of a core.
    pub l1: Cache,
    /// Its second-level cache, if it has its own.
    pub l2: Option<Cache>,
    /// The cache of a group, if there is one.
    pub llc: Option<SharedCache>,
    /// How copies of a line are kept equal.
    pub coherence: Coherence,
    /// The costs of atomic operations.
    pub atomics: Atomics,
    /// Memory controllers.
    pub memory: Memory,
    /// Between tiles or groups.
    pub network: Network,
    /// The broadcast network, if there is one.
    pub optical: Option<Optical>,
    /// The operating system.
    pub os: Os,
    /// What events cost in energy. Without this table energy is not accounted for.
    pub energy: Option<Energies>,
    /// The source of each value: a section (`l1`) or a key (`l1.latency`) to a citation.
    pub sources: BTreeMap<String, String>,
}

impl Config {
    /// Core groups.
    #[must_use]
    pub fn groups(&self) -> u32 {
        self.cores / self.group_cores
    }

    /// Nodes of the network: the tiles of a mesh, else the core groups.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        match self.network {
            Network::Mesh { .. } => self.cores,
            Network::Groups { .. } => self.groups(),
        }
    }

    /// Tiles in a row of the mesh, of each mesh if there are several; `None`
    /// without a mesh.
    #[must_use]
    pub fn mesh_width(&self) -> Option<u32> {
        match &self.network {
            Network::Mesh { sockets, .. } => {
                let count = sockets.as_ref().map_or(1, |sockets| sockets.count);
                Some((self.cores / count).isqrt())
            }
            Network::Groups { .. } => None,
        }
    }

    /// Memory controllers of the machine.
    #[must_use]
    pub fn controllers(&self) -> u32 {
        self.nodes().div_ceil(self.memory.nodes_per_controller)
    }

    /// Cycles of a controller's whole bandwidth that a line takes.
    pub(crate) fn line_cycles(&self) -> f64 {
        let cycles = f64::from(self.line) / self.memory.bytes_per_cycle;
        match self.memory.channels {
            None => cycles.ceil(),
            Some(channels) => cycles / f64::from(channels),
        }
    }
}

/// The pipeline, as far as it is modelled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Core {
    /// Cycles an instruction of `compute` takes.
    pub cpi: f64,
    /// Cycles that it takes while another hardware thread of the core runs too;
    /// without a value they do not compete for the pipeline.
    pub shared_cpi: Option<f64>,
    /// Cycles from one look at a word to the next in a spin loop, the spin
    /// hint (`pause`) included.
    pub spin_period: u64,
    /// Lines that come while the core goes on; without a value it waits for each.
    pub overlap: Option<Overlap>,
}

/// The accesses that a core does not wait for: its plain stores, and lines that a stride prefetcher
/// brings. It waits for atomic operations and for loads that miss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Overlap {
    /// Lines on their way to a core at once, the one it waits for not included.
    pub lines: u32,
    /// Plain stores among them; 0 for a core that waits for its stores.
    pub store_buffer: u32,
    /// Streams of reads that the prefetcher follows; 0 for no prefetcher.
    pub streams: u32,
    /// Strides that it is ahead of its stream at most.
    pub distance: u32,
    /// Whether a store to a whole line takes the line without reading it.
    pub whole_lines: bool,
}
