//! A machine as an operating system shows it: the hardware threads that share a core, a cache, a
//! die, a package or a NUMA node, and the distances between NUMA nodes.
//!
//! Hardware threads that share a unit have consecutive numbers, so the size of a unit describes it.

use super::{Config, Home, Network};
use std::ops::Range;

/// A set of hardware threads that share a part of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// They share a pipeline: SMT siblings.
    Core,
    /// They share the second-level cache, as Linux defines the cluster on x86.
    Cluster,
    /// They are on one die. A package of two NUMA nodes has two dies.
    Die,
    /// They are in one package (socket).
    Package,
    /// They are in one NUMA node.
    Node,
}

/// A level of data caches. All caches of a level are alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheLevel {
    /// The level's number, from 1 at the core.
    pub level: u32,
    /// Bytes of one cache.
    pub size: u64,
    /// Bytes in a line.
    pub line: u32,
    /// Lines in a set.
    pub ways: u32,
    /// Consecutive hardware threads that share a cache.
    pub shared_by: u32,
}

/// The hardware threads of a machine, as an operating system shows them.
///
/// ```
/// use manycore_chip::config::{Config, Unit};
///
/// let milan = Config::preset("milan-7r13x2")?.topology();
/// assert_eq!(milan.peers(Unit::Package, 50), 48..96);
/// // A chiplet has eight cores and a third-level cache.
/// assert_eq!(milan.sharers(milan.caches().last().unwrap(), 50), 48..56);
/// # Ok::<(), manycore_chip::config::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    cores: u32,
    core: u32,
    cluster: u32,
    package: u32,
    node: u32,
    caches: Vec<CacheLevel>,
    distances: Vec<Vec<u32>>,
}

/// The distance of a node to itself, in the unit of ACPI's table of distances (SLIT).
const LOCAL: u32 = 10;
/// The largest distance in that table. 255 stands for nodes that cannot reach each other.
const FARTHEST: u32 = 254;

impl Config {
    /// The machine as an operating system shows it.
    #[must_use]
    pub fn topology(&self) -> Topology {
        let node = self.node_cores();
        let nodes = self.cores.div_ceil(node);
        let distances = (0..nodes).map(|from| {
            let row = (0..nodes).map(|to| self.node_distance(from * node, to * node));
            row.collect()
        });
        Topology {
            cores: self.cores,
            core: self.threads_per_core,
            cluster: self.cluster_cores(),
            package: self.package_cores.unwrap_or_else(|| self.socket_cores()),
            node,
            caches: self.cache_levels(),
            distances: distances.collect(),
        }
    }

    /// Hardware threads of a NUMA node: the groups that share a memory controller. If lines are
    /// interleaved over all groups, the whole machine is one node.
    fn node_cores(&self) -> u32 {
        match (self.coherence.home, &self.network) {
            (Home::Interleave, _) => self.cores,
            (Home::FirstTouch, Network::Mesh { .. }) => self.group_cores,
            (Home::FirstTouch, Network::Groups { .. }) => {
                let cores = u64::from(self.group_cores);
                let cores = cores * u64::from(self.memory.nodes_per_controller);
                cores.min(self.cores.into()) as u32
            }
        }
    }

    /// Hardware threads of a package, if the machine's description does not have this number.
    fn socket_cores(&self) -> u32 {
        match &self.network {
            Network::Mesh { sockets, .. } => match sockets {
                Some(_) => self.group_cores,
                None => self.cores,
            },
            Network::Groups { .. } => self.node_cores(),
        }
    }

    fn cluster_cores(&self) -> u32 {
        match (&self.l2, &self.llc) {
            (None, Some(_)) => self.group_cores,
            _ => self.threads_per_core,
        }
    }

    fn cache_levels(&self) -> Vec<CacheLevel> {
        let private = [Some(&self.l1), self.l2.as_ref()].into_iter().flatten();
        let private = private.map(|cache| (cache.size, cache.ways, self.threads_per_core));
        let llc = self.llc.as_ref();
        let shared = llc.map(|cache| (cache.size, cache.ways, self.group_cores));
        let level = |(level, (size, ways, shared_by))| CacheLevel {
            level,
            size,
            line: self.line,
            ways,
            shared_by,
        };
        (1..).zip(private.chain(shared)).map(level).collect()
    }

