//! The limits of this process's control groups: a share of CPU time and a set of CPUs. The module reads versions 1 and
//! 2, and both at once (systemd's hybrid layout).

use super::cpuset::CpuSet;
use super::sysfs::{Tree, whole};
use std::time::Duration;

/// The limits of a process.
#[derive(Debug, Default, PartialEq)]
pub(super) struct GroupLimits {
    /// The CPU time, as a number of CPUs, which may be a fraction.
    pub(super) quota: Option<f64>,
    pub(super) cpuset: Option<CpuSet>,
}

/// A mounted hierarchy of control groups.
struct Mount<'a> {
    /// The control group that is mounted at `point`. This is not `/` in a container that sees only its own part of the
    /// hierarchy.
    root: &'a str,
    point: &'a str,
    version: Version,
    /// The mount options. Version 1 names its controllers here.
    options: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Version {
    One,
    Two,
}

/// The files with the limits of this process, until it is moved to another group or its group is removed.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Groups {
    /// The directories of the groups that may limit CPU time. Each group is inside the next one.
    quotas: Vec<(Version, String)>,
    /// For each hierarchy with cpusets, the candidate files. The first file that exists counts.
    cpusets: Vec<Vec<String>>,
}

/// The least quota of all groups around the process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quota {
    pub(crate) cpus: f64,
    /// How often the kernel grants the quota anew.
    pub(crate) period: Duration,
    /// The index of the quota's group in [`Groups`].
    group: usize,
    /// A bit for each group that has a quota, by its index.
    limited: u64,
}

/// The kernel's counts for a group with a quota.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counters {
    /// The CPU time, if the kernel counts it for exactly this group.
    pub(crate) usage: Option<Duration>,
    /// The number of periods in which the quota ran out, summed over this group and all other groups with a quota.
    pub(crate) throttled: Option<u64>,
}

impl Groups {
    pub(crate) fn find(tree: Tree) -> Self {
        let mut found = Self::default();
        let (Some(groups), Some(mounts)) = (
            tree.text("proc/self/cgroup"),
            tree.text("proc/self/mountinfo"),
        ) else {
            return found;
        };
        let mounts = all_mounts(&mounts);
        for line in groups.lines() {
            // A line is `hierarchy-id:controllers:path`, and for version 2 `0::path`.
            let Some((id, rest)) = line.split_once(':') else {
                continue;
            };
            let Some((controllers, path)) = rest.split_once(':') else {
                continue;
            };
            if id == "0" && controllers.is_empty() {
                let levels = levels(&mounts, Version::Two, "", path);
                found.add_cpuset(&levels, &["cpuset.cpus.effective"]);
                found.add_quotas(Version::Two, levels);
            }
            for controller in controllers.split(',') {
                let levels = || levels(&mounts, Version::One, controller, path);
                match controller {
                    "cpu" => found.add_quotas(Version::One, levels()),
                    "cpuset" => {
                        found.add_cpuset(&levels(), &["cpuset.effective_cpus", "cpuset.cpus"]);
                    }
                    _ => {}
                }
            }
        }
        found
    }

    fn add_quotas(&mut self, version: Version, levels: Vec<String>) {
        for level in levels {
            self.quotas.push((version, level));
        }
    }

    /// Adds one hierarchy. The innermost set of the hierarchy counts, since the kernel keeps this set inside the outer
    /// sets.
    fn add_cpuset(&mut self, levels: &[String], names: &[&str]) {
        let mut files = Vec::with_capacity(levels.len() * names.len());
        for level in levels {
            for name in names {
                files.push(format!("{level}/{name}"));
            }
        }
        self.cpusets.push(files);
    }

    /// The smallest quota, since every level limits the levels below it.
    pub(crate) fn quota(&self, tree: Tree) -> Option<Quota> {
        let (mut least, mut limited): (Option<Quota>, u64) = (None, 0);
        for (group, (version, level)) in self.quotas.iter().enumerate() {
            let quota = match version {
                Version::One => quota_v1(tree, level),
                Version::Two => quota_v2(tree, level),
            };
            let Some((cpus, period)) = quota else {
                continue;
            };
            // Groups are never nested so deeply that a bit is missing.
            limited |= 1_u64.checked_shl(group as u32).unwrap_or(0);
            if least.is_none_or(|least| cpus < least.cpus) {
                least = Some(Quota {
                    cpus,
                    period,
                    group,
                    limited,
                });
            }
        }
        least.map(|least| Quota { limited, ..least })
    }

    pub(crate) fn cpuset(&self, tree: Tree) -> Option<CpuSet> {
        let mut all: Option<CpuSet> = None;
        for files in &self.cpusets {
            if let Some(set) = files.iter().find_map(|file| tree.cpus(file)) {
                all = Some(match all {
                    Some(all) => all.intersection(&set),
                    None => set,
                });
            }
        }
        all
    }

