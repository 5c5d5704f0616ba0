//! The folders of the simulated `/sys`, and their entries.

use super::text::{list, mask};
use manycore_chip::config::{CacheLevel, Topology, Unit};
use std::fmt::Write;
use std::ops::Range;

/// The machine's memory in KiB, as in `/proc/meminfo`.
const MEMORY: u64 = 16 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::linux) struct Name {
    pub(in crate::linux) name: String,
    pub(in crate::linux) kind: Kind,
    pub(in crate::linux) inode: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::linux) enum Kind {
    File,
    Folder,
    Link,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folder {
    /// `/sys` itself.
    Top,
    Devices,
    System,
    /// `cpu`, with all cores.
    Cpus,
    Cpu(u32),
    /// A core's `topology`.
    Places(u32),
    /// A core's `cache`.
    Caches(u32),
    /// A core, and a level of its `cache`, counted from 0.
    Cache(u32, u32),
    /// `node`, with all NUMA nodes.
    Nodes,
    Node(u32),
}

pub(super) enum Child {
    Folder(Folder),
    File(String),
    /// The target, relative to this folder.
    Link(String),
}

/// Files about all cores.
const OF_CPUS: [&str; 5] = ["kernel_max", "offline", "online", "possible", "present"];
/// Files about all nodes.
const OF_NODES: [&str; 5] = [
    "has_cpu",
    "has_memory",
    "has_normal_memory",
    "online",
    "possible",
];
const OF_NODE: [&str; 4] = ["cpulist", "cpumap", "distance", "meminfo"];
const OF_CACHE: [&str; 8] = [
    "coherency_line_size",
    "level",
    "number_of_sets",
    "shared_cpu_list",
    "shared_cpu_map",
    "size",
    "type",
    "ways_of_associativity",
];
const IDS: [(&str, Unit); 4] = [
    ("cluster_id", Unit::Cluster),
    ("core_id", Unit::Core),
    ("die_id", Unit::Die),
    ("physical_package_id", Unit::Package),
];
/// Sets of cores. Each set has a file with a mask, and a file with a list, whose name ends with `_list`. Two sets also
/// have an older name.
const SETS: [(&str, Unit); 6] = [
    ("cluster_cpus", Unit::Cluster),
    ("core_cpus", Unit::Core),
    ("core_siblings", Unit::Package),
    ("die_cpus", Unit::Die),
    ("package_cpus", Unit::Package),
    ("thread_siblings", Unit::Core),
];

impl Folder {
    pub(super) fn child(self, topology: &Topology, name: &str) -> Option<Child> {
        let cores = topology.cores();
        let nodes = topology.count(Unit::Node);
        Some(match (self, name) {
            (Self::Top, "devices") => Child::Folder(Self::Devices),
            (Self::Devices, "system") => Child::Folder(Self::System),
            (Self::System, "cpu") => Child::Folder(Self::Cpus),
            (Self::System, "node") => Child::Folder(Self::Nodes),
            (Self::Cpus, _) => match number(name, "cpu") {
                Some(core) if core < cores => Child::Folder(Self::Cpu(core)),
                _ => line(of_cpus(name, cores)?),
            },
            (Self::Cpu(core), "topology") => Child::Folder(Self::Places(core)),
            (Self::Cpu(core), "cache") if !topology.caches().is_empty() => {
                Child::Folder(Self::Caches(core))
            }
            (Self::Cpu(_), "online") => line("1".into()),
            (Self::Cpu(core), _) => {
                let node = number(name, "node")?;
                let is_its = node == topology.number(Unit::Node, core);
                is_its.then(|| Child::Link(format!("../../node/node{node}")))?
            }
            (Self::Places(core), _) => line(place(topology, core, name)?),
            (Self::Caches(core), _) => {
                let index = number(name, "index")?;
                topology.caches().get(index as usize)?;
                Child::Folder(Self::Cache(core, index))
            }
            (Self::Cache(core, index), _) => {
                let cache = topology.caches().get(index as usize)?;
                let shared = topology.sharers(cache, core);
                line(of_cache(cache, shared, cores, name)?)
            }
            (Self::Nodes, _) => match number(name, "node") {
                Some(node) if node < nodes => Child::Folder(Self::Node(node)),
                _ => line(OF_NODES.contains(&name).then(|| list(0..nodes))?),
            },
            (Self::Node(node), _) => {
                let own = cores_of_node(topology, node);
                match number(name, "cpu") {
                    Some(core) if own.contains(&core) => {
                        Child::Link(format!("../../cpu/cpu{core}"))
                    }
                    _ => line(of_node(topology, node, own, name)?),
                }
            }
            _ => return None,
        })
    }

    pub(super) fn names(self, topology: &Topology) -> Vec<Name> {
        let numbered = |name: &str, numbers: Range<u32>| -> Vec<String> {
            numbers.map(|number| format!("{name}{number}")).collect()
        };
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let mut names: Vec<String> = match self {
            Self::Top => owned(&["devices"]),
            Self::Devices => owned(&["system"]),
            Self::System => owned(&["cpu", "node"]),
            Self::Cpus => owned(&OF_CPUS),
            Self::Cpu(_) => owned(&["cache", "online", "topology"]),
            Self::Places(_) => {
                let sets = SETS
                    .iter()
                    .flat_map(|(name, _)| [(*name).to_owned(), format!("{name}_list")]);
                let ids = IDS.iter().map(|(name, _)| (*name).to_owned());
                ids.chain(sets).collect()
            }
            Self::Caches(_) => numbered("index", 0..topology.caches().len() as u32),
            Self::Cache(..) => owned(&OF_CACHE),
            Self::Nodes => owned(&OF_NODES),
            Self::Node(_) => owned(&OF_NODE),
        };
        names.extend(match self {
            Self::Cpus => numbered("cpu", 0..topology.cores()),
            Self::Cpu(core) => vec![format!("node{}", topology.number(Unit::Node, core))],
            Self::Nodes => numbered("node", 0..topology.count(Unit::Node)),
            Self::Node(node) => numbered("cpu", cores_of_node(topology, node)),
            _ => Vec::new(),
        });
        let here = self.inode();
        let named = |(at, name): (u64, String)| {
            let (kind, inode) = match self.child(topology, &name)? {
                Child::Folder(folder) => (Kind::Folder, folder.inode()),
                Child::File(_) => (Kind::File, here + at),
                Child::Link(_) => (Kind::Link, here + at),
            };
            Some(Name { name, kind, inode })
        };
        // On a machine without caches, `child` does not find `cache`.
        (1..).zip(names).filter_map(named).collect()
    }

    pub(super) fn path(self) -> String {
        let system = "/sys/devices/system";
        match self {
            Self::Top => "/sys".into(),
            Self::Devices => "/sys/devices".into(),
            Self::System => system.into(),
            Self::Cpus => format!("{system}/cpu"),
            Self::Cpu(core) => format!("{system}/cpu/cpu{core}"),
            Self::Places(core) => format!("{system}/cpu/cpu{core}/topology"),
            Self::Caches(core) => format!("{system}/cpu/cpu{core}/cache"),
            Self::Cache(core, index) => format!("{system}/cpu/cpu{core}/cache/index{index}"),
            Self::Nodes => format!("{system}/node"),
            Self::Node(node) => format!("{system}/node/node{node}"),
        }
    }

    /// The inode of this folder. The next numbers are for the folder's files.
    pub(super) fn inode(self) -> u64 {
        let [kind, first, second] = match self {
            Self::Top => [1, 0, 0],
            Self::Devices => [2, 0, 0],
            Self::System => [3, 0, 0],
            Self::Cpus => [4, 0, 0],
            Self::Cpu(core) => [5, core, 0],
            Self::Places(core) => [6, core, 0],
            Self::Caches(core) => [7, core, 0],
            Self::Cache(core, index) => [8, core, index],
            Self::Nodes => [9, 0, 0],
            Self::Node(node) => [10, node, 0],
        };
        u64::from(kind) << 52 | u64::from(first) << 24 | u64::from(second) << 16
    }
}

fn line(text: String) -> Child {
    Child::File(text + "\n")
}

/// The number after a prefix, without leading zeros, as Linux writes it.
fn number(name: &str, before: &str) -> Option<u32> {
    let digits = name.strip_prefix(before)?;
    let number: u32 = digits.parse().ok()?;
    (number.to_string() == digits).then_some(number)
}

fn of_cpus(name: &str, cores: u32) -> Option<String> {
    match name {
        "kernel_max" => Some((cores - 1).to_string()),
        "offline" => Some(String::new()),
        _ => OF_CPUS.contains(&name).then(|| list(0..cores)),
    }
}

fn place(topology: &Topology, core: u32, name: &str) -> Option<String> {
    if let Some(&(_, unit)) = IDS.iter().find(|(known, _)| *known == name) {
        // Cores and dies are counted in their package, as on x86.
        let within = |unit| {
            let package = topology.peers(Unit::Package, core).start;
            topology.number(unit, core) - topology.number(unit, package)
        };
        let number = match unit {
            Unit::Core | Unit::Die => within(unit),
            _ => topology.number(unit, core),
        };
        return Some(number.to_string());
    }
    let as_list = name.strip_suffix("_list");
    let set = as_list.unwrap_or(name);
    let &(_, unit) = SETS.iter().find(|(known, _)| *known == set)?;
    let peers = topology.peers(unit, core);
    Some(match as_list {
        Some(_) => list(peers),
        None => mask(peers, topology.cores()),
    })
}

fn of_cache(cache: &CacheLevel, shared: Range<u32>, cores: u32, name: &str) -> Option<String> {
    Some(match name {
        "coherency_line_size" => cache.line.to_string(),
        "level" => cache.level.to_string(),
        "number_of_sets" => {
            let set = u64::from(cache.ways) * u64::from(cache.line);
            (cache.size / set).to_string()
        }
        "shared_cpu_list" => list(shared),
        "shared_cpu_map" => mask(shared, cores),
        "size" => format!("{}K", cache.size >> 10),
        // Fetching of instructions is not simulated, so the first level is for data only.
        "type" if cache.level == 1 => "Data".into(),
        "type" => "Unified".into(),
        "ways_of_associativity" => cache.ways.to_string(),
        _ => return None,
    })
}

fn cores_of_node(topology: &Topology, node: u32) -> Range<u32> {
    let first = topology.peers(Unit::Node, 0).len() as u32 * node;
    topology.peers(Unit::Node, first)
}

fn of_node(topology: &Topology, node: u32, cores: Range<u32>, name: &str) -> Option<String> {
    Some(match name {
        "cpulist" => list(cores),
        "cpumap" => mask(cores, topology.cores()),
        "distance" => {
            let distances = topology.distances(node).iter();
            distances.map(u32::to_string).collect::<Vec<_>>().join(" ")
        }
        "meminfo" => {
            let size = MEMORY / u64::from(topology.count(Unit::Node));
            let mut text = String::new();
            for what in ["MemTotal", "MemFree"] {
                let _ = writeln!(text, "Node {node} {:<15} {size} kB", format!("{what}:"));
            }
            text.trim_end().to_owned()
        }
        _ => return None,
    })
}
