//! A machine as data: the sections and values of a TOML file.
//!
//! Latencies are in cycles of the machine's one clock, and sizes in bytes. Except for optional
//! keys, a missing key is an error, so a preset contains all values that decide its results.
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

/// A simulated machine. Together with the program and its seed, it decides all results of a
/// simulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// The name in results.
    pub name: String,
    /// The real machine, or the source of an imaginary one.
    pub title: String,
    /// Hardware threads. Each runs one software thread at a time.
    pub cores: u32,
    /// Hardware threads that share an L1 and an L2. With [`Core::shared_cpi`], they also share the
    /// pipeline.
    pub threads_per_core: u32,
    /// Consecutive hardware threads in a core group. They share a last-level cache, if there is
    /// one, and are one node of the network between groups.
    pub group_cores: u32,
    /// Consecutive hardware threads in one package, as an operating system shows it. Nothing else
    /// depends on this value. Without a value, a package is a socket of [`Sockets`], or else a NUMA
    /// node.
    pub package_cores: Option<u32>,
    /// Clock frequency in GHz: cycles in a nanosecond.
    pub ghz: f64,
    /// Bytes in a cache line, a power of two.
    pub line: u32,
    /// Each access that leaves the private caches, and each start of a thread on a core, is delayed by a random
    /// number of cycles, from 0 to this value. Runs with several `perturb-seed`s sample the interleavings of the
    /// program's threads (Alameldeen and Wood, HPCA 2003). Without a value, there is no delay.
    pub perturb: Option<u64>,
    /// The seed of these delays. 1 without a value.
    pub perturb_seed: Option<u64>,
    /// The pipeline.
    pub core: Core,
    /// The first cache of a core.
    pub l1: Cache,
    /// The second-level cache of a core, if it has one.
    pub l2: Option<Cache>,
    /// The cache of a group, if there is one.
    pub llc: Option<SharedCache>,
    /// The protocol that keeps the copies of a line equal.
    pub coherence: Coherence,
    /// The costs of atomic operations.
    pub atomics: Atomics,
    /// Memory controllers.
    pub memory: Memory,
    /// The network between tiles or groups.
    pub network: Network,
    /// The broadcast network, if there is one.
    pub optical: Option<Optical>,
    /// The operating system.
    pub os: Os,
    /// The energies of events. Without this table, energy is not computed.
    pub energy: Option<Energies>,
    /// The source of each value: maps a section (`l1`) or a key (`l1.latency`) to a citation.
    pub sources: BTreeMap<String, String>,
}

impl Config {
    /// The number of core groups.
    #[must_use]
    pub fn groups(&self) -> u32 {
        self.cores / self.group_cores
    }

    /// The number of nodes of the network: the tiles of a mesh, or else the core groups.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        match self.network {
            Network::Mesh { .. } => self.cores,
            Network::Groups { .. } => self.groups(),
        }
    }

    /// The tiles in a row of each mesh. `None` without a mesh.
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

    /// The number of memory controllers.
    #[must_use]
    pub fn controllers(&self) -> u32 {
        self.nodes().div_ceil(self.memory.nodes_per_controller)
    }

    pub(crate) fn line_cycles(&self) -> f64 {
        let channels = f64::from(self.memory.channels);
        f64::from(self.line) / (self.memory.bytes_per_cycle * channels)
    }
}

/// The pipeline, as far as it is modelled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Core {
    /// Cycles that an instruction of `compute` takes.
    pub cpi: f64,
    /// Cycles that such an instruction takes while another hardware thread of the core runs too. Without a value,
    /// hardware threads do not compete for the pipeline.
    pub shared_cpi: Option<f64>,
    /// Cycles from one load of a word to the next in a spin loop, including the spin hint
    /// (`pause`).
    pub spin_period: u64,
    /// The misses that a core does not wait for. Without a value, a core waits for all misses.
    pub overlap: Option<Overlap>,
}

/// The accesses that a core does not wait for: plain stores and the fetches of a stride prefetcher. A core waits for
/// atomic operations and for loads that miss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Overlap {
    /// The most lines that may be on their way to a core at a time. The line that the core waits for does not count.
    pub lines: u32,
    /// The most plain stores among these lines. 0 for a core that waits for its stores.
    pub store_buffer: u32,
    /// Streams of reads that the prefetcher follows. 0 for no prefetcher.
    pub streams: u32,
    /// The most strides that the prefetcher is ahead of a stream.
    pub distance: u32,
    /// Whether a store to a whole line takes the line without reading its data.
    pub whole_lines: bool,
}
