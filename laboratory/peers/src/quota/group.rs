//! A control group (version 1) with a CPU quota, for one process.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The group's folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Group(PathBuf);

/// A group that is removed on drop.
pub struct Owned(pub Group);

impl Owned {
    /// Makes a group below this process's own group.
    ///
    /// # Errors
    ///
    /// If there is no `cpu` hierarchy of version 1, or it is not writable.
    pub fn new() -> Result<Self> {
        let own = fs::read_to_string("/proc/self/cgroup")?;
        let of_cpu = |line: &&str| {
            let names = line.split(':').nth(1);
            names.is_some_and(|names| names.split(',').any(|name| name == "cpu"))
        };
        let line = own
            .lines()
            .find(of_cpu)
            .context("no hierarchy of version 1 for `cpu`")?;
        let path = line.splitn(3, ':').nth(2).unwrap_or("/");
        let parent = Path::new("/sys/fs/cgroup/cpu").join(path.trim_start_matches('/'));
        let group = parent.join(format!("manycore-peers-{}", std::process::id()));
        fs::create_dir(&group).with_context(|| group.display().to_string())?;
        Ok(Self(Group(group)))
    }
}

impl Group {
    fn write(&self, file: &str, text: &str) -> Result<()> {
        let path = self.0.join(file);
        fs::write(&path, text).with_context(|| path.display().to_string())
    }

    /// Sets a quota in CPUs, for periods of 100 ms.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn set_quota(&self, cpus: f64) -> Result<()> {
        self.write("cpu.cfs_period_us", "100000")?;
        self.write("cpu.cfs_quota_us", &format!("{}", (cpus * 1e5) as u64))
    }

    /// Moves this process into the group.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn join(&self) -> Result<()> {
        self.write("cgroup.procs", &std::process::id().to_string())
    }

    /// The number of periods that exhausted the quota.
    ///
    /// # Errors
    ///
    /// If the kernel does not report it.
    pub fn throttled(&self) -> Result<u64> {
        let stat = fs::read_to_string(self.0.join("cpu.stat"))?;
        let line = stat
            .lines()
            .find_map(|line| line.strip_prefix("nr_throttled "));
        Ok(line
            .context("cpu.stat without nr_throttled")?
            .trim()
            .parse()?)
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // The group's process has ended, but the kernel may still list it.
        for _ in 0..100 {
            if fs::remove_dir(&self.0.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        eprintln!("cannot remove {}", self.0.0.display());
    }
}
