//! What the control groups of this process leave it: a share of CPU time and a
//! set of CPUs. Versions 1 and 2, and both at once (systemd's hybrid layout).

use super::cpuset::CpuSet;
use super::sysfs::Tree;
use std::time::Duration;

/// What a process may use.
#[derive(Debug, Default, PartialEq)]
pub(super) struct GroupLimits {
    /// CPU time per time, in CPUs; fractions happen.
    pub(super) quota: Option<f64>,
    pub(super) cpuset: Option<CpuSet>,
}

/// A mounted hierarchy.
struct Mount<'a> {
    /// The control group that `point` shows; not `/` in a container that sees
    /// only its own part.
    root: &'a str,
    point: &'a str,
    version: Version,
    /// Version 1 names its controllers here.
    options: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Version {
    One,
    Two,
}

/// Where the limits of this process are written. Good until it is moved to another
/// group, or its group goes.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Groups {
    /// The groups whose share of CPU time counts, each inside the next.
    quotas: Vec<(Version, String)>,
    /// For each hierarchy with sets of CPUs the files that may hold the one that
    /// counts, the first that exists does.
    cpusets: Vec<Vec<String>>,
}

/// The share of CPU time that counts: the least of those around the process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quota {
    pub(crate) cpus: f64,
    /// How often it is granted anew.
    pub(crate) period: Duration,
    /// The index of its group in [`Groups`].
    group: usize,
}

/// What a group with a quota has used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counters {
    /// CPU time, if it is counted for this very group.
    pub(crate) usage: Option<Duration>,
    /// Periods that have begun.
    pub(crate) periods: Option<u64>,
    /// Periods in which the quota ran out.
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
        let mounts: Vec<Mount> = mounts.lines().filter_map(mount).collect();
        for line in groups.lines() {
            // hierarchy-id:controllers:path; version 2 is `0::path`.
            let mut fields = line.splitn(3, ':');
            let (Some(id), Some(controllers), Some(path)) =
                (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            if id == "0" && controllers.is_empty() {
                let levels = levels(&mounts, Version::Two, "", path);
                found.add_cpuset(&levels, &["cpuset.cpus.effective"]);
                found.add_quotas(Version::Two, levels);
            }
            for controller in controllers.split(',') {
                let levels = levels(&mounts, Version::One, controller, path);
                match controller {
                    "cpu" => found.add_quotas(Version::One, levels),
                    "cpuset" => {
                        found.add_cpuset(&levels, &["cpuset.effective_cpus", "cpuset.cpus"]);
                    }
                    _ => {}
                }
            }
        }
        found
    }

    fn add_quotas(&mut self, version: Version, levels: Vec<String>) {
        self.quotas
            .extend(levels.into_iter().map(|level| (version, level)));
    }

    /// The innermost level that has a set: the kernel keeps it inside those
    /// further out.
    fn add_cpuset(&mut self, levels: &[String], names: &[&str]) {
        let files = levels
            .iter()
            .flat_map(|level| names.iter().map(move |name| format!("{level}/{name}")));
        self.cpusets.push(files.collect());
    }

    /// Every level of the hierarchy limits what is below: the smallest quota counts.
    pub(crate) fn quota(&self, tree: Tree) -> Option<Quota> {
        let quota = |(group, (version, level)): (usize, &(Version, String))| {
            let (cpus, period) = match version {
                Version::One => quota_v1(tree, level),
                Version::Two => quota_v2(tree, level),
            }?;
            Some(Quota {
                cpus,
                period,
                group,
            })
        };
        let quotas = self.quotas.iter().enumerate().filter_map(quota);
        quotas.min_by(|a, b| a.cpus.total_cmp(&b.cpus))
    }

    pub(crate) fn cpuset(&self, tree: Tree) -> Option<CpuSet> {
        let first = |files: &Vec<String>| files.iter().find_map(|file| tree.cpus(file));
        let sets = self.cpusets.iter().filter_map(first);
        sets.reduce(|all, set| all.intersection(&set))
    }

    /// What the group of `quota` has used.
    pub(crate) fn counters(&self, tree: Tree, quota: &Quota) -> Counters {
        let Some((version, level)) = self.quotas.get(quota.group) else {
            return Counters::default();
        };
        let stat = tree.text(&format!("{level}/cpu.stat")).unwrap_or_default();
        let number = |name: &str| {
            let mut lines = stat.lines().filter_map(|line| line.split_once(' '));
            let (_, value) = lines.find(|(key, _)| *key == name)?;
            value.trim().parse::<u64>().ok()
        };
        Counters {
            usage: match version {
                Version::Two => number("usage_usec").map(Duration::from_micros),
                // Only where both controllers are mounted together.
                Version::One => {
                    let text = tree.text(&format!("{level}/cpuacct.usage"));
                    text.and_then(|text| text.trim().parse().ok())
                        .map(Duration::from_nanos)
                }
            },
            periods: number("nr_periods"),
            throttled: number("nr_throttled"),
        }
    }
}

