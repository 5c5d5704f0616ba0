//! Machines for tests.

use manycore::topology::Topology;
use std::fs;
use tempfile::TempDir;

/// A machine as the kernel's files describe it. Each package is a NUMA node. The second threads of all cores have
/// the numbers after all first threads, as on most machines.
pub(super) struct Files(TempDir);

impl Files {
    pub(super) fn new(
        [packages, groups, cores_of_group]: [usize; 3],
        threads_of_core: usize,
        usable: &str,
    ) -> Self {
        let machine = Self(TempDir::new().unwrap());
        let cores = packages * groups * cores_of_group;
        let threads = |core: usize| {
            let ids = (0..threads_of_core).map(|thread| (core + thread * cores).to_string());
            ids.collect::<Vec<_>>().join(",")
        };
        let threads_of = |first: usize, count: usize| {
            let all = (first..first + count).map(threads);
            all.collect::<Vec<_>>().join(",")
        };
        let system = |path: String, text: &str| {
            machine.write(&format!("sys/devices/system/{path}"), text);
        };
        let last = cores * threads_of_core - 1;
        system("cpu/online".into(), &format!("0-{last}"));
        for cpu in 0..=last {
            let core = cpu % cores;
            let group = core / cores_of_group;
            let at = format!("cpu/cpu{cpu}");
            let package = (group / groups).to_string();
            system(format!("{at}/topology/physical_package_id"), &package);
            system(format!("{at}/topology/core_cpus_list"), &threads(core));
            let shared = threads_of(group * cores_of_group, cores_of_group);
            for (file, text) in [
                ("level", "3"),
                ("type", "Unified"),
                ("shared_cpu_list", &*shared),
                ("size", "8192K"),
            ] {
                system(format!("{at}/cache/index0/{file}"), text);
            }
        }
        system("node/online".into(), &format!("0-{}", packages - 1));
        let of_package = groups * cores_of_group;
        for package in 0..packages {
            let cpus = threads_of(package * of_package, of_package);
            system(format!("node/node{package}/cpulist"), &cpus);
        }
        let status = format!("Cpus_allowed_list:\t{usable}\n");
        machine.write("proc/thread-self/status", &status);
        machine
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn topology(&self) -> Topology {
        Topology::from_root(self.0.path())
    }
}