    #[inline]
    pub(crate) fn counters(&self, tree: Tree, quota: &Quota) -> Counters {
        let Some((version, level)) = self.quotas.get(quota.group) else {
            return Counters::default();
        };
        let stat = |level: &str| tree.text(&format!("{level}/cpu.stat")).unwrap_or_default();
        let mine = stat(level);
        let number = |name: &str| number(&mine, name);
        // The kernel stops a process for the quota of any group around it, and counts this stop at that group only.
        let is_other = |group: usize| group != quota.group && quota.limited >> group & 1 != 0;
        let others = (0..self.quotas.len().min(64)).filter(|&group| is_other(group));
        let throttled = { others }
            .filter_map(|other| self::number(&stat(&self.quotas[other].1), "nr_throttled"))
            .chain(number("nr_throttled"))
            .reduce(u64::wrapping_add);
        Counters {
            usage: match version {
                Version::Two => number("usage_usec").map(Duration::from_micros),
                // The file exists only if the controllers `cpu` and `cpuacct` are mounted together.
                Version::One => {
                    let text = tree.text(&format!("{level}/cpuacct.usage"));
                    text.and_then(|text| whole(&text)).map(Duration::from_nanos)
                }
            },
            throttled,
        }
    }
}

/// The number after `name` in a file of names and numbers.
fn number(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    let (_, value) = lines.find(|(key, _)| *key == name)?;
    whole(value)
}

/// The limits of `groups` now.
pub(super) fn limits(groups: &Groups, tree: Tree) -> GroupLimits {
    GroupLimits {
        quota: groups.quota(tree).map(|quota| quota.cpus),
        cpuset: groups.cpuset(tree),
    }
}

fn all_mounts(lines: &str) -> Vec<Mount<'_>> {
    let mut mounts = Vec::new();
    for line in lines.lines() {
        mounts.extend(mount(line));
    }
    mounts
}

/// Parses a line of `mountinfo`: id, parent, device, root, mount point, options, optional fields, `-`, type, source,
/// options of the file system.
fn mount(line: &str) -> Option<Mount<'_>> {
    let mut words = line.split(' ');
    let (root, point) = (words.nth(3)?, words.next()?);
    while words.next()? != "-" {}
    let version = match words.next()? {
        "cgroup" => Version::One,
        "cgroup2" => Version::Two,
        _ => return None,
    };
    Some(Mount {
        root,
        point,
        version,
        options: words.nth(1)?,
    })
}

/// The directories of the control group `path` and of the groups around it, innermost first.
fn levels(mounts: &[Mount], version: Version, controller: &str, path: &str) -> Vec<String> {
    // Some mounts do not show the group: in a container without its own namespace, or if `path` begins with `/../`. The
    // group is then still inside the group at the top of the mount.
    let mut best: Option<(&Mount, Option<&str>)> = None;
    for mount in mounts {
        let controls = || version == Version::Two || has(mount.options, ',', controller);
        if mount.version != version || !controls() {
            continue;
        }
        let rest = below(path, mount.root);
        let is_better = match best {
            None => true,
            Some((_, None)) => rest.is_some(),
            Some((best, Some(_))) => rest.is_some() && mount.root.len() >= best.root.len(),
        };
        if is_better {
            best = Some((mount, rest));
        }
    }
    let Some((mount, rest)) = best else {
        return Vec::new();
    };
    let mut level = mount.point.trim_end_matches('/').to_owned();
    let mut levels = vec![level.clone()];
    for name in rest.unwrap_or_default().split('/') {
        if !name.is_empty() {
            level = level + "/" + name;
            levels.insert(0, level.clone());
        }
    }
    levels
}

/// The rest of `path`, if it is at or below `root`.
fn below<'a>(path: &'a str, root: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(root.trim_end_matches('/'))?;
    let whole_names = rest.is_empty() || rest.starts_with('/');
    (whole_names && !has(rest, '/', "..")).then_some(rest)
}

/// Whether `text` contains the name `name`.
fn has(text: &str, separator: char, name: &str) -> bool {
    text.split(separator).any(|one| one == name)
}

/// Reads `cpu.max`: quota and period in microseconds. `max` means no quota.
fn quota_v2(tree: Tree, level: &str) -> Option<(f64, Duration)> {
    let text = tree.text(&format!("{level}/cpu.max"))?;
    let (quota, period) = text.trim().split_once(' ')?;
    share(quota, period)
}

/// Reads version 1's two files. -1 means no quota.
fn quota_v1(tree: Tree, level: &str) -> Option<(f64, Duration)> {
    let quota = tree.text(&format!("{level}/cpu.cfs_quota_us"))?;
    let period = tree.text(&format!("{level}/cpu.cfs_period_us"))?;
    share(&quota, &period)
}

/// The quota in CPUs, and the period.
fn share(quota: &str, period: &str) -> Option<(f64, Duration)> {
    let microseconds = |text: &str| whole(text).filter(|&us| us > 0);
    let (quota, period) = (microseconds(quota)?, microseconds(period)?);
    Some((quota as f64 / period as f64, Duration::from_micros(period)))
}
