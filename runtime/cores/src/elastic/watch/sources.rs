//! The sources of a watch: the affinity mask, the cpuset, the quota, and the time used.

use super::neighbours::Load;
use super::pace::{Source, Usage};
use crate::topology::{CpuSet, Groups, Quota, Tree, affinity_mask, allowed, busy_time};
use manycore_platform::process::cpu_time;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The files and system calls that say what this process may use. Tests put the files below another root.
pub(super) struct Sources {
    root: PathBuf,
    /// Whether the root is the root of this machine. If so, system calls are used as well.
    here: bool,
    groups: Groups,
    mask: Option<CpuSet>,
    cpuset: Option<CpuSet>,
    /// The number of CPUs that both `mask` and `cpuset` leave.
    cpus: usize,
    /// A number that changes when `mask` or `cpuset` changes.
    set: u32,
    quota: Option<Quota>,
    /// How often `groups` has changed.
    changes: u32,
    began: Instant,
}

impl Sources {
    pub(super) fn of_this_process() -> Self {
        Self::new(PathBuf::from("/"), true)
    }

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
            cpus: 1,
            set: 0,
            quota: None,
            changes: 0,
            began: Instant::now(),
        };
        sources.find();
        sources.read_mask();
        sources.read_files();
        sources
    }

    /// Looks up the process's groups, since it may have been moved.
    pub(super) fn find(&mut self) {
        let groups = Groups::find(Tree(&self.root));
        if self.groups != groups {
            self.groups = groups;
            self.changes = self.changes.wrapping_add(1);
        }
    }

    /// Reads this thread's affinity mask, by one system call. On a machine with more CPUs than the call can name, reads
    /// a file.
    pub(super) fn read_mask(&mut self) {
        let mask = self.here.then(affinity_mask).flatten();
        let mask = mask.or_else(|| allowed(Tree(&self.root)));
        if self.mask != mask {
            self.mask = mask;
            self.set = self.set.wrapping_add(1);
            self.count_cpus();
        }
    }

    /// Reads the files of the control groups, some 10 us each.
    pub(super) fn read_files(&mut self) {
        let tree = Tree(&self.root);
        let cpuset = self.groups.cpuset(tree);
        if self.cpuset != cpuset {
            self.cpuset = cpuset;
            self.set = self.set.wrapping_add(1);
        }
        self.quota = self.groups.quota(tree);
        self.count_cpus();
    }

    fn count_cpus(&mut self) {
        let both = match (&self.mask, &self.cpuset) {
            // The mask and the cpuset may differ in age, since the mask is read more often.
            (Some(mask), Some(set)) => match mask.intersection(set).len() {
                0 => mask.len(),
                both => both,
            },
            (Some(set), None) | (None, Some(set)) => set.len(),
            (None, None) => std::thread::available_parallelism().map_or(1, usize::from),
        };
        self.cpus = both.max(1);
    }

    /// The time since the sources were made.
    pub(super) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// The use of this process's CPUs by all processes until `now`, if the kernel reports it.
    pub(super) fn load(&self, now: Duration) -> Option<Load> {
        let allowed = |cpu| {
            let in_set = |set: &Option<CpuSet>| set.as_ref().is_none_or(|set| set.contains(cpu));
            in_set(&self.mask) && in_set(&self.cpuset)
        };
        Some(Load {
            now,
            set: self.set,
            busy: busy_time(Tree(&self.root), allowed)?,
            own: cpu_time()?,
        })
    }

    /// The number of CPUs that mask and cpuset leave. If neither is known, all CPUs.
    pub(super) fn cpus(&self) -> usize {
        self.cpus
    }

    pub(super) fn quota(&self) -> Option<Quota> {
        self.quota
    }

    /// How much of `quota` was used until `now`.
    pub(super) fn usage(&self, quota: &Quota, now: Duration) -> Usage {
        let counters = self.groups.counters(Tree(&self.root), quota);
        Usage {
            now,
            used: counters.usage.or_else(cpu_time).unwrap_or_default(),
            throttled: counters.throttled,
            source: Source {
                is_group: counters.usage.is_some(),
                changes: self.changes,
            },
        }
    }
}
