//! A control group of version 1 with a quota, made for one process.

use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Removed when dropped.
pub struct Group(PathBuf);

impl Group {
    /// A new one below this process's own.
    ///
    /// # Errors
    ///
    /// There is no such hierarchy, or it may not be written to.
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
        Ok(Self(group))
    }

    fn write(&self, file: &str, text: &str) -> Result<()> {
        let path = self.0.join(file);
        fs::write(&path, text).with_context(|| path.display().to_string())
    }

    /// So many CPUs, in periods of 100 ms.
    ///
    /// # Errors
    ///
    /// When the kernel refuses it.
    pub fn set_quota(&self, cpus: f64) -> Result<()> {
        self.write("cpu.cfs_period_us", "100000")?;
        self.write("cpu.cfs_quota_us", &format!("{}", (cpus * 1e5) as u64))
    }

    /// Moves a process into the group.
    ///
    /// # Errors
    ///
    /// When the kernel refuses it.
    pub fn add(&self, process: u32) -> Result<()> {
        self.write("cgroup.procs", &process.to_string())
    }

    /// Periods in which the quota ran out.
    ///
    /// # Errors
    ///
    /// When the kernel does not say.
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

impl Drop for Group {
    fn drop(&mut self) {
        // Its process has ended, but may not have gone yet.
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        eprintln!("cannot remove {}", self.0.display());
    }
}
