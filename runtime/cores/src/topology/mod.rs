//! The machine: its logical CPUs, which of them share a core, a last-level cache, a NUMA node or a package, and which
//! of them this process may use.
//!
//! On Linux the facts come from the operating system's own files (`/sys/devices/system`, `/proc`, `/sys/fs/cgroup`),
//! and the affinity mask from one system call. Elsewhere the machine counts as one core group of equal CPUs.
//!
//! ```
//! use manycore_cores::topology::Topology;
//!
//! let machine = Topology::detect();
//! println!("{} CPUs", machine.cpus().len());
//! assert!(machine.default_threads() >= 1);
//! ```

mod affinity;
mod assemble;
mod cgroup;
mod cpulist;
mod cpuset;
mod known;
mod order;
mod recent;
mod sysfs;

pub use affinity::{Affinity, AffinityError, ParseAffinityError};
pub(crate) use cgroup::{Groups, Quota};
pub(crate) use cpuset::CpuSet;
pub use recent::recent;
pub(crate) use sysfs::{Tree, allowed, busy_time};

use std::path::Path;
use sysfs::Facts;

/// A logical CPU: the unit on which the operating system schedules a thread.
///
/// ```
/// use manycore_cores::topology::Topology;
///
/// for cpu in Topology::detect().usable() {
///     println!("CPU {} is thread {} of core {}", cpu.id, cpu.smt, cpu.core);
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cpu {
    /// The operating system's number of the CPU, which affinity masks use.
    pub id: usize,
    /// The number of this CPU among the threads of its core, from 0.
    pub smt: usize,
    /// The core, counted from 0 over the machine. Two CPUs of the same core are SMT siblings.
    pub core: usize,
    /// The core group, an index into [`Topology::core_groups`].
    pub group: usize,
    /// The operating system's number of the NUMA node.
    pub node: usize,
    /// The package (socket), counted from 0.
    pub package: usize,
}

/// Cores of one NUMA node that share a last-level cache.
///
/// If the system reports no shared cache, the whole node counts as one group.
///
/// ```
/// use manycore_cores::topology::Topology;
///
/// let machine = Topology::detect();
/// let first = &machine.core_groups()[0];
/// assert!(first.cpus.iter().all(|&cpu| machine.cpu(cpu).unwrap().group == 0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CoreGroup {
    /// The numbers of the group's online CPUs, usable or not, in rising order.
    pub cpus: Vec<usize>,
    /// The operating system's number of the NUMA node.
    pub node: usize,
    /// The package.
    pub package: usize,
    /// The cache that the cores share, if the system reports one.
    pub cache: Option<Cache>,
}

/// A cache that cores share.
///
/// ```
/// use manycore_cores::topology::Topology;
///
/// if let Some(cache) = Topology::detect().core_groups()[0].cache {
///     println!("level {}, {:?} bytes", cache.level, cache.bytes);
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cache {
    /// The level, 3 on most machines.
    pub level: u8,
    /// The size in bytes, if the system reports it.
    pub bytes: Option<u64>,
}

/// How far a cache line travels between two CPUs. In the order of this type, a nearer distance is less.
///
/// ```
/// use manycore_cores::topology::Distance;
///
/// assert!(Distance::SameGroup < Distance::OtherPackage);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Distance {
    /// Two threads of one core, or one CPU and itself. They share every cache.
    SmtSibling,
    /// Two cores of one core group. They share the last-level cache.
    SameGroup,
    /// Two core groups of one package.
    SamePackage,
    /// Two packages.
    OtherPackage,
}

/// The machine as this process sees it. See the [module](self).
///
/// This is a snapshot. In contrast to a [`Watch`](crate::elastic::Watch), it does not follow CPUs that go offline or a
/// quota that changes.
///
/// ```
/// use manycore_cores::topology::Topology;
///
/// let machine = Topology::detect();
/// let cpus: Vec<usize> = machine.cpus().iter().map(|cpu| cpu.id).collect();
/// assert!(machine.compact_order().iter().all(|cpu| cpus.contains(cpu)));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    cpus: Vec<Cpu>,
    usable: Vec<Cpu>,
    groups: Vec<CoreGroup>,
    quota: Option<f64>,
    described: bool,
}