/// What `groups` leave now.
pub(super) fn limits(groups: &Groups, tree: Tree) -> GroupLimits {
    GroupLimits {
        quota: groups.quota(tree).map(|quota| quota.cpus),
        cpuset: groups.cpuset(tree),
    }
}

/// Parses a line of `mountinfo`: id, parent, device, root, mount point,
/// options, optional fields, `-`, type, source, options of the file system.
fn mount(line: &str) -> Option<Mount<'_>> {
    let (place, kind) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let mut kind = kind.split(' ');
    Some(Mount {
        root: place.next()?,
        point: place.next()?,
        version: match kind.next()? {
            "cgroup" => Version::One,
            "cgroup2" => Version::Two,
            _ => return None,
        },
        options: kind.nth(1)?,
    })
}

/// The directories of the control group `path` and of those around it,
/// innermost first.
fn levels(mounts: &[Mount], version: Version, controller: &str, path: &str) -> Vec<String> {
    let candidates = mounts.iter().filter(|mount| {
        mount.version == version
            && (version == Version::Two || mount.options.split(',').any(|o| o == controller))
    });
    // A group outside what the mount shows (a container without a namespace of
    // its own, or `/../..` from inside one) still has the mount's top around it.
    let below = |mount: &&Mount| {
        let rest = path.strip_prefix(mount.root.trim_end_matches('/'))?;
        let whole_names = rest.is_empty() || rest.starts_with('/');
        let inside = whole_names && !rest.split('/').any(|name| name == "..");
        inside.then(|| rest.trim_matches('/').to_owned())
    };
    let candidates: Vec<&Mount> = candidates.collect();
    let best = candidates
        .iter()
        .filter_map(|mount| Some((mount, below(mount)?)))
        .max_by_key(|(mount, _)| mount.root.len());
    let (mount, rest) = match (best, candidates.first()) {
        (Some(best), _) => best,
        (None, Some(first)) => (first, String::new()),
        (None, None) => return Vec::new(),
    };
    let point = mount.point.trim_end_matches('/');
    let mut levels = vec![point.to_owned()];
    for name in rest.split('/').filter(|name| !name.is_empty()) {
        levels.push(format!("{}/{name}", levels[levels.len() - 1]));
    }
    levels.reverse();
    levels
}

/// `cpu.max`: quota and period in microseconds; a quota of `max` is none.
fn quota_v2(tree: Tree, level: &str) -> Option<(f64, Duration)> {
    let text = tree.text(&format!("{level}/cpu.max"))?;
    let (quota, period) = text.trim().split_once(' ')?;
    share(quota, period)
}

/// Two files; a quota of -1 is none.
fn quota_v1(tree: Tree, level: &str) -> Option<(f64, Duration)> {
    let quota = tree.text(&format!("{level}/cpu.cfs_quota_us"))?;
    let period = tree.text(&format!("{level}/cpu.cfs_period_us"))?;
    share(&quota, &period)
}

/// CPUs, and the period.
fn share(quota: &str, period: &str) -> Option<(f64, Duration)> {
    let microseconds = |text: &str| text.trim().parse::<u64>().ok().filter(|&us| us > 0);
    let (quota, period) = (microseconds(quota)?, microseconds(period)?);
    Some((quota as f64 / period as f64, Duration::from_micros(period)))
}