    /// The distance between the nodes that begin at two hardware threads. ACPI defines it as 10
    /// times the memory latency from one node to the other divided by the latency within a node.
    fn node_distance(&self, from: u32, to: u32) -> u32 {
        if from == to {
            return LOCAL;
        }
        let cache = self.l2.as_ref().unwrap_or(&self.l1).latency;
        let cache = self.llc.as_ref().map_or(cache, |llc| llc.latency);
        let local = cache + self.coherence.latency + self.memory.latency;
        let (group, other) = (from / self.group_cores, to / self.group_cores);
        let way = match &self.network {
            Network::Groups {
                classes, distance, ..
            } => {
                let class = distance[group as usize][other as usize];
                classes[class as usize - 1].cycles
            }
            Network::Mesh {
                sockets: Some(sockets),
                ..
            } => sockets.cycles,
            // From the first tile of one node to the first tile of the other.
            Network::Mesh { router, link, .. } => {
                let width = self.cores.isqrt().max(1);
                let hops =
                    (from / width).abs_diff(to / width) + (from % width).abs_diff(to % width);
                u64::from(hops) * (router + link)
            }
        };
        let times = (local + 2 * way) as f64 / local as f64;
        let distance = (f64::from(LOCAL) * times).round();
        distance.clamp(f64::from(LOCAL) + 1.0, FARTHEST.into()) as u32
    }
}

impl Topology {
    /// A topology of `cores` equal cores in one package, with unknown caches.
    ///
    /// ```
    /// use manycore_chip::config::{Topology, Unit};
    ///
    /// let flat = Topology::flat(64);
    /// assert_eq!(flat.peers(Unit::Package, 7), 0..64);
    /// assert_eq!(flat.peers(Unit::Core, 7), 7..8);
    /// assert!(flat.caches().is_empty());
    /// ```
    #[must_use]
    pub fn flat(cores: u32) -> Self {
        Self {
            cores,
            core: 1,
            cluster: 1,
            package: cores,
            node: cores,
            caches: Vec::new(),
            distances: vec![vec![LOCAL]],
        }
    }

    /// Hardware threads of the machine.
    #[must_use]
    pub fn cores(&self) -> u32 {
        self.cores
    }

    /// The hardware threads of the unit that contains `core`.
    #[must_use]
    pub fn peers(&self, unit: Unit, core: u32) -> Range<u32> {
        self.around(self.size(unit), core)
    }

    /// The number of the unit that contains `core`, from 0.
    #[must_use]
    pub fn number(&self, unit: Unit, core: u32) -> u32 {
        core / self.size(unit)
    }

    /// The number of such units in the machine.
    #[must_use]
    pub fn count(&self, unit: Unit) -> u32 {
        self.cores.div_ceil(self.size(unit))
    }

    /// The levels of caches, beginning at the core.
    #[must_use]
    pub fn caches(&self) -> &[CacheLevel] {
        &self.caches
    }

    /// The hardware threads that share a cache of this level with `core`, including `core`.
    #[must_use]
    pub fn sharers(&self, cache: &CacheLevel, core: u32) -> Range<u32> {
        self.around(cache.shared_by, core)
    }

    /// The distances of a node to all nodes. The distance to itself is 10.
    ///
    /// # Panics
    ///
    /// Panics if there is no such node.
    #[must_use]
    pub fn distances(&self, node: u32) -> &[u32] {
        &self.distances[node as usize]
    }

    fn size(&self, unit: Unit) -> u32 {
        match unit {
            Unit::Core => self.core,
            Unit::Cluster => self.cluster,
            Unit::Die if self.package.is_multiple_of(self.node) => self.node,
            Unit::Die | Unit::Package => self.package,
            Unit::Node => self.node,
        }
    }

    fn around(&self, size: u32, core: u32) -> Range<u32> {
        let first = core / size * size;
        first..self.cores.min(first + size)
    }
}

#[cfg(test)]
mod tests {
    use super::super::preset_names;
    use super::*;

    const UNITS: [Unit; 5] = [
        Unit::Core,
        Unit::Cluster,
        Unit::Die,
        Unit::Package,
        Unit::Node,
    ];

