//! This machine's topology, for JSON.

use manycore::topology::{Cpu, Topology};
use serde::Serialize;

/// [`Topology`] as data for JSON.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TopologyData {
    cpus: Vec<CpuData>,
    cores: usize,
    core_groups: usize,
    numa_nodes: usize,
    packages: usize,
    /// The quota in CPUs. `null` means no limit.
    quota: Option<f64>,
    default_threads: usize,
    /// Whether the system describes the machine. If not, the other fields are assumed.
    described: bool,
}

#[derive(Clone, Debug, Serialize)]
struct CpuData {
    id: usize,
    smt: usize,
    core: usize,
    core_group: usize,
    numa_node: usize,
    package: usize,
    usable: bool,
}

impl From<&Topology> for TopologyData {
    fn from(machine: &Topology) -> Self {
        let distinct = |get: fn(&Cpu) -> usize| {
            let seen: std::collections::BTreeSet<usize> = machine.cpus().iter().map(get).collect();
            seen.len()
        };
        let cpus = machine.cpus().iter().map(|cpu| CpuData {
            id: cpu.id,
            smt: cpu.smt,
            core: cpu.core,
            core_group: cpu.group,
            numa_node: cpu.node,
            package: cpu.package,
            usable: machine.usable().contains(cpu),
        });
        Self {
            cpus: cpus.collect(),
            cores: distinct(|cpu| cpu.core),
            core_groups: machine.core_groups().len(),
            numa_nodes: distinct(|cpu| cpu.node),
            packages: distinct(|cpu| cpu.package),
            quota: machine.quota(),
            default_threads: machine.default_threads(),
            described: machine.is_described(),
        }
    }
}
