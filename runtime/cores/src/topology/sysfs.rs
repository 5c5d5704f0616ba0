//! Linux's reports about each CPU in `/sys/devices/system`. Any file may be missing, unreadable or nonsense (in a
//! container, under a hypervisor, with an old kernel). Then the fact of that file is missing, and `assemble` does
//! without it.

use super::cpulist;
use super::cpuset::CpuSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The files of a system below some root: `/`, or a tree made for a test.
#[derive(Clone, Copy)]
pub(crate) struct Tree<'a>(pub(crate) &'a Path);

/// More bytes than any of the files has.
const LONGEST: u64 = 64 << 20;

impl Tree<'_> {
    /// Reads a file. `take` keeps the standard library from asking for the file's length, which the system does not
    /// know.
    pub(super) fn text(self, path: &str) -> Option<String> {
        let mut text = String::with_capacity(4096);
        let file = File::open(self.0.join(path.trim_start_matches('/'))).ok()?;
        file.take(LONGEST).read_to_string(&mut text).ok()?;
        Some(text)
    }

    fn number(self, path: &str) -> Option<u64> {
        whole(&self.text(path)?)
    }

    pub(super) fn cpus(self, path: &str) -> Option<CpuSet> {
        Some(cpulist::parse(&self.text(path)?).ok()?.into())
    }
}

/// The last list that was read, and its CPUs. Neighbours mostly share a cache, so their lists have the same text. A
/// set for each CPU would take time and memory quadratic in the number of CPUs.
#[derive(Default)]
struct LastList {
    text: String,
    cpus: Option<Arc<CpuSet>>,
}

impl LastList {
    fn cpus(&mut self, tree: Tree, path: &str) -> Option<Arc<CpuSet>> {
        let text = tree.text(path)?;
        if text != self.text {
            self.cpus = cpulist::parse(&text).ok().map(|cpus| Arc::new(cpus.into()));
            self.text = text;
        }
        self.cpus.clone()
    }
}

/// Parses a decimal number. It is not inlined, so that the parser is compiled once.
#[inline(never)]
pub(super) fn whole(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// How long the `allowed` CPUs were busy since the system began. Time that other processes or a hypervisor have used
/// counts too.
///
/// `/proc/stat` has a line for each CPU, and a line `cpu` without a number for all CPUs. The columns are user, nice,
/// system, idle, waiting for I/O, interrupts (two columns) and stolen time, in hundredths of a second. Later columns
/// are the time of guests, which is a part of user time.
pub(crate) fn busy_time(tree: Tree, allowed: impl Fn(usize) -> bool) -> Option<Duration> {
    let text = tree.text("proc/stat")?;
    let busy = |line: &str| {
        let (cpu, times) = line.strip_prefix("cpu")?.split_once(' ')?;
        let (cpu, words) = (cpu.parse().ok()?, times.split_ascii_whitespace());
        let times = words.take(8).map_while(|word| word.parse::<u64>().ok());
        let is_busy = |&(column, _): &(usize, u64)| column != 3 && column != 4;
        allowed(cpu).then(|| {
            times
                .enumerate()
                .filter(is_busy)
                .map(|(_, time)| time)
                .sum::<u64>()
        })
    };
    let hundredths = text.lines().filter_map(busy).reduce(u64::wrapping_add)?;
    Some(Duration::from_millis(hundredths.wrapping_mul(10)))
}

/// The file that lists the online CPUs.
pub(super) const ONLINE: &str = "sys/devices/system/cpu/online";

/// The system's facts about one CPU.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) package: Option<i64>,
    pub(super) node: Option<usize>,
    /// The CPUs of the same core, including this one.
    pub(super) core: Option<CpuSet>,
    /// The outermost data cache.
    pub(super) cache: Option<CacheFacts>,
}

#[derive(Clone, Debug)]
pub(super) struct CacheFacts {
    pub(super) level: u8,
    pub(super) bytes: Option<u64>,
    /// The CPUs that share the cache, including this one.
    pub(super) shared: Arc<CpuSet>,
}

