//! What the control groups of this process leave it: a share of CPU time and a
//! set of CPUs. Versions 1 and 2, and both at once (systemd's hybrid layout).

use super::sysfs::{CpuSet, Tree};

/// What a process may use.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Limits {
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

#[derive(Clone, Copy, PartialEq)]
enum Version {
    One,
    Two,
}

pub(super) fn read(tree: Tree) -> Limits {
    let mut limits = Limits::default();
    let (Some(groups), Some(mounts)) = (
        tree.text("proc/self/cgroup"),
        tree.text("proc/self/mountinfo"),
    ) else {
        return limits;
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
            limits.add_quota(&levels, |level| quota_v2(tree, level));
            limits.add_cpuset(&levels, tree, &["cpuset.cpus.effective"]);
        }
        for controller in controllers.split(',') {
            let levels = levels(&mounts, Version::One, controller, path);
            match controller {
                "cpu" => limits.add_quota(&levels, |level| quota_v1(tree, level)),
                "cpuset" => {
                    limits.add_cpuset(&levels, tree, &["cpuset.effective_cpus", "cpuset.cpus"]);
                }
                _ => {}
            }
        }
    }
    limits
}

impl Limits {
    /// Every level of the hierarchy limits what is below: the smallest counts.
    fn add_quota(&mut self, levels: &[String], quota: impl Fn(&str) -> Option<f64>) {
        for found in levels.iter().filter_map(|level| quota(level)) {
            self.quota = Some(self.quota.map_or(found, |quota| quota.min(found)));
        }
    }

    /// The innermost level that has a set: the kernel keeps it inside those
    /// further out.
    fn add_cpuset(&mut self, levels: &[String], tree: Tree, names: &[&str]) {
        let files = levels
            .iter()
            .flat_map(|level| names.iter().map(move |name| format!("{level}/{name}")));
        if let Some(found) = files.into_iter().find_map(|file| tree.cpus(&file)) {
            self.cpuset = Some(match self.cpuset.take() {
                Some(set) => &set & &found,
                None => found,
            });
        }
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
fn quota_v2(tree: Tree, level: &str) -> Option<f64> {
    let text = tree.text(&format!("{level}/cpu.max"))?;
    let (quota, period) = text.trim().split_once(' ')?;
    share(quota, period)
}

/// Two files; a quota of -1 is none.
fn quota_v1(tree: Tree, level: &str) -> Option<f64> {
    let quota = tree.text(&format!("{level}/cpu.cfs_quota_us"))?;
    let period = tree.text(&format!("{level}/cpu.cfs_period_us"))?;
    share(&quota, &period)
}

fn share(quota: &str, period: &str) -> Option<f64> {
    let microseconds = |text: &str| text.trim().parse::<u64>().ok().filter(|&us| us > 0);
    Some(microseconds(quota)? as f64 / microseconds(period)? as f64)
}
