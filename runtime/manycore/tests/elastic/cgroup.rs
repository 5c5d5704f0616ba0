//! A control group of version 1, made for one child and later removed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A group of one controller.
pub(crate) struct Group(PathBuf);

impl Group {
    /// Makes a group beside this process's own. Returns `None` if no group can be made here.
    pub(crate) fn new(controller: &str, name: &str) -> Option<Self> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let of_controller = |line: &&str| {
            let names = line.split(':').nth(1);
            names.is_some_and(|names| names.split(',').any(|it| it == controller))
        };
        let path = own.lines().find(of_controller)?.splitn(3, ':').nth(2)?;
        let top = Path::new("/sys/fs/cgroup").join(controller);
        let parent = top.join(path.trim_start_matches('/'));
        let group = parent.join(format!("manycore-{name}-{}", std::process::id()));
        fs::create_dir(&group).ok()?;
        let group = Self(group);
        if controller == "cpuset" {
            // Both files are empty in a new group; until they are set, no process can enter it.
            for file in ["cpuset.cpus", "cpuset.mems"] {
                let text = fs::read_to_string(parent.join(file)).ok()?;
                fs::write(group.0.join(file), text.trim()).ok()?;
            }
        }
        Some(group)
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.0.join(file);
        fs::write(&path, text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    }

    /// Moves a process, all its threads, into the group.
    pub(crate) fn add(&self, process: u32) {
        self.write("cgroup.procs", &process.to_string());
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.0.join(file)).unwrap()
    }

    /// Sets the quota in CPUs. `None` means no limit.
    pub(crate) fn set_quota(&self, cpus: Option<f64>) {
        let us = cpus.map_or(-1, |cpus| (cpus * 100_000.0) as i64);
        self.write("cpu.cfs_quota_us", &us.to_string());
    }

    /// Returns the number of periods so far in which the quota ran out.
    pub(crate) fn throttled(&self) -> u64 {
        let stat = self.read("cpu.stat");
        let line = stat
            .lines()
            .find_map(|line| line.strip_prefix("nr_throttled "));
        line.unwrap().trim().parse().unwrap()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The group's processes have ended, but the kernel may still list them.
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        eprintln!("cannot remove {}", self.0.display());
    }
}