impl Topology {
    /// Looks at this machine.
    ///
    /// This never fails. It leaves out the facts that the system does not report. If the system reports nothing, the
    /// machine is one core group of [`available_parallelism`](std::thread::available_parallelism) CPUs. In a container
    /// `/sys` may lack CPUs of the affinity mask. Then it describes other CPUs, so its facts are left out. The machine
    /// is then one core group of the CPUs of the mask.
    ///
    /// The affinity mask is that of the calling thread. Threads that it starts inherit the mask, so call this before
    /// you bind the calling thread to CPUs. The first call opens about 15 small files for every CPU, which takes some
    /// 0.1 ms. Later calls read only which CPUs are online and what the control groups leave. So call this once for
    /// each pool, and not for each loop.
    ///
    /// ```
    /// use manycore_cores::topology::Topology;
    ///
    /// assert!(!Topology::detect().usable().is_empty());
    /// ```
    pub fn detect() -> Self {
        let tree = Tree(Path::new("/"));
        let known = known::this_machine();
        let limits = cgroup::limits(&known.groups, tree);
        let mask = affinity_mask();
        let facts = known.facts.as_ref().filter(|facts| {
            let mask = mask.as_ref();
            mask.is_none_or(|mask| assemble::are_of(facts, mask))
        });
        let mask = mask.or_else(|| sysfs::allowed(tree));
        match facts {
            Some(facts) => assemble::assemble(facts, mask, limits),
            None => assemble::assemble(&equal_cpus(mask.as_ref()), mask, limits),
        }
    }

    /// Looks only at which CPUs the calling thread may use, and at the quota.
    ///
    /// This is [`detect`](Self::detect) without the facts about each CPU, so all CPUs are the cores of one group. It
    /// opens two files for each control group around the process, and none for a CPU. Call this if you only need the
    /// number of threads.
    ///
    /// ```
    /// use manycore_cores::topology::Topology;
    ///
    /// let (machine, limits) = (Topology::detect(), Topology::detect_limits());
    /// assert_eq!(limits.default_threads(), machine.default_threads());
    /// ```
    pub fn detect_limits() -> Self {
        let Some(mask) = affinity_mask() else {
            return Self::detect();
        };
        let tree = Tree(Path::new("/"));
        let limits = cgroup::limits(&cgroup::Groups::find(tree), tree);
        assemble::assemble(&equal_cpus(Some(&mask)), Some(mask), limits)
    }

    /// Reads the machine that a copy of its files describes. `root` has `sys/devices/system/{cpu,node}`,
    /// `proc/self/{cgroup,mountinfo}`, `proc/thread-self/status` (for the affinity mask) and the mounted control
    /// groups, and each may be missing.
    ///
    /// ```
    /// use manycore_cores::topology::Topology;
    ///
    /// // Without these files: as many equal CPUs as this machine has.
    /// let machine = Topology::from_root("/nonexistent");
    /// assert!(!machine.is_described());
    /// assert_eq!(machine.core_groups().len(), 1);
    /// ```
    #[inline]
    pub fn from_root(root: impl AsRef<Path>) -> Self {
        let tree = Tree(root.as_ref());
        let mask = sysfs::allowed(tree);
        let limits = cgroup::limits(&cgroup::Groups::find(tree), tree);
        let facts = sysfs::read(tree).unwrap_or_else(|| equal_cpus(mask.as_ref()));
        assemble::assemble(&facts, mask, limits)
    }

    /// Every online CPU, by number. If the system [describes](Self::is_described) none, these are the CPUs of the
    /// affinity mask.
    ///
    /// ```
    /// use manycore_cores::topology::Topology;
    ///
    /// let machine = Topology::detect();
    /// assert!(machine.cpus().is_sorted_by_key(|cpu| cpu.id));
    /// ```
    pub fn cpus(&self) -> &[Cpu] {
        &self.cpus
    }

    /// The CPUs that the affinity mask and the cpuset leave, by number. There is at least one.
    ///
    /// ```
    /// use manycore_cores::topology::Topology;
    ///
    /// let machine = Topology::detect();
    /// assert!(machine.usable().len() <= machine.cpus().len());
    /// ```
    pub fn usable(&self) -> &[Cpu] {
        &self.usable
    }

    /// An online CPU by its number.
    ///
    /// ```
    /// use manycore_cores::topology::Topology;
    ///
    /// assert_eq!(Topology::detect().cpu(usize::MAX), None);
    /// ```
    pub fn cpu(&self, id: usize) -> Option<&Cpu> {
        find(&self.cpus, id)
    }