/// The facts of every online CPU, in the order of their numbers. `None` if the system does not report which CPUs are
/// online.
pub(super) fn read(tree: Tree) -> Option<Vec<(usize, Facts)>> {
    let online = tree.cpus(ONLINE)?;
    let nodes = nodes(tree);
    let mut all = Vec::with_capacity(online.len());
    let mut last = LastList::default();
    for cpu in online.iter() {
        let dir = format!("sys/devices/system/cpu/cpu{cpu}");
        // `thread_siblings_list` is the older name of `core_cpus_list`.
        let core = (tree.cpus(&format!("{dir}/topology/core_cpus_list")))
            .or_else(|| tree.cpus(&format!("{dir}/topology/thread_siblings_list")));
        let facts = Facts {
            package: package(tree, &dir),
            node: nodes.get(cpu).copied().flatten(),
            core: core.filter(|core| core.contains(cpu)),
            cache: last_level_cache(tree, &dir, cpu, &mut last),
        };
        all.push((cpu, facts));
    }
    Some(all)
}

/// The package of a CPU. The kernel gives an unknown package the number -1.
fn package(tree: Tree, cpu_dir: &str) -> Option<i64> {
    let text = tree.text(&format!("{cpu_dir}/topology/physical_package_id"))?;
    match text.trim().strip_prefix('-') {
        Some(digits) => Some(-i64::try_from(whole(digits)?).ok()?),
        None => i64::try_from(whole(&text)?).ok(),
    }
}

/// The node of each CPU, indexed by the CPU's number. A CPU that is listed in several nodes (`numa=fake`) counts for
/// the first.
fn nodes(tree: Tree) -> Vec<Option<usize>> {
    let mut nodes = Vec::new();
    // Nodes have numbers like CPUs, and their list has the same notation.
    let online = tree.cpus("sys/devices/system/node/online");
    for node in online.unwrap_or_default().iter() {
        let path = format!("sys/devices/system/node/node{node}/cpulist");
        // A node that has only memory has an empty list.
        for cpu in tree.cpus(&path).unwrap_or_default().iter() {
            if nodes.len() <= cpu {
                nodes.resize(cpu + 1, None);
            }
            nodes[cpu].get_or_insert(node);
        }
    }
    nodes
}

fn last_level_cache(
    tree: Tree,
    cpu_dir: &str,
    cpu: usize,
    lists: &mut LastList,
) -> Option<CacheFacts> {
    let mut last: Option<(u8, String)> = None;
    for index in 0.. {
        let dir = format!("{cpu_dir}/cache/index{index}");
        // The kernel numbers the directories without gaps.
        let Some(kind) = tree.text(&format!("{dir}/type")) else {
            break;
        };
        let level = tree.number(&format!("{dir}/level"));
        let Some(level) = level.and_then(|level| u8::try_from(level).ok()) else {
            continue;
        };
        let known = last.as_ref().map_or(0, |(known, _)| *known);
        if kind.trim() != "Instruction" && (last.is_none() || level > known) {
            last = Some((level, dir));
        }
    }
    let (level, dir) = last?;
    let shared = lists.cpus(tree, &format!("{dir}/shared_cpu_list"))?;
    let bytes = tree.text(&format!("{dir}/size")).and_then(|size| {
        let kib = whole(size.trim().strip_suffix('K')?);
        kib?.checked_mul(1024)
    });
    shared.contains(cpu).then_some(CacheFacts {
        level,
        bytes,
        shared,
    })
}

/// The CPUs that this thread may run on, according to `/proc`. The system call gives the same CPUs, but only as many
/// as its caller's buffer has bits.
pub(crate) fn allowed(tree: Tree) -> Option<CpuSet> {
    let status = tree.text("proc/thread-self/status")?;
    for line in status.lines() {
        if let Some(list) = line.strip_prefix("Cpus_allowed_list:") {
            return Some(cpulist::parse(list).ok()?.into());
        }
    }
    None
}