    /// Whether the sets of the hardware threads form a partition.
    fn is_partition(cores: u32, set: impl Fn(u32) -> Range<u32>) -> bool {
        (0..cores).all(|core| {
            let mine = set(core);
            mine.contains(&core) && mine.end <= cores && mine.clone().all(|one| set(one) == mine)
        })
    }

    #[test]
    fn on_every_preset_units_and_caches_partition_the_threads_and_nest() {
        for name in preset_names() {
            let config = Config::preset(name).unwrap();
            let topology = config.topology();
            let cores = topology.cores();
            assert_eq!(cores, config.cores);
            for unit in UNITS {
                assert!(is_partition(cores, |core| topology.peers(unit, core)));
            }
            for core in 0..cores {
                let inside = |small: Range<u32>, large: Range<u32>| {
                    large.start <= small.start && small.end <= large.end
                };
                let peers = |unit| topology.peers(unit, core);
                assert!(inside(peers(Unit::Core), peers(Unit::Cluster)), "{name}");
                assert!(inside(peers(Unit::Cluster), peers(Unit::Die)), "{name}");
                assert!(inside(peers(Unit::Die), peers(Unit::Package)), "{name}");
                for caches in topology.caches().windows(2) {
                    let [inner, outer] = [0, 1].map(|at| topology.sharers(&caches[at], core));
                    assert!(inside(inner, outer), "{name}");
                }
            }
            for cache in topology.caches() {
                assert!(is_partition(cores, |core| topology.sharers(cache, core)));
            }
        }
    }

    #[test]
    fn caches_are_those_of_the_machine() {
        for name in preset_names() {
            let config = Config::preset(name).unwrap();
            let sizes: Vec<u64> = config.topology().caches().iter().map(|c| c.size).collect();
            let l2 = config.l2.as_ref().map(|cache| cache.size);
            let llc = config.llc.as_ref().map(|cache| cache.size);
            let expected = [Some(config.l1.size), l2, llc];
            assert_eq!(sizes, expected.into_iter().flatten().collect::<Vec<_>>());
            if let (Some(llc), Some(last)) = (&config.llc, config.topology().caches().last()) {
                assert_eq!((last.ways, last.shared_by), (llc.ways, config.group_cores));
            }
        }
    }

    #[test]
    fn packages_and_nodes_are_those_of_the_real_machines() {
        for (name, packages, nodes) in [
            ("atac-64", 1, 1),
            ("dahu", 2, 2),
            ("dahu-smt", 2, 2),
            ("graviton-a72", 1, 1),
            ("graviton2-64", 1, 1),
            ("gold5225r", 2, 2),
            ("kunpeng-920", 1, 2),
            ("milan-7r13x2", 2, 2),
            ("niagara-2", 1, 1),
            ("opteron-6172", 4, 8),
            ("sapphire-rapids-8470x2", 2, 2),
            ("tr3970x", 1, 1),
            ("w3225r", 1, 1),
            ("westmere-ex", 8, 8),
        ] {
            let topology = Config::preset(name).unwrap().topology();
            let found = [Unit::Package, Unit::Node].map(|unit| topology.count(unit));
            assert_eq!(found, [packages, nodes], "{name}");
        }
    }

    #[test]
    fn distances_are_symmetric_and_grow_with_the_way() {
        for name in preset_names() {
            let topology = Config::preset(name).unwrap().topology();
            for from in 0..topology.count(Unit::Node) {
                for (to, &distance) in (0..).zip(topology.distances(from)) {
                    assert_eq!(distance == LOCAL, from == to, "{name}");
                    assert_eq!(topology.distances(to)[from as usize], distance, "{name}");
                }
            }
        }
        let opteron = Config::preset("opteron-6172").unwrap().topology();
        let mut classes = opteron.distances(0).to_vec();
        classes.sort_unstable();
        classes.dedup();
        // The classes of distance: within a node, to the other die of the package, one hop, two hops.
        assert!(classes.len() >= 3, "{classes:?}");
    }

    #[test]
    fn a_machine_of_fewer_cores_than_a_package_is_one_package() {
        let mut opteron = Config::preset("opteron-6172").unwrap();
        opteron.package_cores = Some(12);
        opteron.cores = 6;
        let topology = opteron.topology();
        assert_eq!(topology.peers(Unit::Package, 3), 0..6);
    }
}