    /// Every core group of the machine. The groups of a package are adjacent.
    ///
    /// ```
    /// use manycore_cores::topology::Topology;
    ///
    /// let machine = Topology::detect();
    /// let cpus: usize = machine.core_groups().iter().map(|group| group.cpus.len()).sum();
    /// assert_eq!(cpus, machine.cpus().len());
    /// ```
    pub fn core_groups(&self) -> &[CoreGroup] {
        &self.groups
    }

    /// The CPU time that the control group may use, in CPUs: 1.5 is 150 ms every 100 ms. `None` means no limit.
    ///
    /// ```
    /// use manycore_cores::topology::Topology;
    ///
    /// assert!(Topology::detect().quota().is_none_or(|cpus| cpus > 0.0));
    /// ```
    pub fn quota(&self) -> Option<f64> {
        self.quota
    }

    /// Whether the system reports how its CPUs belong together. If not, [`distance`](Self::distance) takes them for
    /// the cores of one group.
    ///
    /// ```
    /// use manycore_cores::topology::Topology;
    ///
    /// assert!(!Topology::from_root("/nonexistent").is_described());
    /// ```
    pub fn is_described(&self) -> bool {
        self.described
    }

    /// The default number of threads of a pool: one for each usable CPU, but no more than the quota pays for.
    ///
    /// A fractional quota is rounded down. With one thread more, the group would use up its time before the period
    /// (usually 100 ms) ends. The kernel would then stop all threads of the group for the rest of the period, even in
    /// a loop that other threads wait for. The lost fraction of the quota costs less. If the quota is below one CPU, a
    /// single thread remains, and the kernel sometimes stops it.
    ///
    /// ```
    /// use manycore_cores::topology::Topology;
    ///
    /// let machine = Topology::detect();
    /// assert!((1..=machine.usable().len()).contains(&machine.default_threads()));
    /// ```
    pub fn default_threads(&self) -> usize {
        let paid = self.quota.map_or(usize::MAX, |cpus| cpus as usize);
        self.usable.len().min(paid).max(1)
    }

    /// The usable CPUs, close together. Each core group is filled before the next begins. Inside a group every core
    /// gets one thread before any core gets a second thread.
    ///
    /// ```
    /// use manycore_cores::topology::Topology;
    ///
    /// let machine = Topology::detect();
    /// assert_eq!(machine.compact_order().len(), machine.usable().len());
    /// ```
    pub fn compact_order(&self) -> Vec<usize> {
        order::compact(self)
    }

    /// The usable CPUs, far apart. Core groups take turns, and consecutive groups belong to different packages. Every
    /// core gets one thread before any core gets a second thread.
    ///
    /// ```
    /// use manycore_cores::topology::Topology;
    ///
    /// let machine = Topology::detect();
    /// assert_eq!(machine.spread_order().len(), machine.usable().len());
    /// ```
    pub fn spread_order(&self) -> Vec<usize> {
        order::spread(self)
    }

    /// How far apart two online CPUs are. `None` if one of them is not online.
    ///
    /// ```
    /// use manycore_cores::topology::{Distance, Topology};
    ///
    /// let machine = Topology::detect();
    /// let cpu = machine.usable()[0].id;
    /// assert_eq!(machine.distance(cpu, cpu), Some(Distance::SmtSibling));
    /// ```
    pub fn distance(&self, a: usize, b: usize) -> Option<Distance> {
        let (a, b) = (self.cpu(a)?, self.cpu(b)?);
        Some(if a.core == b.core {
            Distance::SmtSibling
        } else if a.group == b.group {
            Distance::SameGroup
        } else if a.package == b.package {
            Distance::SamePackage
        } else {
            Distance::OtherPackage
        })
    }

    fn is_usable(&self, id: usize) -> bool {
        find(&self.usable, id).is_some()
    }
}

fn find(cpus: &[Cpu], id: usize) -> Option<&Cpu> {
    let index = cpus.binary_search_by_key(&id, |cpu| cpu.id).ok()?;
    Some(&cpus[index])
}

/// Returns CPUs about which no facts are known.
fn equal_cpus(mask: Option<&CpuSet>) -> Vec<(usize, Facts)> {
    let ids: Vec<usize> = match mask {
        Some(mask) => mask.iter().collect(),
        None => (0..std::thread::available_parallelism().map_or(1, usize::from)).collect(),
    };
    ids.into_iter().map(|id| (id, Facts::default())).collect()
}

/// The calling thread's affinity mask. `None` if the system does not report it.
pub(crate) fn affinity_mask() -> Option<CpuSet> {
    let cpus = manycore_platform::process::allowed_cpus()?;
    Some(cpus.into())
}
