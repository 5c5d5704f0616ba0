//! What is looked at: the affinity mask, the cpuset, the quota, and what was used.

use super::pace::Usage;
use crate::topology::{CpuSet, Groups, Quota, Tree, affinity_mask};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The files and the calls that say what this process may use; below some root, for
/// tests.
pub(super) struct Sources {
    root: PathBuf,
    /// Whether the root is this machine's, whose calls are asked as well.
    here: bool,
    groups: Groups,
    mask: Option<CpuSet>,
    cpuset: Option<CpuSet>,
    quota: Option<Quota>,
    began: Instant,
}

impl Sources {
    /// Of this process.
    pub(super) fn of_this_process() -> Self {
        Self::new(PathBuf::from("/"), true)
    }

    /// Of the process whose files are below `root`.
    #[cfg(test)]
    pub(super) fn below(root: &std::path::Path) -> Self {
        Self::new(root.to_owned(), false)
    }

    fn new(root: PathBuf, here: bool) -> Self {
        let mut sources = Self {
            root,
            here,
            groups: Groups::default(),
            mask: None,
            cpuset: None,
            quota: None,
            began: Instant::now(),
        };
        sources.find();
        sources.read_mask();
        sources.read_files();
        sources
    }

    /// Looks which groups the process is in. It may have been moved.
    pub(super) fn find(&mut self) {
        self.groups = Groups::find(Tree(&self.root));
    }

    /// Reads this thread's mask: one system call.
    pub(super) fn read_mask(&mut self) {
        if self.here {
            self.mask = affinity_mask();
        }
    }

    /// Reads the files: some 10 us each.
    pub(super) fn read_files(&mut self) {
        let tree = Tree(&self.root);
        self.cpuset = self.groups.cpuset(tree);
        self.quota = self.groups.quota(tree);
    }

    /// CPUs that mask and cpuset leave; where neither says anything, all there are.
    pub(super) fn cpus(&self) -> usize {
        let both = match (&self.mask, &self.cpuset) {
            // One of the two is older: the mask is read more often.
            (Some(mask), Some(set)) if mask.is_disjoint(set) => mask.len(),
            (Some(mask), Some(set)) => mask.intersection(set).count(),
            (Some(set), None) | (None, Some(set)) => set.len(),
            (None, None) => std::thread::available_parallelism().map_or(1, usize::from),
        };
        both.max(1)
    }

    pub(super) fn quota(&self) -> Option<Quota> {
        self.quota
    }

    /// What was used of `quota`, and how often it ran out: one file or two.
    pub(super) fn usage(&self, quota: &Quota) -> Usage {
        let counters = self.groups.counters(Tree(&self.root), quota);
        Usage {
            now: self.began.elapsed(),
            used: counters.usage.unwrap_or_else(used_by_this_process),
            throttled: counters.throttled,
        }
    }
}

#[cfg(target_os = "linux")]
fn used_by_this_process() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

#[cfg(not(target_os = "linux"))]
fn used_by_this_process() -> Duration {
    Duration::ZERO
}
