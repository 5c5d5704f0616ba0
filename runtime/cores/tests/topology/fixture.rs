//! Writes the files of a machine.

use manycore_cores::topology::Topology;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A directory that holds a machine's files.
pub(crate) struct Fixture(TempDir);

/// A regular machine with consecutive core numbers. As on most Linux machines, CPU numbers count first the
/// cores' first threads, then their second threads.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) packages: usize,
    pub(crate) groups_per_package: usize,
    pub(crate) cores_per_group: usize,
    pub(crate) threads_per_core: usize,
}

impl Shape {
    pub(crate) fn cores(self) -> usize {
        self.packages * self.groups_per_package * self.cores_per_group
    }
}

/// One package of four cores with two threads each.
pub(crate) const LAPTOP: Shape = Shape {
    packages: 1,
    groups_per_package: 1,
    cores_per_group: 4,
    threads_per_core: 2,
};

/// Two packages of 24 cores: the Gold 5225R of the paper.
pub(crate) const TWO_SOCKETS: Shape = Shape {
    packages: 2,
    groups_per_package: 1,
    cores_per_group: 24,
    threads_per_core: 1,
};

/// Eight groups of four cores: the 3970X of the paper.
pub(crate) const THREADRIPPER: Shape = Shape {
    packages: 1,
    groups_per_package: 8,
    cores_per_group: 4,
    threads_per_core: 1,
};

impl Fixture {
    pub(crate) fn empty() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// A machine with one NUMA node for each package, and one last-level cache of 8 MiB for each group.
    pub(crate) fn new(shape: Shape) -> Self {
        let machine = Self::empty();
        let cores = shape.cores();
        let of_core = |core: usize| {
            let ids = (0..shape.threads_per_core).map(move |thread| core + thread * cores);
            ids.map(|id| id.to_string()).collect::<Vec<_>>().join(",")
        };
        let of_cores =
            |cores: std::ops::Range<usize>| cores.map(of_core).collect::<Vec<_>>().join(",");
        let cpus = cores * shape.threads_per_core;
        machine.write("sys/devices/system/cpu/online", format!("0-{}\n", cpus - 1));
        for cpu in 0..cpus {
            let core = cpu % cores;
            let group = core / shape.cores_per_group;
            let package = group / shape.groups_per_package;
            let in_group = group * shape.cores_per_group..(group + 1) * shape.cores_per_group;
            let dir = format!("sys/devices/system/cpu/cpu{cpu}");
            machine.write(
                &format!("{dir}/topology/physical_package_id"),
                format!("{package}\n"),
            );
            machine.write(&format!("{dir}/topology/core_cpus_list"), of_core(core));
            machine.cache(cpu, 0, "1", "Data", &of_core(core));
            machine.cache(cpu, 1, "1", "Instruction", &of_core(core));
            machine.cache(cpu, 2, "2", "Unified", &of_core(core));
            machine.cache(cpu, 3, "3", "Unified", &of_cores(in_group));
        }
        let per_package = cores / shape.packages;
        for package in 0..shape.packages {
            machine.write(
                &format!("sys/devices/system/node/node{package}/cpulist"),
                of_cores(package * per_package..(package + 1) * per_package),
            );
        }
        machine.write(
            "sys/devices/system/node/online",
            format!("0-{}\n", shape.packages - 1),
        );
        machine
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn cache(
        &self,
        cpu: usize,
        index: usize,
        level: &str,
        kind: &str,
        shared: &str,
    ) -> &Self {
        let dir = format!("sys/devices/system/cpu/cpu{cpu}/cache/index{index}");
        self.write(&format!("{dir}/level"), level)
            .write(&format!("{dir}/type"), kind)
            .write(&format!("{dir}/shared_cpu_list"), shared)
            .write(&format!("{dir}/size"), "8192K\n")
    }

    pub(crate) fn remove(&self, path: &str) -> &Self {
        fs::remove_dir_all(self.0.path().join(path)).unwrap();
        self
    }

    pub(crate) fn mask(&self, list: &str) -> &Self {
        self.write(
            "proc/thread-self/status",
            format!("Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t{list}\nMems_allowed:\t1\n"),
        )
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn topology(&self) -> Topology {
        Topology::from_root(self.root())
    }
}

/// The numbers of the usable CPUs.
pub(crate) fn usable(machine: &Topology) -> Vec<usize> {
    machine.usable().iter().map(|cpu| cpu.id).collect()
}
